package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;

import org.jspecify.annotations.Nullable;

import java.time.Instant;

/**
 * A change of the configuration, with its sides; a missing node for none.
 *
 * @param changedAt by the database's clock
 */
record RecordedChange(
        @Nullable String tenant,
        long revision,
        String table,
        JsonNode before,
        JsonNode after,
        String changedBy,
        Instant changedAt,
        String transaction) {
    /** The value of a column after the change, or before it if the row was deleted. */
    String name(String column) {
        return (after.isObject() ? after : before).path(column).asText();
    }
}
