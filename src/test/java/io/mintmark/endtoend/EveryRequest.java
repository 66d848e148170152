package io.mintmark.endtoend;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.Unchecked;
import io.mintmark.audit.note.NoteSigner;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.auditor.witness.Witness;
import io.mintmark.auditor.witness.WitnessServer;
import io.mintmark.base.outbound.LoopbackHttp;
import io.mintmark.base.sql.SqlRunner;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.provider.sts.StsStandIn;
import io.mintmark.provider.webhook.WebhookStandIn;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Makes requests of every kind in the tenant {@code acme} of a broker: each protocol, actors,
 * one-time tokens and requests for access. Waits for what the broker does by itself afterwards:
 * notices, endings, lapses, lists of revoked credentials and cosignatures.
 */
public final class EveryRequest implements AutoCloseable {
    private static final String ISSUER = "https://mintmark.example.com";
    private static final Duration PATIENCE = Eventually.PATIENCE;

    /** So often is access requested, since a connection's first time reads catalogs. */
    private static final int TIMES = 3;

    /** Two requests, the decisions on them, and the end of the access. */
    private static final int NOTICES = 5;

    private static final int REFUSED_NOTICES = 2;

    /** Besides {@link World#tenant}. */
    private static final String FURTHER =
            """
            UPDATE broker.tenant SET notice_url = '{receiver}', notice_secret = '{"file": "notices"}' WHERE name = 'acme';
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts, one_time_tokens, max_token_age)
            VALUES ('people', 'acme', '{issuer}', '{mintmark-people}', '{approver}', false, NULL),
                   ('agents', 'acme', '{issuer}', '{mintmark-agents}', '{actor}', false, NULL),
                   ('once', 'acme', '{issuer}', '{mintmark-once}', '{subject}', true, 600);
            INSERT INTO broker.access_provider (tenant, name, type, settings)
            VALUES ('acme', 'apps', 'webhook', '{"endpoint": "{webhook}", "fields": ["APP_PASSWORD"]}'),
                   ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}');
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
            VALUES ('acme', 'app', 'apps', 600, '{"target": "a"}'),
                   ('acme', 'requested', 'apps', 600, '{"target": "b"}'),
                   ('acme', 'web', 'hosts', 600, '{"principals": ["deploy"]}');
            INSERT INTO broker.subject_grant (tenant, idp, subject, key)
            VALUES ('acme', 'ci', 'ci:main', 'app'), ('acme', 'ci', 'ci:main', 'web'),
                   ('acme', 'once', 'ci:once', 'api');
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor)
            VALUES ('acme', 'ci', 'ci:main', 'spare', 'agents', 'agent:bot');
            INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, end_credentials)
            VALUES ('acme', 'requested', 'ci', 'ci:*', 'glob', 1, 7200, true);
            INSERT INTO broker.access_approver (rule, idp, subject)
            SELECT id, 'people', 'boss' FROM broker.access_rule WHERE tenant = 'acme';
            """;

    private static final String END_EARLY =
            """
            INSERT INTO broker.ended_credential (mint_id, reason)
            SELECT mint_id, 'INC-7' FROM audit.event WHERE tenant = 'acme' AND key = 'app' AND kind = 'issued'
             ORDER BY mint_id DESC LIMIT 1
            """;

    private final IssuerStandIn issuer;
    private final SqlRunner superuser;
    private final SqlRunner admin;
    private final Path directory = Files.createTempDirectory("mintmark-requests");
    private final WitnessSettings operator = new WitnessSettings(directory, "mintmark.example.com");
    private final List<String> notices = new CopyOnWriteArrayList<>();
    private final HttpServer receiver = LoopbackHttp.serving(0, this::receive);
    private final Witness witness;
    private final WitnessServer cosigning;
    private final WebhookStandIn apps;
    private final StsStandIn sts;
    private volatile String keySet = "";

    /** Runs work of one name, and measures it. */
    public interface Measure {
        void of(String what, Work work) throws Exception;
    }

    /** Anything that is measured. */
    public interface Work {
        void run() throws Exception;
    }

    /**
     * @param issuer of all tokens
     * @param superuser of the broker's database
     * @param admin of its configuration
     */
    public EveryRequest(IssuerStandIn issuer, SqlRunner superuser, SqlRunner admin)
            throws Exception {
        this.issuer = issuer;
        this.superuser = superuser;
        this.admin = admin;
        Files.createDirectory(directory.resolve("acme"));
        Files.writeString(directory.resolve("acme").resolve("notices"), "a secret");
        PemFiles.p256(directory.resolve("acme").resolve("ca"));
        NoteSigner log = operator.signer();
        witness =
                new Witness(
                        WitnessPolicy.of(
                                "log %s\nlog %s\nquorum none\n"
                                        .formatted(log.key(1).text(), log.key(2).text())),
                        directory.resolve("state"),
                        "w.example/1",
                        InstantSource.system());
        cosigning =
                new WitnessServer(
                        witness, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        apps = new WebhookStandIn(ISSUER, () -> keySet);
        sts = StsStandIn.aws(ISSUER, () -> keySet);
    }

    private void receive(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body =
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            notices.add(body);
            // the first ones are tried again
            exchange.sendResponseHeaders(notices.size() <= REFUSED_NOTICES ? 503 : 204, -1);
        }
    }

    /** Writes the tenant. */
    public void configure() {
        admin.run(
                World.tenant(issuer.url(), sts.endpoint())
                        + FURTHER.replace("{issuer}", issuer.url())
                                .replace("{webhook}", apps.url())
                                .replace(
                                        "{receiver}",
                                        "http://127.0.0.1:%d/"
                                                .formatted(receiver.getAddress().getPort())));
    }

    /** What the broker needs besides what every broker needs. */
    public Map<String, String> settings() {
        String line =
                "witness one %s http://127.0.0.1:%d\nquorum one\n"
                        .formatted(witness.key().text(), cosigning.port());
        Map<String, String> settings = new HashMap<>(operator.settings(line));
        settings.put("BROKER_ISSUER", ISSUER);
        settings.put("SECRETS_DIR", directory.toString());
        return settings;
    }

    /** Makes all of them. */
    public void run(RunningBroker broker, Measure measure) throws Exception {
        keySet = broker.keySet();
        Eventually.holds(() -> broker.mint(token(), "app").status() == 200);
        measure.of("requests of every protocol", () -> askEachWay(broker));
        measure.of("requests with an actor, and a one-time token", () -> askAsOthers(broker));
        for (int time = 1; time <= TIMES; time++) {
            String subject = "ci:asks-%d-".formatted(time);
            int sent = REFUSED_NOTICES + time * NOTICES;
            measure.of("requests for access", () -> requestAccess(broker, subject));
            measure.of("notices", () -> Eventually.holds(PATIENCE, () -> notices.size() >= sent));
        }
        measure.of("a lapse", () -> lapse(broker));
        measure.of("endings", () -> end(broker));
        measure.of("lists of revoked credentials", () -> list(broker));
        measure.of("witnesses", this::awaitCosignature);
    }

    private String token() {
        return issuer.sign("ci:main", World.AUDIENCE);
    }

    private void askEachWay(RunningBroker broker) {
        for (HttpRequest.Builder request : AllDoors.requests(broker.url(), token())) {
            require(broker.send(request), 200, 400);
        }
        require(broker.mint(token(), "web"), 200);
    }

    private void askAsOthers(RunningBroker broker) {
        Answer pair =
                broker.post(
                        "{\"keys\":[\"spare\"]}",
                        "Authorization",
                        "Bearer " + token(),
                        "Mintmark-Actor-Token",
                        issuer.sign("agent:bot", "mintmark-agents"));
        require(pair, 200);
        String once = issuer.sign(Map.of("sub", "ci:once", "aud", "mintmark-once", "jti", "once"));
        require(broker.mint(once, "api"), 200);
        require(broker.mint(once, "api"), 401);
    }

    private void requestAccess(RunningBroker broker, String subject) {
        String token = issuer.sign(subject + "granted", World.AUDIENCE);
        String granted = asked(broker, subject + "granted");
        decide(broker, granted, "approve");
        Eventually.holds(() -> broker.mint(token, "requested").status() == 200);
        decide(broker, asked(broker, subject + "refused"), "refuse");
        require(access(broker, "?for=me", token), 200);
        require(access(broker, "?for=decision", boss()), 200);
        require(access(broker, "/" + granted, token), 200);
        HttpRequest.Builder withdrawal =
                broker.request("/access-requests/" + granted)
                        .header("Authorization", "Bearer " + token)
                        .DELETE();
        require(broker.send(withdrawal), 200);
    }

    private static Answer access(RunningBroker broker, String rest, String token) {
        return broker.get("/access-requests" + rest, "Authorization", "Bearer " + token);
    }

    private static void require(Answer answer, Integer... statuses) {
        if (!List.of(statuses).contains(answer.status())) {
            throw new IllegalStateException(answer.toString());
        }
    }

    private String boss() {
        return issuer.sign("boss", "mintmark-people");
    }

    private String asked(RunningBroker broker, String subject) {
        Answer answer = broker.requestAccess(issuer.sign(subject, World.AUDIENCE), "requested");
        require(answer, 202);
        return answer.at("/requests/0/id");
    }

    private void decide(RunningBroker broker, String id, String verdict) {
        HttpRequest.Builder decision =
                broker.request("/access-requests/" + id + "/decision")
                        .header("Authorization", "Bearer " + boss())
                        .header("Content-Type", "application/json")
                        .POST(
                                BodyPublishers.ofString(
                                        "{\"verdict\":\"%s\",\"note\":\"go\"}".formatted(verdict)));
        require(broker.send(decision), 200);
    }

    /** Time passes for a request that nobody decides. */
    private void lapse(RunningBroker broker) {
        String id = asked(broker, "ci:forgotten");
        superuser.run(
                "UPDATE broker.access_request SET expires_at = now() WHERE id = '%s'"
                        .formatted(id));
        awaits("SELECT status FROM broker.access_request WHERE id = '%s'".formatted(id), "lapsed");
    }

    /** Its service refuses the first call. */
    private void end(RunningBroker broker) {
        require(broker.mint(token(), "app"), 200);
        apps.next(WebhookStandIn.saying(503, "{}"));
        admin.run(END_EARLY);
        awaits("SELECT count(*) > 0 FROM audit.event WHERE key = 'app' AND kind = 'ended'", "t");
    }

    private void list(RunningBroker broker) {
        Answer list = broker.get("/ssh/acme/krl");
        require(list, 200);
    }

    private void awaitCosignature() {
        awaits("SELECT count(*) > 0 FROM log.cosignature WHERE witness = 'w.example/1'", "t");
    }

    private void awaits(String sql, String value) {
        Eventually.holds(PATIENCE, () -> superuser.value(sql).equals(value));
    }

    @Override
    public void close() {
        sts.close();
        apps.close();
        Unchecked.run(cosigning::close);
        Unchecked.run(witness::close);
        receiver.stop(0);
    }
}
