package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.broker.catalogue.DocumentFields;

import java.time.Instant;
import java.util.List;

/** The effect of a change on a row of {@code broker.blocked_subject}. */
final class RecordedBlock {
    private static final List<String> WHOM = List.of("idp", "subject", "match", "claims");
    private static final List<String> BOOKKEEPING =
            List.of("proposed", "created_at", "created_by", "updated_at", "updated_by");

    private RecordedBlock() {}

    /**
     * Whether a block stopped anybody until this change. A deleted block did if it was enabled.
     *
     * @param changedAt when the change was recorded; its transaction began no later
     */
    static boolean wasInForce(JsonNode before, JsonNode after, Instant changedAt) {
        return before.path("enabled").asBoolean()
                && (changedAt.isBefore(end(before))
                        || DocumentFields.time(after, "updated_at")
                                .map(changed -> changed.isBefore(end(before)))
                                .orElse(true));
    }

    /** Whether the changed block still stops everything that it stopped before. */
    static boolean stopsAsMuch(JsonNode before, JsonNode after) {
        return after.path("enabled").asBoolean()
                && !end(after).isBefore(end(before))
                && WHOM.stream().allMatch(column -> before.path(column).equals(after.path(column)));
    }

    /** Whether the change is the one that its row proposed. */
    static boolean isAsProposed(JsonNode before, JsonNode after) {
        return before.path("proposed") instanceof ObjectNode proposed
                && after.isObject()
                && says(before).setAll(proposed).equals(says(after));
    }

    private static Instant end(JsonNode row) {
        return DocumentFields.time(row, "until").orElse(Instant.MAX);
    }

    private static ObjectNode says(JsonNode row) {
        ObjectNode said = row.deepCopy();
        said.remove(BOOKKEEPING);
        return said;
    }
}
