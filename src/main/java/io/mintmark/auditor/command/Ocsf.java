package io.mintmark.auditor.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.audit.Kind;
import io.mintmark.audit.canonical.ExportedLine;
import io.mintmark.base.output.ExportedRow;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * Rows as events of the Open Cybersecurity Schema Framework, version 1.8.0. {@code
 * docs/audit/shipping.md} says which field becomes which; what has no place there is in {@code
 * unmapped}. {@code raw_data} is the row as jsonl has it, which hashes are made of, so that an
 * export can be proven whole.
 */
final class Ocsf {
    private static final String VERSION = "1.8.0";

    /** Members of a row of {@code audit.event} that have a place of their own. */
    private static final Set<String> PLACED =
            Set.of(
                    "mint_id",
                    "kind",
                    "occurred_at",
                    "request_id",
                    "tenant",
                    "idp",
                    "issuer",
                    "subject",
                    "key",
                    "provider",
                    "reason",
                    "detail",
                    "credential_id",
                    "issued_at",
                    "expires_at",
                    "client_address",
                    "user_agent",
                    "actor");

    private static final int OTHER = 99;

    private Ocsf() {}

    /** The classes that are used: their numbers, and that of the category. */
    private enum EventClass {
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

    private enum Status {
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

    private enum Severity {
        INFORMATIONAL(1),
        LOW(2),
        MEDIUM(3);

        private final int number;

        Severity(int number) {
            this.number = number;
        }
    }

    /** A row of {@code audit.event}, as JSON. */
    static String event(String text) {
        JsonNode row = ExportedRow.parse(text);
        return written(
                Kind.of(row.path("kind").textValue())
                        .map(kind -> event(kind, row))
                        .orElseGet(() -> unknown(row)),
                text);
    }

    private static String written(ObjectNode event, String row) {
        return ExportedRow.text(event.put("raw_data", row));
    }

    /** The row that a line was made of; empty if no export makes this line of it. */
    static Optional<String> row(String line) {
        return ExportedLine.parse(line)
                .map(event -> event.text("raw_data"))
                .filter(row -> line.equals(line(row)));
    }

    private static String line(String row) {
        try {
            Optional<ExportedLine> parsed = ExportedLine.parse(row);
            if (parsed.isEmpty()) {
                return "";
            }
            ExportedLine members = parsed.get();
            return members.has("checkpoint")
                    ? checkpoint(row)
                    : members.has("mint_id") ? event(row) : change(row);
        } catch (DateTimeException | ArithmeticException | IllegalStateException e) {
            return "";
        }
    }

    /** A kind that no broker writes: what happened can't be said. */
    private static ObjectNode unknown(JsonNode row) {
        ObjectNode event = begun(EventClass.BASE_EVENT, OTHER, Severity.MEDIUM);
        event.put("time", millis(row, "occurred_at").orElse(0L))
                .put("activity_name", row.path("kind").asText())
                .put("message", message(row));
        metadata(event, "audit.event", row, "chain", "seq");
        unmapped(event, row, Set.of());
        return event;
    }

    private static ObjectNode event(Kind kind, JsonNode row) {
        ObjectNode event = begun(kind);
        event.put("time", millis(row, "occurred_at").orElse(0L)).put("message", message(row));
        status(event, status(kind));
        copy(row, "reason", event, "status_code");
        copy(row, "detail", event, "status_detail");
        ObjectNode metadata = metadata(event, "audit.event", row, "chain", "seq");
        metadata.put("event_code", kind.word());
        copy(row, "request_id", metadata, "correlation_uid");
        user(event, row);
        if (kind == Kind.REJECTED) {
            event.putObject("service").put("name", "Mintmark");
        } else {
            event.putArray("privileges").add(row.path("key").asText());
            session(event, row);
        }
        endpoints(event, row);
        if (row.path("reason").asText().equals("overflow")) {
            event.put("count", row.path("detail").asLong());
        }
        unmapped(event, row, PLACED);
        return event;
    }

    /** No class is for the end of a session alone; among its activities it is another one. */
    private static ObjectNode begun(Kind kind) {
        return switch (kind) {
            case REJECTED -> begun(EventClass.AUTHENTICATION, 1, severity(kind));
            case ENDED ->
                    begun(EventClass.AUTHORIZE_SESSION, OTHER, severity(kind))
                            .put("activity_name", "End");
            case REQUESTED, ISSUED, FAILED, WITHHELD, DENIED ->
                    begun(EventClass.AUTHORIZE_SESSION, 1, severity(kind));
        };
    }

    private static ObjectNode begun(EventClass kind, int activity, Severity severity) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("class_uid", kind.number)
                .put("category_uid", kind.category)
                .put("activity_id", activity)
                .put("type_uid", kind.number * 100 + activity)
                .put("severity_id", severity.number);
    }

    private static Severity severity(Kind kind) {
        return switch (kind) {
            case REQUESTED, ISSUED, ENDED -> Severity.INFORMATIONAL;
            case DENIED, REJECTED -> Severity.LOW;
            case FAILED, WITHHELD -> Severity.MEDIUM;
        };
    }

    /** A row that begins a request has no result; the row of its outcome has it. */
    private static Status status(Kind kind) {
        return switch (kind) {
            case REQUESTED -> Status.UNKNOWN;
            case ISSUED, ENDED -> Status.SUCCESS;
            case FAILED, WITHHELD, DENIED, REJECTED -> Status.FAILURE;
        };
    }

    private static void status(ObjectNode event, Status status) {
        event.put("status_id", status.number).put("status", status.caption);
    }

    private static String message(JsonNode row) {
        return "%s: key %s for %s of tenant %s"
                .formatted(
                        row.path("kind").asText(),
                        row.path("key").asText("(none)"),
                        row.path("subject").asText("(unknown)"),
                        row.path("tenant").asText("(none)"));
    }

    private static ObjectNode metadata(
            ObjectNode event, String log, JsonNode row, String chain, String at) {
        ObjectNode metadata = event.putObject("metadata").put("version", VERSION);
        metadata.putObject("product").put("name", "Mintmark").put("vendor_name", "Mintmark");
        metadata.put("log_name", log)
                .put("uid", row.path(chain).asText("") + ":" + row.path(at).asText());
        copy(row, "tenant", metadata, "tenant_uid");
        return metadata;
    }

    private static void user(ObjectNode event, JsonNode row) {
        String name = row.path("subject").asText("unknown");
        ObjectNode user = event.putObject("user").put("name", name);
        copy(row, "issuer", user, "domain");
        if (row.path("idp").isTextual()) {
            ObjectNode actor = event.putObject("actor");
            actor.putObject("user").put("name", name);
            copy(row, "actor", actor, "invoked_by");
            ObjectNode idp = actor.putObject("idp");
            copy(row, "idp", idp, "name");
            copy(row, "issuer", idp, "issuer");
        }
    }

    /** The session is what the credential opens; its number is the mint's. */
    private static void session(ObjectNode event, JsonNode row) {
        ObjectNode session = event.putObject("session");
        copy(row, "mint_id", session, "uid");
        copy(row, "credential_id", session, "credential_uid");
        copy(row, "provider", session, "issuer");
        millis(row, "issued_at").ifPresent(at -> session.put("created_time", at));
        millis(row, "expires_at").ifPresent(at -> session.put("expiration_time", at));
    }

    private static void endpoints(ObjectNode event, JsonNode row) {
        if (row.path("client_address").isTextual()) {
            String address = row.path("client_address").textValue();
            event.putObject("src_endpoint").put("ip", address.replaceFirst("/.*", ""));
        }
        if (row.path("provider").isTextual()) {
            event.putObject("dst_endpoint").put("svc_name", row.path("provider").textValue());
        }
        if (row.path("request_id").isTextual()) {
            ObjectNode request = event.putObject("http_request");
            copy(row, "request_id", request, "uid");
            copy(row, "user_agent", request, "user_agent");
        }
    }

    /** A row of {@code audit.config_change}, as JSON. */
    static String change(String text) {
        JsonNode row = ExportedRow.parse(text);
        int activity =
                switch (row.path("operation").asText()) {
                    case "INSERT" -> 1;
                    case "UPDATE" -> 3;
                    default -> 4;
                };
        ObjectNode event = begun(EventClass.ENTITY_MANAGEMENT, activity, Severity.INFORMATIONAL);
        String table = row.path("table_name").asText();
        event.put("time", millis(row, "changed_at").orElse(0L))
                .put("message", row.path("operation").asText() + " in broker." + table);
        status(event, Status.SUCCESS);
        metadata(event, "audit.config_change", row, "tenant", "revision");
        event.putObject("actor").putObject("user").put("name", row.path("changed_by").asText());
        boolean made = row.path("before").isNull();
        entity(event.putObject("entity"), table, row.path(made ? "after" : "before"));
        if (!made && !row.path("after").isNull()) {
            entity(event.putObject("entity_result"), table, row.path("after"));
        }
        unmapped(event, row, Set.of("before", "after", "changed_by", "changed_at", "tenant"));
        return written(event, text);
    }

    private static void entity(ObjectNode entity, String table, JsonNode content) {
        String name = content.path("name").asText(content.path("id").asText(table));
        entity.put("name", name).put("type", table).put("type_id", OTHER).set("data", content);
    }

    /** A checkpoint as the broker prints it, which no class is for. */
    static String checkpoint(String text) {
        JsonNode line = ExportedRow.parse(text);
        ObjectNode event = begun(EventClass.BASE_EVENT, OTHER, Severity.INFORMATIONAL);
        event.put("time", millis(line, "sealed_at").orElse(0L))
                .put("activity_name", "Checkpoint")
                .put("message", "checkpoint %s".formatted(line.path("checkpoint").asText()));
        metadata(event, "audit.checkpoint", line, "none", "checkpoint");
        unmapped(event, line, Set.of());
        return written(event, text);
    }

    private static void unmapped(ObjectNode event, JsonNode row, Set<String> placed) {
        ObjectNode rest = event.putObject("unmapped");
        row.properties().stream()
                .filter(member -> !placed.contains(member.getKey()) && !member.getValue().isNull())
                .forEach(member -> rest.set(member.getKey(), member.getValue()));
    }

    private static void copy(JsonNode from, String member, ObjectNode to, String as) {
        if (from.path(member).isTextual()) {
            to.set(as, from.path(member));
        }
    }

    private static Optional<Long> millis(JsonNode row, String member) {
        return Optional.ofNullable(row.path(member).textValue())
                .map(text -> Instant.parse(text).toEpochMilli());
    }
}
