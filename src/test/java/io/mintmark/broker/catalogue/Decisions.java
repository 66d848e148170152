package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.time.Clocks;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.grant.Catalogue;
import io.mintmark.broker.grant.Granted;
import io.mintmark.broker.grant.KnownIssuers;
import io.mintmark.broker.grant.Parties;
import io.mintmark.broker.token.ComparableClaims;
import io.mintmark.broker.token.IssuerKeys;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.broker.token.OwnIssuer;
import io.mintmark.broker.token.PresentedToken;
import io.mintmark.broker.token.RememberedTokens;
import io.mintmark.broker.token.TokenVerifier;
import io.mintmark.broker.token.VerifiedActor;
import io.mintmark.broker.token.VerifiedToken;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Tenants, and who may have which of their keys: as the service decides on real, signed tokens, and
 * as {@code broker.explain} does.
 */
public final class Decisions implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final OwnIssuer BROKER = new OwnIssuer("https://broker.example.com");
    private static final String GRANTS =
            """
            INSERT INTO broker.subject_grant
                   (tenant, idp, subject, match, key, claims, actor_idp, actor, actor_match,
                    actor_claims, networks, valid_from, valid_until, max_duration, enabled)
            SELECT ?, ?, subject, coalesce(match, 'exact'), key, coalesce(claims, '{}'),
                   CASE actor_idp WHEN 'own' THEN ? ELSE ? || '-' || actor_idp END, actor,
                   coalesce(actor_match, 'exact'), coalesce(actor_claims, '{}'), networks,
                   cast(? AS timestamptz) + valid_from * interval '1 second',
                   cast(? AS timestamptz) + valid_until * interval '1 second',
                   max_duration, coalesce(enabled, true)
              FROM jsonb_to_recordset(cast(? AS jsonb)) AS g (
                   subject text, match text, key text, claims jsonb, actor_idp text, actor text,
                   actor_match text, actor_claims jsonb, networks cidr[], valid_from int,
                   valid_until int, max_duration int, enabled boolean)
                ON CONFLICT DO NOTHING
            """;
    private static final String BLOCKS =
            """
            INSERT INTO broker.blocked_subject (tenant, idp, subject, match, claims, reason, until, enabled)
            SELECT CASE WHEN in_all_tenants THEN NULL ELSE ? END,
                   CASE idp WHEN 'own' THEN ? ELSE ? || '-' || idp END, subject,
                   coalesce(match, 'exact'), coalesce(claims, '{}'), coalesce(reason, 'for the test'),
                   cast(? AS timestamptz) + until * interval '1 second', coalesce(enabled, true)
              FROM jsonb_to_recordset(cast(? AS jsonb)) AS b (
                   in_all_tenants boolean, idp text, subject text, match text, claims jsonb, reason text,
                   until int, enabled boolean)
            """;
    private static final String EXPLAIN =
            """
            SELECT e.key, e.granted,
                   e.grant_id - (SELECT min(g.id) FROM broker.subject_grant AS g
                                  WHERE g.tenant = ?) + 1 AS number,
                   e.condition, e.expected, e.seen
              FROM broker.explain(?, ?, cast(? AS jsonb), ?, ?, cast(? AS jsonb), cast(? AS timestamptz), cast(? AS inet)) AS e
            """;

    /** A row of {@code broker.explain}; the grant by its number within the tenant. */
    public record Explained(
            boolean granted,
            @Nullable Long number,
            @Nullable String condition,
            @Nullable String expected,
            @Nullable String seen) {}

    /** What the service would mint: the number of the grant, and for how long. */
    public record Mintable(long number, long seconds) {}

    /** The moment that all tokens and grants are about. */
    final Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);

    private final TestDatabase database = TestDatabase.migrated();
    private final Database connections = new Database(database.login(Who.APP));
    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final Connection admin;

    private String address = "203.0.113.9";

    public Decisions() throws SQLException {
        admin = database.connect(Who.ADMIN);
    }

    /** Makes a tenant with an identity provider of the same name and these grants. */
    public void tenant(String name, JsonNode requiredClaims, JsonNode grants) throws SQLException {
        admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('%1$s');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks)
                VALUES ('%1$s', '%1$s', '%2$s', '{%1$s}', '%3$s'),
                       ('%1$s-agents', '%1$s', '%2$s', '{%1$s-agents}', '%3$s'),
                       ('%1$s-other', '%1$s', '%2$s', '{%1$s-other}', '%3$s');
                UPDATE broker.identity_provider SET accepts = '{actor}' WHERE name = '%1$s-agents';
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('%1$s', 'own', 'jwt', '{}'),
                       ('%1$s', 'aws', 'aws-sts', '{"region": "eu-central-1"}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('%1$s', 'api', 'own', 600, '{"audience": "https://api.example.com"}'),
                       ('%1$s', 'deploy', 'aws', 3600,
                        '{"role_arn": "arn:aws:iam::123456789012:role/deploy"}');
                """
                        .formatted(name, issuer.url(), issuer.jwks()));
        update(
                "UPDATE broker.identity_provider SET required_claims = cast(? AS jsonb) WHERE name"
                        + " = ?",
                requiredClaims.isObject() ? requiredClaims.toString() : "{}",
                name);
        update(GRANTS, name, name, name, name, now.toString(), now.toString(), grants.toString());
    }

    /** Blocks subjects in a tenant, or in all; those of all tenants before are blocked no more. */
    public void blocks(String tenant, JsonNode blocks) throws SQLException {
        admin("DELETE FROM broker.blocked_subject WHERE tenant IS NULL");
        for (JsonNode block : blocks) {
            update(BLOCKS, tenant, tenant, tenant, now.toString(), "[" + block + "]");
        }
    }

    /** Runs a statement as a platform admin. */
    void admin(String sql) throws SQLException {
        try (var statement = admin.createStatement()) {
            statement.execute(sql);
        }
    }

    private void update(String sql, String... parameters) throws SQLException {
        try (PreparedStatement statement = prepared(admin, sql, parameters)) {
            statement.executeUpdate();
        }
    }

    /** The claims of who acts for a subject, and the identity provider of its token. */
    public record Acting(String idp, JsonNode claims) {}

    /** What the service gives for a token of these claims, by key. */
    public SortedMap<String, Mintable> service(String tenant, JsonNode claims) throws SQLException {
        return service(tenant, claims, Optional.empty()).mintable();
    }

    /** What the service gives, by key; or why it doesn't accept the tokens. */
    public record Service(SortedMap<String, Mintable> mintable, Optional<String> refusal) {}

    /** The same for a token beside that of an actor. */
    public Service service(String tenant, JsonNode claims, Optional<Acting> acting)
            throws SQLException {
        Optional<Verdict<VerifiedToken>> own =
                acting.map(actor -> examine(audience(tenant, actor.idp()), actor.claims()));
        SortedMap<String, Mintable> mintable = new TreeMap<>();
        if (!(examine(tenant, claims) instanceof Verdict.Passed<VerifiedToken>(var token))) {
            return new Service(mintable, Optional.of("subject"));
        }
        Verdict<Optional<VerifiedActor>> actor =
                switch (own.orElse(null)) {
                    case null -> VerifiedActor.of(token, Optional.empty());
                    case Verdict.Refused<VerifiedToken>(var refusal) -> Verdict.refused(refusal);
                    case Verdict.Passed<VerifiedToken>(var verified) ->
                            VerifiedActor.of(token, Optional.of(verified));
                };
        if (actor instanceof Verdict.Refused<Optional<VerifiedActor>>(TokenRefusal refusal)) {
            return new Service(mintable, Optional.of(refusal.word()));
        }
        long first = firstGrant(tenant);
        if (actor instanceof Verdict.Passed<Optional<VerifiedActor>>(var accepted)) {
            catalogue()
                    .entitlements(
                            token.provider().tenant(),
                            Parties.of(token, accepted, InetAddress.ofLiteral(address)))
                    .mintable(TimeBounds.of(now))
                    .forEach((key, granted) -> mintable.put(key, mintable(granted, first)));
        }
        return new Service(mintable, Optional.empty());
    }

    /** The identity provider of a tenant by its name in vectors, and the audience of its tokens. */
    static String audience(String tenant, String idp) {
        return idp.equals("own") ? tenant : tenant + "-" + idp;
    }

    private static Mintable mintable(Granted granted, long first) {
        return new Mintable(granted.grantId() - first + 1, granted.duration().toSeconds());
    }

    private Verdict<VerifiedToken> examine(String audience, JsonNode claims) {
        String token = issuer.signExactly(complete(audience, claims));
        var verifier =
                new TokenVerifier(
                        new KnownIssuers(
                                new PostgresIdentityProviders(connections, System::nanoTime),
                                BROKER,
                                Duration.ZERO,
                                System::nanoTime),
                        new IssuerKeys(new GuardedHttp(new Destinations(List.of())), () -> now),
                        new RememberedTokens(),
                        BROKER,
                        Clocks.of(() -> now));
        return verifier.examine(new PresentedToken(new Secret(token))).verdict();
    }

    private Catalogue catalogue() {
        return new Catalogue(
                new PostgresCatalogue(connections),
                Duration.ZERO,
                Clocks.of(() -> now),
                System::nanoTime);
    }

    /** A token's claims, as conditions compare them. */
    JsonNode comparable(String tenant, JsonNode claims) {
        ObjectNode given = JSON.valueToTree(complete(tenant, claims));
        return ComparableClaims.of(given);
    }

    /** The ids of a tenant's grants of a key. */
    List<Long> grants(String tenant, String key) throws SQLException {
        String sql = "SELECT id FROM broker.subject_grant WHERE tenant = ? AND key = ? ORDER BY id";
        List<Long> ids = new ArrayList<>();
        try (PreparedStatement statement = prepared(admin, sql, tenant, key);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                ids.add(row.getLong(1));
            }
        }
        return ids;
    }

    /** From now on requests come from this address. */
    void from(String client) {
        address = client;
    }

    /** The address that requests come from. */
    String address() {
        return address;
    }

    TestDatabase database() {
        return database;
    }

    /** What {@code broker.explain} says of the same, by key. */
    public SortedMap<String, Explained> explain(String tenant, JsonNode claims)
            throws SQLException {
        return explain(tenant, claims, Optional.empty());
    }

    /** The same with an actor. */
    public SortedMap<String, Explained> explain(
            String tenant, JsonNode claims, Optional<Acting> acting) throws SQLException {
        SortedMap<String, Explained> explained = new TreeMap<>();
        try (PreparedStatement statement = admin.prepareStatement(EXPLAIN)) {
            List<@Nullable String> values = new ArrayList<>();
            values.add(tenant);
            values.add(tenant);
            values.add(claims.path("sub").asText());
            values.add(comparable(tenant, claims).toString());
            values.add(acting.map(actor -> audience(tenant, actor.idp())).orElse(null));
            values.add(acting.map(actor -> actor.claims().path("sub").asText()).orElse(null));
            values.add(acting.map(actor -> comparable(tenant, actor).toString()).orElse(null));
            values.add(now.toString());
            values.add(address);
            for (int i = 0; i < values.size(); i++) {
                statement.setString(i + 1, values.get(i));
            }
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    explained.put(rows.getString("key"), explained(rows));
                }
            }
        }
        return explained;
    }

    /** An actor's claims, as conditions compare them: of its token, or of the claim act alone. */
    JsonNode comparable(String tenant, Acting actor) {
        return comparable(audience(tenant, actor.idp()), actor.claims());
    }

    private static Explained explained(ResultSet row) throws SQLException {
        long number = row.getLong("number");
        return new Explained(
                row.getBoolean("granted"),
                number == 0 ? null : number,
                row.getString("condition"),
                row.getString("expected"),
                row.getString("seen"));
    }

    private Map<String, Object> complete(String audience, JsonNode claims) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("iss", issuer.url());
        all.put("aud", audience);
        all.put("iat", now.getEpochSecond());
        all.put("exp", now.plusSeconds(300).getEpochSecond());
        claims.properties().forEach(claim -> all.put(claim.getKey(), claim.getValue()));
        return all;
    }

    long firstGrant(String tenant) throws SQLException {
        String sql = "SELECT coalesce(min(id), 0) FROM broker.subject_grant WHERE tenant = ?";
        try (PreparedStatement statement = prepared(admin, sql, tenant);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }

    private static PreparedStatement prepared(
            Connection connection, String sql, String... parameters) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        List<String> values = new ArrayList<>(List.of(parameters));
        for (int i = 0; i < values.size(); i++) {
            statement.setString(i + 1, values.get(i));
        }
        return statement;
    }

    @Override
    public void close() throws SQLException {
        admin.close();
        issuer.close();
        connections.close();
        database.close();
    }
}
