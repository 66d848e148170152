package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.audit.canonical.StoredJson;
import io.mintmark.base.canonical.CanonicalForm;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The SHA-256 of what a row of {@code broker} says, in hexadecimal digits: all of its columns but
 * those that no decision uses. The broker makes it of the row that it read, and a verifier of the
 * row in {@code audit.config_change}; {@code docs/reference/audit-log-format.md} describes it.
 */
public enum RowDigest {
    IDENTITY_PROVIDER("mintmark identity_provider 2"),
    ACCESS_PROVIDER("mintmark access_provider 2"),
    KEY("mintmark key 2"),
    GRANT("mintmark subject_grant 2");

    private static final Set<String> NOT_USED =
            Set.of("description", "reason", "owner", "enabled", "id", "tenant", "request_id");
    private static final List<String> BOOKKEEPING =
            List.of("created_", "updated_", "changed_", "approved_");

    private final String form;

    RowDigest(String form) {
        this.form = form;
    }

    /**
     * Returns SQL of a row as JSON, without its reason, owner and bookkeeping.
     *
     * @param row the alias of the row
     */
    static String columns(String row) {
        return "to_jsonb(%s) - cast('{reason,owner,created_at,created_by,updated_at,updated_by,approved_at,approved_by}' AS text[])"
                .formatted(row);
    }

    /**
     * The digest of a row.
     *
     * @param row its columns as PostgreSQL makes JSON of them; {@code jsonb} may be text too
     */
    public String of(JsonNode row) {
        Map<String, String> used = new TreeMap<>();
        row.properties().stream()
                .filter(column -> isUsed(column.getKey()) && !column.getValue().isNull())
                .forEach(column ->
                        used.put(column.getKey(), text(column.getKey(), column.getValue())));
        List<String> fields = new ArrayList<>(2 * used.size());
        used.forEach((column, text) -> {
            fields.add(column);
            fields.add(text);
        });
        return new CanonicalForm(form).hash(List.copyOf(fields));
    }

    private static boolean isUsed(String column) {
        return !NOT_USED.contains(column) && BOOKKEEPING.stream().noneMatch(column::startsWith);
    }

    private static String text(String column, JsonNode value) {
        if (column.startsWith("valid_")) {
            Instant at = OffsetDateTime.parse(value.asText()).toInstant();
            return Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, at));
        }
        return value.isTextual() ? value.textValue() : StoredJson.text(value);
    }
}
