package io.mintmark.provider.postgresql;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.time.Timestamps;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;

import org.postgresql.util.PasswordUtil;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Makes the role of a mint, in one transaction. */
final class LoginRoles {
    /**
     * The minimum major version of PostgreSQL. In earlier ones, any holder of CREATEROLE controls
     * all roles, and members of a group may switch to it.
     */
    private static final int FIRST_VERSION = 16;

    private static final int PASSWORD_BYTES = 32;

    private final String broker;
    private final InstantSource clock;
    private final RandomGenerator random;

    LoginRoles(String broker, InstantSource clock, RandomGenerator random) {
        this.broker = broker;
        this.clock = clock;
        this.random = random;
    }

    /** Creates the login of a mint, and returns the result. */
    MintResult make(Session session, MintOrder order, PostgresSettings settings, LoginKey key)
            throws TargetFailure {
        int version = session.version();
        if (version < FIRST_VERSION) {
            return misconfigured(
                    settings,
                    "requires PostgreSQL %d or newer; the server is PostgreSQL %d"
                            .formatted(FIRST_VERSION, version));
        }
        Instant asked = clock.instant();
        TargetRole target = TargetRole.read(session, key.role());
        if (target.objection(key).isPresent()) {
            return misconfigured(settings, target.objection(key).get());
        }
        RoleName role =
                new RoleName(
                        RoleName.mark(broker, order.tenant(), order.provider()), order.mintId());
        String password = password();
        order.decision().require();
        session.execute(
                statements(
                        order,
                        settings,
                        key,
                        role,
                        verifier(password),
                        target.clock().plus(order.duration())));
        return committed(session)
                .orElseGet(() -> minted(settings, role, password, asked.plus(order.duration())));
    }

    /** The failure, if there is one. */
    private static Optional<MintResult> committed(Session session) {
        try {
            session.execute("COMMIT");
            return Optional.empty();
        } catch (TargetFailure e) {
            return Optional.of(e.inDoubt());
        }
    }

    private static Failed misconfigured(PostgresSettings settings, String why) {
        return new Failed(
                Reason.PROVIDER_MISCONFIGURED,
                "%s (%s)".formatted(why, settings.server().authority()));
    }

    /** The grant comes last: mints of the same role wait for each other from there on. */
    private static String statements(
            MintOrder order,
            PostgresSettings settings,
            LoginKey key,
            RoleName name,
            String verifier,
            Instant until) {
        String role = Sql.name(name.toString());
        String group = Sql.name(key.role());
        return Stream.of(
                        Stream.of(
                                "BEGIN",
                                "SET LOCAL createrole_self_grant = 'set'",
                                ("CREATE ROLE %s LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE"
                                                + " NOREPLICATION NOBYPASSRLS INHERIT CONNECTION LIMIT %d"
                                                + " PASSWORD %s VALID UNTIL %s")
                                        .formatted(
                                                role,
                                                key.connectionLimit(),
                                                Sql.text(verifier),
                                                Sql.text(Timestamps.text(until)))),
                        key.parameterStatements(role),
                        key.isOwner()
                                ? Stream.of(
                                        "ALTER ROLE %s SET role = %s"
                                                .formatted(role, Sql.text(key.role())))
                                : Stream.<String>of(),
                        Stream.of(
                                "COMMENT ON ROLE %s IS %s"
                                        .formatted(
                                                role,
                                                Sql.text(
                                                        Agreement.of(key, settings)
                                                                .comment(order))),
                                "GRANT %s TO %s WITH INHERIT TRUE, SET %s, ADMIN FALSE"
                                        .formatted(group, role, key.isOwner() ? "TRUE" : "FALSE")))
                .flatMap(each -> each)
                .collect(Collectors.joining("; "));
    }

    private String password() {
        byte[] bytes = new byte[PASSWORD_BYTES];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /**
     * The SCRAM verifier that the server stores. Its log can show the verifier, never the password.
     */
    private static String verifier(String password) {
        return PasswordUtil.encodeScramSha256(password.toCharArray());
    }

    private static Minted minted(
            PostgresSettings settings, RoleName role, String password, Instant expiresAt) {
        Instant expiry = expiresAt.truncatedTo(ChronoUnit.SECONDS);
        Server server = settings.clientServer();
        return new Minted(
                Map.of(
                                "Username", role.toString(),
                                "Password", password,
                                "Host", server.host(),
                                "Port", Integer.toString(server.port()),
                                "Database", settings.clientDatabase(),
                                "SslMode", settings.clientSslMode(),
                                "Expiration", Timestamps.text(expiry),
                                "Uri", uri(settings, role, password))
                        .entrySet()
                        .stream()
                        .collect(
                                Collectors.toUnmodifiableMap(
                                        Map.Entry::getKey, each -> new Secret(each.getValue()))),
                expiry,
                role.toString());
    }

    private static String uri(PostgresSettings settings, RoleName role, String password) {
        return "postgresql://%s:%s@%s/%s?sslmode=%s"
                .formatted(
                        role,
                        password,
                        settings.clientServer().authority(),
                        URLEncoder.encode(settings.clientDatabase(), StandardCharsets.UTF_8)
                                .replace("+", "%20"),
                        settings.clientSslMode());
    }
}
