package io.mintmark.benchmark;

import io.mintmark.endtoend.PemFiles;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.token.IssuerStandIn;
import io.mintmark.token.TestKey;

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
    private static final String TENANT =
            """
            INSERT INTO broker.tenant (name, max_calls) VALUES ('acme', %4$d), ('other', %4$d);
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
            VALUES ('rsa', 'acme', '%1$s', '{load}'), ('ec', 'acme', '%2$s', '{load}'),
                   ('other', 'other', '%1$s', '{other}');
            INSERT INTO broker.access_provider (tenant, name, type, settings)
            VALUES ('acme', 'aws', 'aws-sts', '{"region": "eu-central-1", "endpoint": "%3$s"}'),
                   ('other', 'aws', 'aws-sts', '{"region": "eu-central-1", "endpoint": "%3$s"}'),
                   ('acme', 'own', 'jwt', '{}');
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
            SELECT 'acme', 'aws' || n, 'aws', 3600,
                   '{"role_arn": "arn:aws:iam::123456789012:role/deploy"}'::jsonb
              FROM generate_series(1, 5) AS n
            UNION ALL
            SELECT 'acme', 'jwt' || n, 'own', 600, '{"audience": "https://api.example.com"}'
              FROM generate_series(1, 5) AS n
            UNION ALL
            SELECT 'other', 'aws1', 'aws', 3600,
                   '{"role_arn": "arn:aws:iam::123456789012:role/deploy"}';
            INSERT INTO broker.subject_grant (tenant, idp, subject, key)
            SELECT 'acme', idp, 'ci:main', type || n
              FROM unnest(ARRAY['rsa', 'ec']) AS idp, unnest(ARRAY['aws', 'jwt']) AS type,
                   generate_series(1, 3) AS n
            UNION ALL SELECT 'other', 'other', 'ci:main', 'aws1';
            """;
    private static final Duration LONG = Duration.ofHours(12);

    private final String name;
    private final BenchDatabase database;
    private final Path program;
    private final Map<String, String> environment = new HashMap<>();
    private final IssuerStandIn rsa = IssuerStandIn.start();
    private final IssuerStandIn ec = IssuerStandIn.start();
    private final StsForLoad sts = new StsForLoad();
    private final int port = RunningBroker.freePort();
    private BrokerJar broker;

    Bench(String name, Path program, BenchDatabase database, Map<String, String> further)
            throws IOException, InterruptedException, SQLException {
        this.name = name;
        this.program = program;
        this.database = database;
        rsa.use(TestKey.rsa("rsa", 2048));
        database.create(name);
        environment.putAll(database.settings(name));
        environment.putAll(ownSettings());
        environment.putAll(further);
        broker = started();
        int calls = Integer.getInteger("load.calls", 1_024);
        database.run(name, TENANT.formatted(rsa.url(), ec.url(), sts.endpoint(), calls));
    }

    private Map<String, String> ownSettings() throws IOException {
        Path keys = Files.createTempDirectory("mintmark-load");
        PemFiles.p256(Files.createDirectory(keys.resolve("signing")).resolve("2026-01-01.pem"));
        PemFiles.p256(keys.resolve("audit.pem"));
        return Map.of(
                "SERVER_PORT", Integer.toString(port),
                "ADMIN_PORT", Integer.toString(RunningBroker.freePort()),
                "BROKER_URL", "http://localhost:" + port,
                "BROKER_SIGNING_KEYS_DIR", keys.resolve("signing").toString(),
                "AUDIT_SIGNING_KEY_FILE", keys.resolve("audit.pem").toString(),
                "OUTBOUND_ALLOWED_HOSTS", "localhost,127.0.0.1",
                "RATE_LIMIT_ENABLED", "false",
                "SERVER_DRAIN", "PT0S");
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
                        "sub", subject,
                        "aud", audience,
                        "exp", now.plus(LONG).getEpochSecond(),
                        "jti", "load-" + System.nanoTime()));
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
