package io.mintmark.base.sql;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.audit.Event.GrantReference;
import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.broker.catalogue.DocumentFields;
import io.mintmark.broker.catalogue.RowDigest;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Makes what rows of the log say of a grant from the tables, as a broker does. */
public final class StoredGrants {
    private static final String SQL =
            """
            SELECT g.id, t.external_id, to_jsonb(i) AS idp, to_jsonb(ai) AS actor_idp, to_jsonb(a) AS provider, to_jsonb(k) AS key, to_jsonb(g) AS grant_row,
                   broker.revision(g.tenant) AS revision,
                   (SELECT max(c.revision) FROM audit.config_change AS c WHERE c.tenant IS NULL) AS shared_revision
              FROM broker.subject_grant AS g
              JOIN broker.tenant AS t ON t.name = g.tenant
              JOIN broker.identity_provider AS i ON i.name = g.idp
              LEFT JOIN broker.identity_provider AS ai ON ai.name = ?
              JOIN broker.key AS k ON k.tenant = g.tenant AND k.name = g.key
              JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
             WHERE g.id = ANY (?)
            """;

    private StoredGrants() {}

    /**
     * The reference to a grant in the state that its tenant is in now.
     *
     * @param connection of an auditor
     */
    public static GrantReference reference(Connection connection, long id) throws SQLException {
        return reference(connection, id, Optional.empty());
    }

    /** The same for a request with an actor of this identity provider. */
    public static GrantReference reference(
            Connection connection, long id, Optional<String> actorIdp) throws SQLException {
        return Objects.requireNonNull(references(connection, List.of(id), actorIdp).get(id));
    }

    /** References to these grants, by their ids, in the states that their tenants are in now. */
    public static Map<Long, GrantReference> references(Connection connection, List<Long> ids)
            throws SQLException {
        return references(connection, ids, Optional.empty());
    }

    private static Map<Long, GrantReference> references(
            Connection connection, List<Long> ids, Optional<String> actorIdp) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SQL)) {
            statement.setString(1, actorIdp.orElse(null));
            statement.setArray(2, connection.createArrayOf("bigint", ids.toArray()));
            Map<Long, GrantReference> references = new HashMap<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    references.put(row.getLong("id"), reference(row, actorIdp.isPresent()));
                }
            }
            return references;
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static GrantReference reference(ResultSet row, boolean hasActor)
            throws SQLException, JsonProcessingException {
        JsonNode provider = json(row, "provider");
        return new GrantReference(
                new ProviderName(provider.path("name").asText()),
                provider.path("type").asText(),
                row.getLong("id"),
                row.getLong("revision"),
                row.getLong("shared_revision"),
                CanonicalForm.DECISION.hash(
                        Arrays.asList(
                                row.getString("external_id"),
                                RowDigest.IDENTITY_PROVIDER.of(json(row, "idp")),
                                RowDigest.ACCESS_PROVIDER.of(provider),
                                RowDigest.KEY.of(json(row, "key")),
                                RowDigest.GRANT.of(json(row, "grant_row")),
                                hasActor
                                        ? RowDigest.IDENTITY_PROVIDER.of(json(row, "actor_idp"))
                                        : null)));
    }

    private static JsonNode json(ResultSet row, String column)
            throws SQLException, JsonProcessingException {
        return DocumentFields.json(row.getString(column));
    }
}
