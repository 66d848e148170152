package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.Unchecked;
import io.mintmark.audit.Event;
import io.mintmark.audit.Event.Actor;
import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Subject;
import io.mintmark.audit.MintEvents;
import io.mintmark.base.sql.SqlRunner;
import io.mintmark.base.sql.StoredGrants;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.SeenClaims;

import java.net.InetAddress;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Rows of the log that claim that a broker minted under a grant, allowed or not. */
final class RecordedDecisions {
    private static final String CONDITIONS =
            """
            SELECT i.required_claims, g.claims, coalesce(a.required_claims, '{}'), g.actor_claims
              FROM broker.subject_grant AS g
              JOIN broker.identity_provider AS i ON i.name = g.idp
              LEFT JOIN broker.identity_provider AS a ON a.name = ?
             WHERE g.id = ?
            """;

    private final TestDatabase database;
    private final Instant now;
    private final MintIds ids;
    private final List<Event> rows = new ArrayList<>();

    RecordedDecisions(TestDatabase database, Instant now) {
        this.database = database;
        this.now = now;
        this.ids = new MintIds(InstantSource.fixed(now), new Random());
    }

    /** All rows so far. */
    List<Event> rows() {
        return rows;
    }

    /**
     * Who acted for the subject of a mint.
     *
     * @param claims comparable
     * @param hasToken whether it presented one of its own
     */
    record RecordedActor(String idp, String issuer, JsonNode claims, boolean hasToken) {}

    /**
     * Adds the rows of a mint, in the state that the tenant is in now.
     *
     * @param tenant its identity provider has the same name
     * @param token the claims, comparable
     * @return the mint's id
     */
    String add(
            String tenant,
            JsonNode token,
            Optional<RecordedActor> actor,
            String key,
            long grant,
            long seconds,
            String address)
            throws SQLException {
        try (Connection auditor = database.connect(Who.AUDITOR)) {
            Optional<String> actorIdp = actor.map(RecordedActor::idp);
            List<ClaimConditions> conditions = conditions(auditor, grant, actorIdp);
            List<ClaimConditions> blocks = blocks(auditor, tenant);
            Subject subject =
                    new Subject(
                            Optional.of(new TenantName(tenant)),
                            Optional.of(new IdpName(tenant)),
                            token.path("iss").asText(),
                            Optional.of(token.path("sub").asText()),
                            Optional.empty(),
                            "ab".repeat(32),
                            seen(with(blocks, conditions.subList(0, 2)), token));
            MintEvents events =
                    new MintEvents(
                            ids.next(),
                            new Caller("request", InetAddress.ofLiteral(address), Optional.empty()),
                            subject.with(actor.map(acting -> actor(acting, conditions, blocks))),
                            new KeyName(key),
                            Optional.of(StoredGrants.reference(auditor, grant, actorIdp)));
            Event requested = events.requested(now, now.plusSeconds(seconds));
            rows.add(requested);
            rows.add(events.failed(now, "provider_denied", "for the test"));
            return requested.mintId().toString();
        }
    }

    private static Actor actor(
            RecordedActor acting, List<ClaimConditions> conditions, List<ClaimConditions> blocks) {
        return new Actor(
                Optional.of(new IdpName(acting.idp())),
                acting.issuer(),
                Optional.of(acting.claims().path("sub").asText()),
                seen(
                        with(blocks, conditions.subList(acting.hasToken() ? 2 : 3, 4)),
                        acting.claims()),
                Optional.empty(),
                acting.hasToken() ? Optional.of("cd".repeat(32)) : Optional.empty());
    }

    /** Those of the identity provider and of the grant, and the same for the actor. */
    private static List<ClaimConditions> conditions(
            Connection auditor, long grant, Optional<String> actorIdp) throws SQLException {
        try (PreparedStatement statement = auditor.prepareStatement(CONDITIONS)) {
            statement.setString(1, actorIdp.orElse(null));
            statement.setLong(2, grant);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                List<ClaimConditions> conditions = new ArrayList<>();
                for (int column = 1; column <= 4; column++) {
                    conditions.add(conditions(row.getString(column)));
                }
                return conditions;
            }
        }
    }

    private static List<ClaimConditions> with(
            List<ClaimConditions> blocks, List<ClaimConditions> others) {
        return Stream.concat(blocks.stream(), others.stream()).toList();
    }

    /** Those of the blocks of a tenant and of all tenants. */
    private static List<ClaimConditions> blocks(Connection auditor, String tenant)
            throws SQLException {
        return SqlRunner.column(
                        auditor,
                        "SELECT claims FROM broker.blocked_subject WHERE coalesce(tenant, '%1$s') = '%1$s'"
                                .formatted(tenant))
                .stream()
                .map(RecordedDecisions::conditions)
                .toList();
    }

    private static Optional<String> seen(List<ClaimConditions> conditions, JsonNode token) {
        Map<String, JsonNode> seen = new TreeMap<>();
        conditions.forEach(one -> seen.putAll(one.seenIn(new SeenClaims.OfToken(token))));
        ObjectNode claims = JsonNodeFactory.instance.objectNode();
        seen.forEach(claims::set);
        return seen.isEmpty() ? Optional.empty() : Optional.of(claims.toString());
    }

    private static ClaimConditions conditions(String json) {
        Map<String, JsonNode> byClaim = new HashMap<>();
        Unchecked.call(() -> DocumentFields.json(json))
                .properties()
                .forEach(condition -> byClaim.put(condition.getKey(), condition.getValue()));
        return new ClaimConditions(byClaim);
    }
}
