package io.mintmark.audit.log;

import io.mintmark.audit.log.StatementCosts.Cost;
import io.mintmark.base.sql.SqlRunner;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.EveryRequest;
import io.mintmark.endtoend.RunningBroker;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A database with many rows, most of them old, and all that the program does again and again on it:
 * timers, requests, edits, exports, pages. PostgreSQL counts what each statement costs.
 */
final class ScaledInstallation implements AutoCloseable {
    static final String PAGE = "page";
    static final String POLLS = "polls of 10 seconds";
    static final String ALL_ROWS = "a question about all rows";

    /** Questions that cost as much as there are rows. */
    private static final List<String> ABOUT_ALL =
            List.of(
                    "SELECT sum(length(user_agent)) FROM audit.event",
                    "SELECT count(*) FROM broker.lint");

    static final String VERIFY = "audit verify";
    static final String RETIRE = "audit retire";

    private static final int TIMES = 3;
    private static final long ROWS_OF_A_CHECKPOINT = 40;
    private static final Duration SEALING = Duration.ofMinutes(2);

    /** The configuration of the tenant that asks, where {@code {issuer}} is its issuer. */
    static final String ASKING =
            """
            INSERT INTO broker.tenant (name) VALUES ('asking');
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
            VALUES ('asking-ci', 'asking', '{issuer}', '{asking}');
            INSERT INTO broker.access_provider (tenant, name, type) VALUES ('asking', 'own', 'jwt');
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
            VALUES ('asking', 'key', 'own', 600, '{"audience": "https://api.example.com"}');
            INSERT INTO broker.subject_grant (tenant, idp, subject, key)
            VALUES ('asking', 'asking-ci', 'ci:main', 'key');
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
            VALUES ('asking', 'asked', 'own', 600, '{"audience": "https://asked.example.com"}');
            INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass)
            VALUES ('asking', 'asked', 'asking-ci', 'ci:main', 'exact', 0, 7200, true);
            """;

    /** Edits of that tenant that leave nothing behind. */
    static final String EDIT =
            """
            INSERT INTO broker.subject_grant (tenant, idp, subject, key)
            VALUES ('asking', 'asking-ci', 'ci:edited', 'key');
            UPDATE broker.subject_grant SET enabled = false WHERE tenant = 'asking' AND subject = 'ci:edited';
            DELETE FROM broker.subject_grant WHERE tenant = 'asking' AND subject = 'ci:edited';
            """;

    /** What operators ask, as docs say. */
    private static final List<String> QUESTIONS =
            List.of(
                    "SELECT * FROM broker.lint WHERE tenant = 'tenant-3'",
                    "SELECT * FROM audit.denial ORDER BY mint_id DESC LIMIT 100",
                    "SELECT * FROM audit.mint WHERE tenant = 'tenant-3' ORDER BY mint_id DESC LIMIT 100",
                    "SELECT * FROM audit.mint WHERE mint_id >= audit.first_mint_id(now() - interval '1 minute')");

    private final ScaledServer server = new ScaledServer();
    private final SqlRunner superuser = server.superuser();
    private final StatementCosts costs = new StatementCosts(superuser);
    private final ScaledLog log = new ScaledLog(server);
    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final EveryRequest requests =
            new EveryRequest(issuer, superuser, server.runner(Who.ADMIN));
    private final Map<String, String> settings = new HashMap<>(requests.settings());

    /**
     * @param grants of the tenant that has the most
     */
    ScaledInstallation(long rows, int tenants, int grants) throws Exception {
        server.fill(rows, tenants, grants);
        admin(ASKING.replace("{issuer}", issuer.url()));
        requests.configure();
        settings.put("AUDIT_SIGNING_KEY_FILE", server.auditKey().toString());
        superuser.run("VACUUM ANALYZE");
        start().close(); // the first seals all rows
        log.sealOften(rows / ROWS_OF_A_CHECKPOINT);
        superuser.run("VACUUM ANALYZE");
    }

    private void admin(String sql) {
        server.runner(Who.ADMIN).run(sql);
    }

    /**
     * Does all of it, and says what each statement cost.
     *
     * @param pages whether the console's too
     */
    List<Cost> run(boolean pages) throws Exception {
        AtomicReference<RunningBroker> started = new AtomicReference<>();
        costs.of("a start", () -> started.set(start()));
        try (RunningBroker broker = Objects.requireNonNull(started.get())) {
            costs.of(POLLS, () -> TimeUnit.SECONDS.sleep(10));
            serve(broker);
            requests.run(broker, costs);
        }
        log.seal(costs);
        log.export(costs);
        for (String question : QUESTIONS) {
            costs.of("an admin's question", () -> admin(question));
        }
        for (String question : ABOUT_ALL) {
            costs.of(ALL_ROWS, () -> admin(question));
        }
        if (pages) {
            browse();
        }
        costs.of(VERIFY, log::verify);
        costs.of(RETIRE, log::retire);
        return costs.all();
    }

    private RunningBroker start() {
        String last = log.lastCheckpoint();
        RunningBroker broker = RunningBroker.at(server.login(Who.APP).url(), settings);
        Eventually.holds(SEALING, () -> !log.lastCheckpoint().equals(last));
        return broker;
    }

    private void serve(RunningBroker broker) throws Exception {
        String granted = issuer.sign("ci:main", "asking");
        String stranger = issuer.sign("ci:stranger", "asking");
        costs.of(
                "requests",
                () -> {
                    for (int i = 0; i < TIMES; i++) {
                        require(200, broker.mint(granted, "key").status());
                        require(403, broker.mint(stranger, "key").status());
                        require(200, broker.keys(granted).status());
                    }
                });
        costs.of(
                "OAuth and access requests",
                () -> {
                    require(200, exchange(broker, granted).status());
                    require(202, broker.requestAccess(granted, "asked").status());
                    Eventually.holds(() -> broker.mint(granted, "asked").status() == 200);
                    require(
                            200,
                            broker.get("/access-requests", "Authorization", "Bearer " + granted)
                                    .status());
                });
        URI metrics =
                URI.create("http://127.0.0.1:%d/observe/metrics".formatted(broker.adminPort()));
        costs.of("metrics", () -> require(200, get(metrics)));
        edit(broker, granted, "an edit, and mints after it", EDIT);
        edit(
                broker,
                granted,
                "an edit of an identity provider, and mints after it",
                "UPDATE broker.identity_provider SET clock_skew = 5 WHERE name = 'asking-ci'");
    }

    private void edit(RunningBroker broker, String token, String what, String sql)
            throws Exception {
        costs.of(
                what,
                () -> {
                    admin(sql);
                    require(200, broker.mint(token, "key").status());
                    TimeUnit.SECONDS.sleep(1);
                    require(200, broker.mint(token, "key").status());
                });
    }

    private static Answer exchange(RunningBroker broker, String token) {
        return broker.send(
                broker.request("/oauth2/token")
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(
                                BodyPublishers.ofString(
                                        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&audience=key"
                                                + "&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Ajwt&subject_token="
                                                + token)));
    }

    private static void require(int expected, int status) {
        if (status != expected) {
            throw new IllegalStateException("%d instead of %d".formatted(status, expected));
        }
    }

    private static int get(URI url) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(url).build();
            return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        }
    }

    private void browse() throws Exception {
        try (ConsoleWorld world = new ConsoleWorld(server.login(Who.CONSOLE), Optional.empty())) {
            List<FigurePages.Asked> pages = new ArrayList<>(FigurePages.all(superuser));
            pages.addAll(FigurePages.ofRequests(superuser));
            for (FigurePages.Asked page : pages) {
                for (String viewer : List.of("auditor", page.lead())) {
                    costs.of(
                            "%s for %s: %s".formatted(PAGE, viewer, page.what()),
                            () -> {
                                for (int i = 0; i < TIMES; i++) {
                                    var _ = world.get(viewer, page.path());
                                }
                            });
                }
            }
        }
    }

    @Override
    public void close() {
        requests.close();
        issuer.close();
        server.close();
    }
}
