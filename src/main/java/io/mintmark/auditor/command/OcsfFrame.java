package io.mintmark.auditor.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/** The parts that every OCSF event of the log has: its class, status, metadata and the rest. */
final class OcsfFrame {
    private static final String VERSION = "1.8.0";

    /** An activity or type without a number of its own. */
    static final int OTHER = 99;

    private OcsfFrame() {}

    /** The classes that are used: their numbers, and that of the category. */
    enum EventClass {
        AUTHENTICATION(3, 3002),
        AUTHORIZE_SESSION(3, 3003),
        ENTITY_MANAGEMENT(3, 3004),
        BASE_EVENT(0, 0);

        private final int category;
        private final int number;

        EventClass(int category, int number) {
            this.category = category;
            this.number = number;
        }
    }

    enum Status {
        UNKNOWN(0, "Unknown"),
        SUCCESS(1, "Success"),
        FAILURE(2, "Failure");

        private final int number;
        private final String caption;

        Status(int number, String caption) {
            this.number = number;
            this.caption = caption;
        }
    }

    enum Severity {
        INFORMATIONAL(1),
        LOW(2),
        MEDIUM(3);

        private final int number;

        Severity(int number) {
            this.number = number;
        }
    }

    static ObjectNode begun(EventClass kind, int activity, Severity severity) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("class_uid", kind.number)
                .put("category_uid", kind.category)
                .put("activity_id", activity)
                .put("type_uid", kind.number * 100 + activity)
                .put("severity_id", severity.number);
    }

    static void status(ObjectNode event, Status status) {
        event.put("status_id", status.number).put("status", status.caption);
    }

    static ObjectNode metadata(
            ObjectNode event, String log, JsonNode row, String chain, String at) {
        ObjectNode metadata = event.putObject("metadata").put("version", VERSION);
        metadata.putObject("product").put("name", "Mintmark").put("vendor_name", "Mintmark");
        metadata.put("log_name", log)
                .put("uid", row.path(chain).asText("") + ":" + row.path(at).asText());
        copy(row, "tenant", metadata, "tenant_uid");
        return metadata;
    }

    static void unmapped(ObjectNode event, JsonNode row, Set<String> placed) {
        ObjectNode rest = event.putObject("unmapped");
        row.properties().stream()
                .filter(member -> !placed.contains(member.getKey()) && !member.getValue().isNull())
                .forEach(member -> rest.set(member.getKey(), member.getValue()));
    }

    static void copy(JsonNode from, String member, ObjectNode to, String as) {
        if (from.path(member).isTextual()) {
            to.set(as, from.path(member));
        }
    }

    static Optional<Long> millis(JsonNode row, String member) {
        return Optional.ofNullable(row.path(member).textValue())
                .map(text -> Instant.parse(text).toEpochMilli());
    }
}
