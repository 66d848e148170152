package io.mintmark.benchmark;

import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.broker.token.TestKey;
import io.mintmark.endtoend.PemFiles;
import io.mintmark.endtoend.RunningBroker;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One program on a database of its own, with a tenant whose keys are to be minted. */
final class Bench implements AutoCloseable {
    private static final Duration LONG = Duration.ofHours(12);
    private static final Integer CALLS = Integer.getInteger("load.calls");

    private final String name;
    private final BenchDatabase database;
    private final Path program;
    private final Map<String, String> environment = new HashMap<>();
    private final IssuerStandIn rsa = IssuerStandIn.start();
    private final IssuerStandIn ec = IssuerStandIn.start();
    private final StsForLoad sts = new StsForLoad();
    private final int port = RunningBroker.freePort();
    private BrokerJar broker;

    Bench(String name, Path program, BenchDatabase database)
            throws IOException, InterruptedException, SQLException {
        this.name = name;
        this.program = program;
        this.database = database;
        rsa.use(TestKey.rsa("rsa", 2048));
        database.create(name);
        environment.putAll(database.settings(name));
        environment.putAll(ownSettings());
        broker = started();
        database.run(name, rows());
        if (CALLS != null) {
            database.run(name, "UPDATE broker.tenant SET max_calls = " + CALLS);
        }
    }

    private String rows() throws IOException {
        return Files.readString(Path.of("src/test/resources/scale/load.sql"))
                .replace("{rsa}", rsa.url())
                .replace("{ec}", ec.url())
                .replace("{sts}", sts.endpoint());
    }

    private Map<String, String> ownSettings() throws IOException {
        Path keys = Files.createTempDirectory("mintmark-load");
        PemFiles.p256(Files.createDirectory(keys.resolve("signing")).resolve("2026-01-01.pem"));
        PemFiles.p256(keys.resolve("audit.pem"));
        return Map.of(
                "SERVER_PORT",
                Integer.toString(port),
                "ADMIN_PORT",
                Integer.toString(RunningBroker.freePort()),
                "BROKER_URL",
                "http://localhost:" + port,
                "BROKER_SIGNING_KEYS_DIR",
                keys.resolve("signing").toString(),
                "AUDIT_SIGNING_KEY_FILE",
                keys.resolve("audit.pem").toString(),
                "OUTBOUND_ALLOWED_HOSTS",
                "localhost,127.0.0.1",
                "RATE_LIMIT_ENABLED",
                "false",
                "SERVER_DRAIN",
                "PT0S");
    }

    private BrokerJar started() throws IOException, InterruptedException {
        List<String> options =
                List.of(System.getProperty("load.options", "-Xmx256m").strip().split(" +"));
        return BrokerJar.start(program, options, environment);
    }

    void restart() throws IOException, InterruptedException {
        broker.close();
        broker = started();
    }

    String name() {
        return name;
    }

    BrokerJar broker() {
        return broker;
    }

    BenchDatabase database() {
        return database;
    }

    /** The settings of the broker. */
    Map<String, String> settings() {
        return Map.copyOf(environment);
    }

    StsForLoad sts() {
        return sts;
    }

    Load load() {
        return new Load(port);
    }

    /** Credentials that the log says were handed out. */
    long issued() throws SQLException {
        return database.number(name, "SELECT count(*) FROM audit.event WHERE kind = 'issued'");
    }

    byte[] mint(Token token, String... keys) {
        return mint(token.of(this), keys);
    }

    static byte[] mint(String token, String... keys) {
        return post(
                "/credentials/mint",
                "application/json",
                "Authorization: Bearer " + token + "\r\n",
                "{\"keys\":[\"%s\"]}".formatted(String.join("\",\"", keys)));
    }

    byte[] list() {
        return get("/credentials/keys", Token.RS256.of(this));
    }

    byte[] awsSdk() {
        return get("/sdk/aws/aws1", Token.RS256.of(this));
    }

    byte[] tokenExchange() {
        return post(
                "/oauth2/token",
                "application/x-www-form-urlencoded",
                "",
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&audience=jwt1"
                        + "&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Ajwt"
                        + "&subject_token="
                        + Token.RS256.of(this));
    }

    private static byte[] get(String path, String token) {
        return "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n"
                .formatted(path, token)
                .getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] post(String path, String type, String headers, String body) {
        return "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n%sContent-Length: %d\r\n\r\n%s"
                .formatted(path, type, headers, body.length(), body)
                .getBytes(StandardCharsets.US_ASCII);
    }

    /** Whose identity tokens are shown. */
    enum Token {
        RS256,
        ES256,
        /** Of another tenant. */
        OTHER,
        /** Of a subject that has no grant. */
        STRANGER;

        String of(Bench bench) {
            return sign(
                    this == ES256 ? bench.ec : bench.rsa,
                    this == STRANGER ? "ci:stranger" : "ci:main",
                    this == OTHER ? "other" : "load");
        }
    }

    /** A token that outlasts a run. */
    private static String sign(IssuerStandIn issuer, String subject, String audience) {
        Instant now = Instant.now();
        return issuer.sign(
                Map.of(
                        "sub",
                        subject,
                        "aud",
                        audience,
                        "exp",
                        now.plus(LONG).getEpochSecond(),
                        "jti",
                        "load-" + System.nanoTime()));
    }

    String tokenFor(String subject, String audience) {
        return sign(rsa, subject, audience);
    }

    String issuer() {
        return rsa.url();
    }

    @Override
    public void close() throws IOException {
        broker.close();
        sts.close();
        rsa.close();
        ec.close();
    }
}
