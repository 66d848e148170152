package io.mintmark.postgres;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.grant.Key;
import io.mintmark.grant.Provider;
import io.mintmark.tenant.Glob;
import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.ProviderName;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A row of {@code broker.key}, by the alias {@code k}, with its access provider ({@code a}), as
 * JSON.
 */
final class KeyRow {
    /** All enabled keys of a tenant, by the alias {@code t}, with enabled access providers. */
    static final String LIST =
            BoundedRows.list(
                    "k.name",
                    BoundedRows.document(
                            """
                            jsonb_build_object(
                                'name', k.name, 'description', k.description, 'max_duration', k.max_duration,
                                'settings', k.settings, 'outputs', k.outputs,
                                'provider', jsonb_build_object(
                                    'name', a.name, 'type', a.type, 'settings', a.settings,
                                    'allowed_targets', a.allowed_targets, 'shared_identity', a.shared_identity))\
                            """,
                            "k.description",
                            "k.settings",
                            "k.outputs",
                            "a.settings",
                            "a.allowed_targets"),
                    """
                     FROM broker.key AS k
                     JOIN broker.access_provider AS a
                       ON a.tenant = k.tenant AND a.name = k.provider AND a.enabled
                    WHERE k.tenant = t.name AND k.enabled\
                    """);

    private KeyRow() {}

    static Key map(JsonNode row) {
        Map<String, String> outputs = new LinkedHashMap<>();
        row.path("outputs")
                .properties()
                .forEach(output -> outputs.put(output.getKey(), output.getValue().asText()));
        return new Key(
                new KeyName(row.path("name").asText()),
                Documents.text(row, "description").orElse(""),
                Documents.seconds(row, "max_duration").orElse(Duration.ZERO),
                row.path("settings"),
                outputs,
                provider(row.path("provider")));
    }

    private static Provider provider(JsonNode row) {
        return new Provider(
                new ProviderName(row.path("name").asText()),
                row.path("type").asText(),
                row.path("settings"),
                Documents.texts(row, "allowed_targets").stream().map(Glob::new).toList(),
                row.path("shared_identity").booleanValue());
    }
}
