package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.http.InterfaceDocument.Place;
import io.mintmark.broker.token.TestKey;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.World;
import io.mintmark.provider.sts.StsAnswer;
import io.mintmark.provider.x509.Ca;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/** Provokes every answer that the document describes, as far as it can be done from outside. */
final class Everything {
    private static final String JSON = "Content-Type: application/json";
    private static final String ORIGIN = "https://console.example.com";
    static final String PUBLIC_KEY =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJfkNV4OS33ImTXvorZr72q4v5XhVEQKfvqsxOEJ/XaR";
    private static final Ca CA = Ca.of("Ed25519", Duration.ofDays(1));
    private static final int MOST_REQUESTS = 16;

    private final InterfaceDocument document;
    private final RealAnswers answers;

    Everything(InterfaceDocument document) {
        this.document = document;
        this.answers = new RealAnswers(document);
    }

    /** By brokers that run at the same time, since much of it is waiting. */
    List<Exchanged> provoked() {
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            Stream.<Runnable>of(
                            this::withoutFaults,
                            this::withFaults,
                            this::withoutRoom,
                            this::withoutPatience,
                            this::withoutKeys)
                    .map(threads::submit)
                    .toList()
                    .forEach(Everything::done);
        }
        return answers.all();
    }

    private void withoutFaults() {
        try (World world =
                new World(
                        Map.of(
                                "RATE_LIMIT_ENABLED",
                                "false",
                                "PROVIDER_TIMEOUT",
                                "PT10S",
                                "SECRETS_DIR",
                                caKey(),
                                "CORS_ALLOWED_ORIGINS",
                                ORIGIN))) {
            world.issuer().use(TestKey.es256("key-1"), TestKey.es256("key-2"));
            prepare(world);
            successes(world);
            onEveryPath(world);
            badMintRequests(world);
            badTokens(world);
            refusedKeys(world);
            failingProviders(world);
            new OtherProtocols(answers, world).provoke();
            new ProvokedAccess(answers, world).provoke();
            new ProvokedMove(answers, world).provoke();
        }
    }

    /** Its identity is a token that somebody else signed. */
    private void withoutKeys() {
        try (World world =
                new World(
                        Map.of(
                                "BROKER_SIGNING_KEYS_DIR", "",
                                "BROKER_URL", "",
                                "BROKER_IDP_TYPE", "token-file",
                                "BROKER_IDP_TOKEN_FILE", anyFile()))) {
            answers.ask(world, "GET /.well-known/openid-configuration", "");
            answers.ask(world, "GET /.well-known/jwks.json", "");
            answers.ask(world, "GET /tenants/acme/.well-known/jwks.json", "");
            answers.ask(world, "GET /.well-known/oauth-authorization-server", "");
            answers.ask(world, "GET /.well-known/oauth-protected-resource", "");
            answers.ask(world, "GET /tenants/acme/.well-known/oauth-protected-resource", "");
        }
    }

    /** A directory of secrets with a CA key of the tenant. */
    private static String caKey() {
        try {
            Path secrets = Files.createTempDirectory("secrets");
            Files.createDirectory(secrets.resolve("acme"));
            Files.writeString(secrets.resolve("acme/ca"), CA.key());
            return secrets.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String anyFile() {
        try {
            return Files.createTempFile("mintmark", "token").toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A second identity provider that is hard to please, and a provider that isn't there. */
    private static void prepare(World world) {
        world.admin(
                """
                INSERT INTO broker.identity_provider
                       (name, tenant, issuer, audiences, max_token_age, one_time_tokens,
                        required_claims)
                VALUES ('strict', 'acme', '%1$s', '{mintmark-strict}', 600, true, '{"env": "prod"}');
                UPDATE broker.identity_provider SET login_client_id = 'mintmark-cli' WHERE name = 'ci';
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'gone', 'aws-sts',
                        '{"region": "eu-central-1", "endpoint": "http://127.0.0.1:%2$d"}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'nowhere', 'gone', 3600, '{"role_arn": "%3$s"}');
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}'),
                       ('acme', 'tls', 'x509', '{"ca_key": {"file": "ca"}, "ca_certificate": %4$s}'),
                       ('acme', 'lost', 'x509', '{"ca_key": {"file": "lost"}, "ca_certificate": %4$s}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'login', 'hosts', 3600, '{"principals": ["deploy"]}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:main', 'nowhere'),
                       ('acme', 'ci', 'ci:main', 'login'),
                       ('acme', 'strict', 'ci:main', 'deploy');
                """
                        .formatted(
                                world.issuer().url(),
                                RunningBroker.freePort(),
                                World.ROLE,
                                new ObjectMapper().valueToTree(CA.certificate())));
        Eventually.holds(() -> world.broker().keys(world.token()).body().path("keys").size() == 4);
    }

    private void successes(World world) {
        answers.mint(world, world.token(), "deploy", "api");
        answers.ask(
                world,
                "POST /credentials/mint",
                "{\"oidcToken\":\"" + world.token() + "\",\"keys\":[\"api\"]}",
                JSON,
                "X-Request-ID: build-4711");
        answers.ask(world, "GET /credentials/keys", "", "Authorization: Bearer " + world.token());
        sign(world, "login", "*/*");
        sign(world, "login", "text/plain");
        sign(world, "spare", "*/*");
        sign(world, "nothing", "*/*");
        answers.ask(world, "POST /sign/login", PUBLIC_KEY);
        answers.ask(world, "POST /sign/%C2%84", PUBLIC_KEY);
        answers.ask(world, "OPTIONS /sign/%C2%84", "");
        answers.ask(world, "GET /credentials/keys?token=" + world.token(), "");
        readable().stream()
                .filter(place -> place.name().startsWith("GET "))
                .forEach(place -> answers.ask(world, line(place), "", "Origin: " + ORIGIN));
        answers.ask(world, "GET /x509/acme/tls/crl", "", "Accept: text/plain");
        answers.ask(world, "GET /x509/acme/lost/crl", "");
        answers.ask(world, "GET /x509/acme/none/crl", "");
        answers.ask(world, "GET /ssh/none/krl", "");
        for (String list : List.of("/ssh/acme/krl", "/x509/acme/tls/crl")) {
            answers.ask(world, "GET " + list, "", "If-None-Match: *");
            answers.ask(world, "HEAD " + list, "");
            answers.ask(world, "HEAD " + list, "", "If-None-Match: *");
            answers.ask(world, "HEAD " + list.replace("acme", "none"), "");
        }
        answers.ask(world, "GET /nothing", "");
        answers.ask(world, "GET /tenants/NO/.well-known/openid-configuration", "");
        answers.ask(world, "GET /tenants/NO/.well-known/oauth-protected-resource", "");
        answers.ask(world, "GET /tenants/none/.well-known/oauth-protected-resource", "");
        answers.ask(world, "OPTIONS /tenants/NO/.well-known/oauth-protected-resource", "");
        answers.ask(world, "GET /tenants/NO/.well-known/jwks.json", "");
        answers.ask(world, "OPTIONS /tenants/NO/.well-known/jwks.json", "", "X-Request-ID: <b>");
        for (String file :
                List.of("openid-configuration", "jwks.json", "oauth-protected-resource")) {
            String line = "OPTIONS /tenants/%s/.well-known/" + file;
            answers.send(
                    world,
                    document.place(line.formatted("acme")),
                    "OPTIONS of no tenant",
                    line.formatted("a%20b") + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
        }
    }

    private void sign(World world, String key, String accepted) {
        answers.ask(
                world,
                "POST /sign/" + key,
                PUBLIC_KEY,
                "Authorization: Bearer " + world.token(),
                "Accept: " + accepted);
    }

    private void onEveryPath(World world) {
        for (Place place : readable()) {
            if (place.name().startsWith("OPTIONS ")) {
                answers.ask(world, line(place), "");
                answers.ask(
                        world,
                        line(place),
                        "",
                        "Origin: " + ORIGIN,
                        "Access-Control-Request-Method: POST",
                        "Access-Control-Request-Headers: authorization");
                for (String method : List.of("HEAD", "PUT", "DELETE", "PATCH", "TRACE", "BREW")) {
                    answers.ask(world, line(place).replace("OPTIONS", method), "");
                }
            }
            malformed(world, place, line(place));
        }
        malformed(world, document.other("otherMethod"), "PUT /health");
        malformed(world, document.other("otherMethodOfAwsSdk"), "PUT /sdk/aws/deploy");
        malformed(world, document.other("otherMethodOfSts"), "PUT /sdk/sts");
        malformed(world, document.other("otherMethodOfOAuth"), "PUT /oauth2/token");
        malformed(world, document.other("otherPath"), "GET /nothing");
        malformed(world, document.other("unreadable"), "nonsense <script>");
        answers.send(world, document.other("unreadable"), "no line", "\0\r\n\r\n");
    }

    private void malformed(World world, Place place, String line) {
        String rest = " HTTP/1.1\r\nHost: localhost\r\n";
        answers.send(world, place, line, line + rest + "Content-Length: x\r\n\r\n");
        answers.send(world, place, line, line + rest + "Content-Length: 70000\r\n\r\n");
        answers.send(world, place, line, line + rest + "Transfer-Encoding: chunked\r\n\r\n");
        answers.send(world, place, line, line + "?x=" + "a".repeat(100_000) + rest + "\r\n");
    }

    private void badMintRequests(World world) {
        for (String body :
                List.of(
                        "{",
                        "[]",
                        "{\"keys\":[]}",
                        "{\"keys\":[\"api\",\"api\"]}",
                        "{\"keys\":[1]}",
                        "{\"keys\":[\"api\"],\"duration\":1}",
                        "{\"keys\":[\"api\"],\"oidcToken\":null}")) {
            answers.ask(world, "POST /credentials/mint", body, JSON);
        }
        answers.ask(world, "POST /credentials/mint", "{}", "Content-Type: text/plain");
        answers.ask(world, "GET /credentials/keys?token=a&token=b", "");
        answers.ask(world, "GET /credentials/keys", "", "Authorization: a", "Authorization: b");
    }

    private void badTokens(World world) {
        for (String token : tokens(world)) {
            answers.mint(world, token, "api");
            answers.ask(world, "GET /credentials/keys", "", "Authorization: Bearer " + token);
        }
        String once = strict(world, Map.of("jti", "once", "env", "prod"));
        answers.mint(world, once, "deploy");
        answers.mint(world, once, "deploy");
    }

    private static List<String> tokens(World world) {
        String good = world.token();
        String other = sign(world, Map.of("sub", "other"));
        long now = Instant.now().getEpochSecond();
        return List.of(
                "",
                "garbage",
                sign(world, Map.of("exp", now - 60)),
                good.substring(0, good.lastIndexOf('.')) + other.substring(other.lastIndexOf('.')),
                sign(world, Map.of("iss", "https://other.example.com")),
                sign(world, Map.of("aud", "somebody-else")),
                sign(world, Map.of("nbf", now + 100)),
                sign(world, Map.of("events", Map.of("https://example.com/event", Map.of()))),
                world.issuer().sign(Map.of("aud", World.AUDIENCE)),
                world.issuer().key().sign("{\"alg\":\"HS256\"}", "{}"),
                withoutKeyId(world, now),
                sign(world, Map.of("aud", List.of(World.AUDIENCE, "mintmark-strict"))),
                strict(world, Map.of("jti", "old", "env", "prod", "iat", now - 1000)),
                strict(world, Map.of("jti", "poor")));
    }

    private static String withoutKeyId(World world, long now) {
        return world.issuer()
                .key()
                .sign(
                        "{\"alg\":\"ES256\"}",
                        "{\"iss\":\"%s\",\"aud\":\"%s\",\"sub\":\"%s\",\"iat\":%d,\"exp\":%d}"
                                .formatted(
                                        world.issuer().url(),
                                        World.AUDIENCE,
                                        World.SUBJECT,
                                        now,
                                        now + 60));
    }

    private static String strict(World world, Map<String, Object> claims) {
        Map<String, Object> all = new HashMap<>(claims);
        all.put("aud", "mintmark-strict");
        return sign(world, all);
    }

    private static String sign(World world, Map<String, Object> claims) {
        Map<String, Object> all =
                new HashMap<>(Map.of("sub", World.SUBJECT, "aud", World.AUDIENCE));
        all.putAll(claims);
        return world.issuer().sign(all);
    }

    private void refusedKeys(World world) {
        String stranger = world.issuer().sign("ci:stranger", World.AUDIENCE);
        answers.mint(world, world.token(), "spare", "api");
        answers.mint(world, world.token(), "nothing", "api");
        answers.mint(world, stranger, "nothing");
        answers.ask(world, "GET /credentials/keys", "", "Authorization: Bearer " + stranger);
    }

    private void failingProviders(World world) {
        for (StsAnswer answer :
                List.of(
                        new StsAnswer.Hanging(),
                        new StsAnswer.Refusing(400, "Throttling", "a"),
                        new StsAnswer.Refusing(403, "AccessDenied", "a"),
                        new StsAnswer.Refusing(400, "InvalidIdentityToken", "a"),
                        new StsAnswer.Refusing(400, "MalformedPolicyDocument", "a"),
                        new StsAnswer.Saying(200, "<html>"))) {
            world.sts().always(answer);
            answers.mint(world, world.token(), "deploy", "api");
        }
        answers.mint(world, world.token(), "nowhere");
    }

    /** A row that the database refuses, and then no database. */
    private void withFaults() {
        try (World world = new World(Map.of("RATE_LIMIT_ENABLED", "false"))) {
            world.database()
                    .runAsSuperuser(
                            """
                            ALTER TABLE log.event ADD CONSTRAINT no_evil
                                  CHECK (user_agent IS DISTINCT FROM 'evil')
                            """);
            answers.ask(
                    world,
                    "POST /credentials/mint",
                    "{\"keys\":[\"api\"]}",
                    JSON,
                    "User-Agent: evil",
                    "Authorization: Bearer " + world.token());
            world.database().shutTheServiceOut();
            answers.mint(world, world.token(), "api");
            Eventually.holds(() -> world.broker().get("/health").status() == 503);
            answers.ask(world, "GET /health", "");
            world.database().letTheServiceIn();
        }
    }

    /**
     * As many requests as there may be, which wait for the database's grants and for their history,
     * and one of every kind more.
     */
    private void withoutRoom() {
        try (World world =
                        new World(
                                Map.of(
                                        "RATE_LIMIT_ENABLED",
                                        "false",
                                        "SERVER_MAX_REQUESTS",
                                        Integer.toString(MOST_REQUESTS)));
                Connection owner = world.database().connect(Who.OWNER);
                Statement statement = owner.createStatement();
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            world.broker().keys(world.token()); // who waits for the issuer's keys has no turn
            owner.setAutoCommit(false);
            statement.execute(
                    "LOCK TABLE broker.subject_grant, log.config_change IN ACCESS EXCLUSIVE MODE");
            String unread = world.issuer().sign("ci:unread", World.AUDIENCE);
            for (int i = 0; i < MOST_REQUESTS; i++) {
                clients.execute(() -> answers.mint(world, unread, "deploy"));
            }
            Eventually.holds(
                    () -> world.broker().get("/credentials/idp-providers").status() == 503);
            List<Future<Exchanged>> busy = new ArrayList<>();
            List<String> lines = new ArrayList<>(readable().stream().map(this::line).toList());
            lines.addAll(
                    List.of(
                            "PUT /credentials/mint",
                            "PUT /sdk/aws/deploy",
                            "PUT /sdk/sts",
                            "PUT /oauth2/token",
                            "GET /nothing"));
            lines.forEach(line -> busy.add(clients.submit(() -> answers.ask(world, line, ""))));
            busy.forEach(Everything::done);
            owner.rollback();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** One request is one too many. */
    private void withoutPatience() {
        try (World world =
                new World(Map.of("RATE_LIMIT_ENABLED", "true", "RATE_LIMIT_REQUESTS", "1"))) {
            answers.ask(world, "GET /credentials/idp-providers", "");
            readable().forEach(place -> answers.ask(world, line(place).replace("acme", "NO"), ""));
            answers.ask(world, "PUT /credentials/mint", "");
            answers.ask(world, "PUT /sdk/aws/deploy", "");
            answers.ask(world, "PUT /sdk/sts", "");
            answers.ask(world, "PUT /oauth2/token", "");
            answers.ask(world, "GET /x509/acme/tls/crl", "", "Accept: text/plain");
            answers.ask(world, "GET /x509/acme/lost/crl", "");
            answers.ask(world, "GET /x509/acme/none/crl", "");
            answers.ask(world, "GET /ssh/none/krl", "");
            answers.ask(world, "GET /nothing", "");
            answers.send(world, document.other("unreadable"), "no line", "\0\r\n\r\n");
        }
    }

    private static void done(Future<?> future) {
        try {
            future.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private List<Place> readable() {
        return document.places().stream().filter(place -> place.name().contains(" ")).toList();
    }

    private String line(Place place) {
        return place.name()
                .replace("{tenant}", "acme")
                .replace("{provider}", "tls")
                .replace("{id}", "7c9e6679-7425-40de-944b-e07fc1f90ae7")
                .replace("{key}", "deploy");
    }
}
