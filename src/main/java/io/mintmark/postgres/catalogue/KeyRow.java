package io.mintmark.postgres.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.grant.Key;
import io.mintmark.grant.Provider;
import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.ProviderName;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** A row of {@code broker.key}, by the alias {@code k}, as JSON. */
record KeyRow(
        KeyName name,
        String description,
        Duration maxDuration,
        JsonNode settings,
        Map<String, String> outputs,
        ProviderName provider,
        String digest) {
    static final String KIND = "key";

    /** All enabled keys of a tenant, by the alias {@code t}, with enabled access providers. */
    static final String ROWS =
            BoundedRows.of(
                    KIND,
                    "k.name",
                    BoundedRows.document(
                            """
                            jsonb_build_object(
                                'name', k.name, 'description', k.description,
                                'max_duration', k.max_duration, 'max_duration_of_tenant', t.max_duration,
                                'settings', k.settings, 'outputs', k.outputs, 'provider', k.provider)\
                            """,
                            "k.description",
                            "k.settings",
                            "k.outputs"),
                    """
                     FROM broker.key AS k
                     JOIN broker.access_provider AS a
                       ON a.tenant = k.tenant AND a.name = k.provider AND a.enabled
                    WHERE k.tenant = t.name AND k.enabled\
                    """);

    static KeyRow map(JsonNode row) {
        Map<String, String> outputs = new LinkedHashMap<>();
        row.path("outputs")
                .properties()
                .forEach(output -> outputs.put(output.getKey(), output.getValue().asText()));
        return new KeyRow(
                new KeyName(row.path("name").asText()),
                Documents.text(row, "description").orElse(""),
                maxDuration(row),
                row.path("settings"),
                outputs,
                new ProviderName(row.path("provider").asText()),
                RowDigest.KEY.of(row));
    }

    /** The shorter one of the key's own and its tenant's. */
    private static Duration maxDuration(JsonNode row) {
        Duration own = Documents.seconds(row, "max_duration").orElse(Duration.ZERO);
        return Documents.seconds(row, "max_duration_of_tenant")
                .filter(bound -> bound.compareTo(own) < 0)
                .orElse(own);
    }

    Key of(Provider named) {
        return new Key(name, description, maxDuration, settings, outputs, named, digest);
    }
}
