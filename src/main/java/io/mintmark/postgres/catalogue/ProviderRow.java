package io.mintmark.postgres.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.grant.Provider;
import io.mintmark.tenant.Glob;
import io.mintmark.tenant.ProviderName;

/** A row of {@code broker.access_provider}, by the alias {@code a}, as JSON. */
final class ProviderRow {
    static final String KIND = "access_provider";

    /** The enabled ones of a tenant, by the alias {@code t}. */
    static final String ROWS =
            BoundedRows.of(
                    KIND,
                    "a.name",
                    BoundedRows.document(
                            """
                            jsonb_build_object(
                                'name', a.name, 'type', a.type, 'settings', a.settings,
                                'allowed_targets', a.allowed_targets, 'shared_identity', a.shared_identity)\
                            """,
                            "a.settings",
                            "a.allowed_targets"),
                    "FROM broker.access_provider AS a WHERE a.tenant = t.name AND a.enabled");

    private ProviderRow() {}

    static Provider map(JsonNode row) {
        return new Provider(
                new ProviderName(row.path("name").asText()),
                row.path("type").asText(),
                row.path("settings"),
                Documents.texts(row, "allowed_targets").stream().map(Glob::new).toList(),
                row.path("shared_identity").booleanValue(),
                RowDigest.ACCESS_PROVIDER.of(row));
    }
}
