package io.mintmark.provider.sts;

import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.Unchecked;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * An STS on a loopback port that refuses what the real one would refuse, with its error documents:
 * it verifies the broker's token with the published keys, and looks at every parameter. A role
 * whose name is {@code closed} trusts nobody.
 */
public final class StsStandIn implements AutoCloseable {
    private final HttpServer server;
    private final StsRules rules;
    private final InstantSource clock;
    private final Queue<StsAnswer> orders = new ConcurrentLinkedQueue<>();
    private final List<StsCall> calls = new CopyOnWriteArrayList<>();
    private final AtomicInteger issued = new AtomicInteger();
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile StsAnswer usual = new StsAnswer.AsAsked();

    private StsStandIn(int port, Function<String, StsRules> rules, InstantSource clock) {
        server =
                Unchecked.call(() -> HttpServer.create(new InetSocketAddress(loopback(), port), 0));
        this.clock = clock;
        this.rules = rules.apply(endpoint());
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::handle);
        server.start();
    }

    /**
     * AWS STS, with an OIDC provider for the issuer in every account.
     *
     * @param keySet the issuer's JWK set, fetched at every call
     */
    public static StsStandIn aws(String issuer, Supplier<String> keySet) {
        return aws(issuer, keySet, "sts.amazonaws.com");
    }

    /** AWS's rules, for tokens with another audience. */
    public static StsStandIn aws(String issuer, Supplier<String> keySet, String audience) {
        InstantSource clock = InstantSource.system();
        return new StsStandIn(
                0, _ -> new AwsRules(new WebIdentityCheck(keySet, issuer, audience, clock)), clock);
    }

    /** AWS's rules at another time, with keys that it may have kept. */
    public static StsStandIn aws(
            String issuer, WebIdentityCheck.FarKeys keys, InstantSource clock) {
        return new StsStandIn(
                0,
                _ -> new AwsRules(new WebIdentityCheck(keys, issuer, "sts.amazonaws.com", clock)),
                clock);
    }

    /**
     * MinIO, which accepts its own origin as audience.
     *
     * @param policyClaim the claim that names a policy where no role is asked for
     */
    public static StsStandIn minio(String issuer, Supplier<String> keySet, String policyClaim) {
        return minio(0, issuer, keySet, policyClaim);
    }

    /** The same on this port. */
    public static StsStandIn minio(
            int port, String issuer, Supplier<String> keySet, String policyClaim) {
        InstantSource clock = InstantSource.system();
        return new StsStandIn(
                port,
                origin ->
                        new MinioRules(
                                new WebIdentityCheck(keySet, issuer, origin, clock), policyClaim),
                clock);
    }

    /** The secret key of the credential of this number. */
    public static String secretKey(int number) {
        return "the/secret+key-of-" + number;
    }

    /** The session token of the credential of this number. */
    public static String sessionToken(int number) {
        return "the-session-token-of-" + number;
    }

    /** The number after which its credentials are numbered from now on; at first it is 0. */
    public void numberFrom(int number) {
        issued.set(number);
    }

    /** Serves something else at a path, as storage servers do that are an STS besides. */
    public void serve(String path, HttpHandler handler) {
        server.createContext(path, handler);
    }

    /** Where it is: {@code http://127.0.0.1:port}. */
    public String endpoint() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** What it does with each of the next calls; then it goes on as usual. */
    public void next(StsAnswer... answers) {
        orders.addAll(List.of(answers));
    }

    /** What it does with all calls from now on. */
    public void always(StsAnswer answer) {
        usual = answer;
    }

    /** Every call so far that was a form, refused ones too. */
    public List<StsCall> calls() {
        return List.copyOf(calls);
    }

    /** What the token of the last call says. */
    public JWTClaimsSet claims() throws ParseException {
        String token = calls.getLast().parameter("WebIdentityToken").orElseThrow();
        return SignedJWT.parse(token).getJWTClaimsSet();
    }

    /** Its verdict on a call, without a connection. */
    int check(StsCall call) throws StsRefusal {
        return rules.check(call);
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
            StsCall call = StsCall.read(exchange);
            calls.add(call);
            StsAnswer order = orders.poll();
            answer(exchange, call, order == null ? usual : order);
        } catch (StsRefusal refusal) {
            send(exchange, refusal.status(), StsXml.error(refusal));
        }
    }

    private void answer(HttpExchange exchange, StsCall call, StsAnswer order)
            throws IOException, StsRefusal {
        switch (order) {
            case StsAnswer.AsAsked _ -> issue(exchange, call, Duration.ZERO);
            case StsAnswer.Longer(Duration by) -> issue(exchange, call, by);
            case StsAnswer.Refusing(int status, String code, String message) ->
                    throw new StsRefusal(status, code, message);
            case StsAnswer.Saying(int status, String body) -> send(exchange, status, body);
            case StsAnswer.Hanging _ -> Unchecked.await(closed);
            case StsAnswer.Held(CountDownLatch gate) -> {
                Unchecked.await(gate);
                issue(exchange, call, Duration.ZERO);
            }
            case StsAnswer.Dropping _ -> exchange.close();
            case StsAnswer.QuotingTheToken _ ->
                    throw StsRefusal.identity(
                            "Can't verify " + call.required("WebIdentityToken") + "\nat all");
        }
    }

    private void issue(HttpExchange exchange, StsCall call, Duration longer)
            throws IOException, StsRefusal {
        int seconds = check(call);
        Instant expiry =
                clock.instant().truncatedTo(ChronoUnit.SECONDS).plusSeconds(seconds).plus(longer);
        send(exchange, 200, StsXml.credentials(call, issued.incrementAndGet(), expiry));
    }

    private static void send(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/xml");
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    private static InetAddress loopback() throws IOException {
        return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
    }
}
