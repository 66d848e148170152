package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.Unchecked;
import io.mintmark.audit.Event;
import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Subject;
import io.mintmark.audit.MintEvents;
import io.mintmark.base.sql.StoredGrants;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.token.ClaimConditions;

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

/** Rows of the log that claim that a broker minted under a grant, allowed or not. */
final class RecordedDecisions {
    private static final String CONDITIONS =
            """
            SELECT i.required_claims, g.claims
              FROM broker.subject_grant AS g
              JOIN broker.identity_provider AS i ON i.name = g.idp
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
     * Adds the rows of a mint, in the state that the tenant is in now.
     *
     * @param tenant its identity provider has the same name
     * @param token the claims, comparable
     * @return the mint's id
     */
    String add(String tenant, JsonNode token, String key, long grant, long seconds)
            throws SQLException {
        try (Connection auditor = database.connect(Who.AUDITOR)) {
            MintEvents events =
                    new MintEvents(
                            ids.next(),
                            new Caller(
                                    "request", InetAddress.getLoopbackAddress(), Optional.empty()),
                            new Subject(
                                    Optional.of(new TenantName(tenant)),
                                    Optional.of(new IdpName(tenant)),
                                    token.path("iss").asText(),
                                    Optional.of(token.path("sub").asText()),
                                    Optional.empty(),
                                    "ab".repeat(32),
                                    claims(auditor, grant, token)),
                            new KeyName(key),
                            Optional.of(StoredGrants.reference(auditor, grant)));
            Event requested = events.requested(now, now.plusSeconds(seconds));
            rows.add(requested);
            rows.add(events.failed(now, "provider_denied", "for the test"));
            return requested.mintId().toString();
        }
    }

    /** Those that the conditions of a grant and of its identity provider look at. */
    private static Optional<String> claims(Connection auditor, long grant, JsonNode token)
            throws SQLException {
        Map<String, JsonNode> seen = new TreeMap<>();
        try (PreparedStatement statement = auditor.prepareStatement(CONDITIONS)) {
            statement.setLong(1, grant);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                seen.putAll(conditions(row.getString(1)).seenIn(token));
                seen.putAll(conditions(row.getString(2)).seenIn(token));
            }
        }
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
