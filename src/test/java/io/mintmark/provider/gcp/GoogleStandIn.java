package io.mintmark.provider.gcp;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.LoopbackHttp;
import io.mintmark.provider.sts.WebIdentityCheck;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/**
 * Google's token service and service account credentials service on one loopback port. They refuse
 * what the real ones would refuse, with their error documents; tokens of the one open the other.
 */
public final class GoogleStandIn implements AutoCloseable {
    public static final String PROVIDER =
            "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark";
    public static final String ACCOUNT = "deploy@acme-prod.iam.gserviceaccount.com";
    static final String CLOUD_PLATFORM = "https://www.googleapis.com/auth/cloud-platform";

    private final HttpServer server;
    private final GoogleIssuing issuing;
    private final GoogleTokenRules tokens;
    private final GoogleAccountRules accounts;
    private final Queue<GoogleAnswer> orders = new ConcurrentLinkedQueue<>();
    private final List<GoogleCall> calls = new CopyOnWriteArrayList<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    private GoogleStandIn(WebIdentityCheck identity, InstantSource clock) {
        issuing = new GoogleIssuing(clock);
        tokens = new GoogleTokenRules(identity, issuing, clock);
        accounts = new GoogleAccountRules(issuing, clock);
        server = LoopbackHttp.serving(0, this::handle);
    }

    /**
     * With a workload identity provider {@link #PROVIDER} that trusts an issuer's tokens of tenant
     * {@code acme}.
     *
     * @param keySet the issuer's JWK set, fetched at every call
     */
    public static GoogleStandIn trusting(String issuer, Supplier<String> keySet) {
        InstantSource clock = InstantSource.system();
        return new GoogleStandIn(new WebIdentityCheck(keySet, issuer, PROVIDER, clock), clock);
    }

    /** What a tenant's admin writes about it. */
    public String accessProvider() {
        return """
        INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
        VALUES ('acme', 'google', 'gcp',
                '{"project_id": "acme-prod", "workload_identity_provider": "%1$s",
                  "sts_endpoint": "%2$s", "iam_endpoint": "%2$s/"}', '{**}');
        """
                .formatted(PROVIDER, endpoint());
    }

    /**
     * Lets somebody ask for tokens of a service account.
     *
     * @param member the {@code sub} of a broker's token, or another service account
     */
    public GoogleStandIn binding(String member, String account) {
        accounts.bind(member, account);
        return this;
    }

    /** Puts a service account on the list of the organisation's policy for longer lifetimes. */
    public GoogleStandIn allowingTwelveHours(String account) {
        accounts.allowTwelveHours(account);
        return this;
    }

    /** Where it is: {@code http://127.0.0.1:port}. */
    public String endpoint() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** What it does with each of the next calls; then it goes on as usual. */
    public void next(GoogleAnswer... answers) {
        orders.addAll(List.of(answers));
    }

    /** Every call so far that could be read, refused ones too. */
    public List<GoogleCall> calls() {
        return List.copyOf(calls);
    }

    /** Who holds a token that is good now. */
    public Optional<String> holder(String token) {
        return issuing.living(token).map(GoogleIssued::holder);
    }

    /** Until when a good token lives. */
    Instant expiry(String token) {
        return issuing.living(token).orElseThrow().expiry();
    }

    /** Whether a good token is bounded. */
    boolean isBounded(String token) {
        return issuing.living(token).orElseThrow().bounded();
    }

    /** Its answer to a call, without a connection. */
    String answer(GoogleCall call) throws GoogleRefusal {
        return call.path().equals("/v1/token") ? tokens.answer(call) : accounts.answer(call);
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            respond(exchange);
        }
    }

    private void respond(HttpExchange exchange) throws IOException {
        try {
            GoogleCall call = GoogleCall.read(exchange);
            calls.add(call);
            GoogleAnswer order = orders.poll();
            answer(exchange, call, order == null ? new GoogleAnswer.AsAsked() : order);
        } catch (GoogleRefusal refusal) {
            send(exchange, refusal.status(), refusal.body());
        }
    }

    private void answer(HttpExchange exchange, GoogleCall call, GoogleAnswer order)
            throws IOException, GoogleRefusal {
        switch (order) {
            case GoogleAnswer.AsAsked _ -> send(exchange, 200, answer(call));
            case GoogleAnswer.Saying(int status, String body) -> send(exchange, status, body);
            case GoogleAnswer.Redirecting(String to) -> {
                exchange.getResponseHeaders().set("Location", to);
                send(exchange, 307, "");
            }
            case GoogleAnswer.Hanging _ -> hang();
            case GoogleAnswer.Dropping _ -> exchange.close();
            case GoogleAnswer.QuotingTheToken _ ->
                    throw GoogleRefusal.rpc(
                            401,
                            "UNAUTHENTICATED",
                            "Bad token "
                                    + call.authorization().orElse(call.text("subjectToken"))
                                    + "\n, sorry");
        }
    }

    private void hang() {
        Unchecked.await(closed);
    }

    private static void send(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json; charset=UTF-8");
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }
}
