package io.mintmark.broker.revocation;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.sql.Database;
import io.mintmark.base.tenant.MintId;
import io.mintmark.broker.catalogue.Documents;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/** Reads {@code broker.ended_credential}, which admins write. */
public final class PostgresRevokedCredentials implements RevokedCredentials {
    private static final String AUTHORITIES =
            """
            SELECT cast(jsonb_build_array(p.type, p.tenant, p.name) AS text) AS document
              FROM broker.access_provider AS p WHERE p.type = ANY (cast(:types AS text[]))
            """;

    /**
     * The ended credentials. They stay listed for an hour after their expiry, for servers whose
     * clocks are slow.
     */
    private static final String ENDED =
            """
            SELECT cast(jsonb_build_object('settings', p.settings, 'since', now() - interval '1 hour', 'mints', (
                       SELECT coalesce(jsonb_agg(e.mint_id ORDER BY e.mint_id), '[]')
                         FROM broker.ended_credential AS e
                        WHERE e.tenant = p.tenant AND e.provider_type = p.type
                          AND e.expires_at > now() - interval '1 hour')) AS text) AS document
              FROM broker.access_provider AS p
             WHERE p.type = :type AND p.tenant = :tenant AND p.name = :name
            """;

    private static final String COUNT =
            """
            SELECT cast(to_jsonb(count(*)) AS text) AS document FROM broker.ended_credential AS e
             WHERE e.tenant = :tenant AND e.provider_type = :type AND e.expires_at > cast(:since AS timestamptz)
            """;

    private final Documents documents;

    public PostgresRevokedCredentials(Database database) {
        this.documents = new Documents(database.reading());
    }

    @Override
    public NavigableSet<ListIssuer> authorities(Set<String> types) {
        NavigableSet<ListIssuer> found = new TreeSet<>();
        documents
                .read(AUTHORITIES, Map.of("types", types.toArray(String[]::new)))
                .forEach(row ->
                        found.add(
                                new ListIssuer(
                                        row.path(0).asText(),
                                        row.path(1).asText(),
                                        row.path(2).asText())));
        return found;
    }

    @Override
    public Optional<Revoked> of(ListIssuer authority) {
        return documents
                .read(
                        ENDED,
                        Map.of(
                                "type", authority.type(),
                                "tenant", authority.tenant(),
                                "name", authority.provider()))
                .stream()
                .findFirst()
                .map(row ->
                        new Revoked(
                                row.path("settings"),
                                mints(row.path("mints")),
                                new Extent(row.path("since").asText(), row.path("mints").size())));
    }

    @Override
    public boolean isComplete(ListIssuer authority, Extent extent) {
        JsonNode count =
                documents
                        .read(
                                COUNT,
                                Map.of(
                                        "type", authority.type(),
                                        "tenant", authority.tenant(),
                                        "since", extent.since()))
                        .getFirst();
        return count.asInt() == extent.count();
    }

    private static List<MintId> mints(JsonNode ids) {
        List<MintId> mints = new ArrayList<>();
        ids.forEach(id -> mints.add(new MintId(UUID.fromString(id.asText()))));
        return mints;
    }
}
