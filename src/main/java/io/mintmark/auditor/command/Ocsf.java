package io.mintmark.auditor.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.audit.Kind;
import io.mintmark.audit.canonical.ExportedLine;
import io.mintmark.auditor.command.OcsfFrame.EventClass;
import io.mintmark.auditor.command.OcsfFrame.Severity;
import io.mintmark.auditor.command.OcsfFrame.Status;
import io.mintmark.base.output.ExportedRow;

import java.time.DateTimeException;
import java.util.Optional;
import java.util.Set;

/**
 * Rows as events of the Open Cybersecurity Schema Framework, version 1.8.0. {@code
 * docs/audit/shipping.md} says which field becomes which; what has no place there is in {@code
 * unmapped}. {@code raw_data} is the row as jsonl has it, which hashes are made of, so that an
 * export can be proven whole.
 */
final class Ocsf {
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

    private Ocsf() {}

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
                    : members.has("cosignature")
                            ? cosignature(row)
                            : members.has("mint_id") ? event(row) : change(row);
        } catch (DateTimeException | ArithmeticException | IllegalStateException e) {
            return "";
        }
    }

    /** An event of a kind that no broker writes, so that its activity is unknown. */
    private static ObjectNode unknown(JsonNode row) {
        ObjectNode event = OcsfFrame.begun(EventClass.BASE_EVENT, OcsfFrame.OTHER, Severity.MEDIUM);
        event.put("time", OcsfFrame.millis(row, "occurred_at").orElse(0L))
                .put("activity_name", row.path("kind").asText())
                .put("message", message(row));
        OcsfFrame.metadata(event, "audit.event", row, "chain", "seq");
        OcsfFrame.unmapped(event, row, Set.of());
        return event;
    }

    private static ObjectNode event(Kind kind, JsonNode row) {
        ObjectNode event = begun(kind);
        event.put("time", OcsfFrame.millis(row, "occurred_at").orElse(0L))
                .put("message", message(row));
        OcsfFrame.status(event, status(kind));
        OcsfFrame.copy(row, "reason", event, "status_code");
        OcsfFrame.copy(row, "detail", event, "status_detail");
        ObjectNode metadata = OcsfFrame.metadata(event, "audit.event", row, "chain", "seq");
        metadata.put("event_code", kind.word());
        OcsfFrame.copy(row, "request_id", metadata, "correlation_uid");
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
        OcsfFrame.unmapped(event, row, PLACED);
        return event;
    }

    /** No class is for the end of a session alone; among its activities it is another one. */
    private static ObjectNode begun(Kind kind) {
        return switch (kind) {
            case REJECTED -> OcsfFrame.begun(EventClass.AUTHENTICATION, 1, severity(kind));
            case ENDED ->
                    OcsfFrame.begun(EventClass.AUTHORIZE_SESSION, OcsfFrame.OTHER, severity(kind))
                            .put("activity_name", "End");
            case REQUESTED, ISSUED, FAILED, WITHHELD, DENIED ->
                    OcsfFrame.begun(EventClass.AUTHORIZE_SESSION, 1, severity(kind));
        };
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

    private static String message(JsonNode row) {
        return "%s: key %s for %s of tenant %s"
                .formatted(
                        row.path("kind").asText(),
                        row.path("key").asText("(none)"),
                        row.path("subject").asText("(unknown)"),
                        row.path("tenant").asText("(none)"));
    }

    private static void user(ObjectNode event, JsonNode row) {
        String name = row.path("subject").asText("unknown");
        ObjectNode user = event.putObject("user").put("name", name);
        OcsfFrame.copy(row, "issuer", user, "domain");
        if (row.path("idp").isTextual()) {
            ObjectNode actor = event.putObject("actor");
            actor.putObject("user").put("name", name);
            OcsfFrame.copy(row, "actor", actor, "invoked_by");
            ObjectNode idp = actor.putObject("idp");
            OcsfFrame.copy(row, "idp", idp, "name");
            OcsfFrame.copy(row, "issuer", idp, "issuer");
        }
    }

    /** The session is what the credential opens; its number is the mint's. */
    private static void session(ObjectNode event, JsonNode row) {
        ObjectNode session = event.putObject("session");
        OcsfFrame.copy(row, "mint_id", session, "uid");
        OcsfFrame.copy(row, "credential_id", session, "credential_uid");
        OcsfFrame.copy(row, "provider", session, "issuer");
        OcsfFrame.millis(row, "issued_at").ifPresent(at -> session.put("created_time", at));
        OcsfFrame.millis(row, "expires_at").ifPresent(at -> session.put("expiration_time", at));
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
            OcsfFrame.copy(row, "request_id", request, "uid");
            OcsfFrame.copy(row, "user_agent", request, "user_agent");
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
        ObjectNode event =
                OcsfFrame.begun(EventClass.ENTITY_MANAGEMENT, activity, Severity.INFORMATIONAL);
        String table = row.path("table_name").asText();
        event.put("time", OcsfFrame.millis(row, "changed_at").orElse(0L))
                .put("message", row.path("operation").asText() + " in broker." + table);
        OcsfFrame.status(event, Status.SUCCESS);
        OcsfFrame.metadata(event, "audit.config_change", row, "tenant", "revision");
        event.putObject("actor").putObject("user").put("name", row.path("changed_by").asText());
        boolean made = row.path("before").isNull();
        entity(event.putObject("entity"), table, row.path(made ? "after" : "before"));
        if (!made && !row.path("after").isNull()) {
            entity(event.putObject("entity_result"), table, row.path("after"));
        }
        OcsfFrame.unmapped(
                event, row, Set.of("before", "after", "changed_by", "changed_at", "tenant"));
        return written(event, text);
    }

    private static void entity(ObjectNode entity, String table, JsonNode content) {
        String name = content.path("name").asText(content.path("id").asText(table));
        entity.put("name", name)
                .put("type", table)
                .put("type_id", OcsfFrame.OTHER)
                .set("data", content);
    }

    /** A checkpoint as the broker prints it. OCSF has no class for it. */
    static String checkpoint(String text) {
        JsonNode line = ExportedRow.parse(text);
        ObjectNode event =
                OcsfFrame.begun(EventClass.BASE_EVENT, OcsfFrame.OTHER, Severity.INFORMATIONAL);
        event.put("time", OcsfFrame.millis(line, "sealed_at").orElse(0L))
                .put("activity_name", "Checkpoint")
                .put("message", "checkpoint %s".formatted(line.path("checkpoint").asText()));
        OcsfFrame.metadata(event, "audit.checkpoint", line, "none", "checkpoint");
        OcsfFrame.unmapped(event, line, Set.of());
        return written(event, text);
    }

    /** A cosignature. OCSF has no class for it. */
    static String cosignature(String text) {
        JsonNode line = ExportedRow.parse(text);
        ObjectNode event =
                OcsfFrame.begun(EventClass.BASE_EVENT, OcsfFrame.OTHER, Severity.INFORMATIONAL);
        event.put("time", OcsfFrame.millis(line, "received_at").orElse(0L))
                .put("activity_name", "Cosignature")
                .put("message", "cosignature of " + line.path("witness").asText());
        OcsfFrame.metadata(event, "audit.cosignature", line, "none", "cosignature");
        OcsfFrame.unmapped(event, line, Set.of());
        return written(event, text);
    }
}
