package io.mintmark.broker.approval;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;

import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.verdict.AccessRefusal.WithdrawnAccess;
import io.mintmark.broker.approval.AccessRequest.Asked;
import io.mintmark.broker.approval.AccessRequest.Content;
import io.mintmark.broker.approval.AccessRequest.Decision;
import io.mintmark.broker.approval.AccessRequest.Granted;
import io.mintmark.broker.approval.AccessRequest.Minted;
import io.mintmark.broker.approval.AccessRequest.Named;
import io.mintmark.broker.approval.AccessRequest.RowRevisions;
import io.mintmark.broker.approval.AccessRequest.Terms;
import io.mintmark.broker.catalogue.DocumentFields;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/** The rows that the functions for requests for access return, as JSON. */
final class AccessDocuments {
    private AccessDocuments() {}

    static Asked asked(JsonNode row) {
        return new Asked(
                id(row),
                key(row),
                row.path("status").asText(),
                row.path("approvals_needed").intValue(),
                time(row, "expires_at"),
                row.path("grant_id").isNumber()
                        ? OptionalLong.of(row.path("grant_id").longValue())
                        : OptionalLong.empty(),
                row.path("is_new").booleanValue());
    }

    static WithdrawnAccess withdrawn(JsonNode row) {
        return new WithdrawnAccess(
                key(row).value(),
                UUID.fromString(row.path("request").asText()),
                DocumentFields.text(row, "withdrawn_by"),
                time(row, "withdrawn_at"));
    }

    static AccessRequest request(JsonNode row) {
        return new AccessRequest(
                id(row),
                key(row),
                row.path("status").asText(),
                new Named(DocumentFields.text(row, "idp"), row.path("subject").asText()),
                DocumentFields.text(row, "actor")
                        .map(actor -> new Named(DocumentFields.text(row, "actor_idp"), actor)),
                row.path("reason").asText(),
                Duration.ofSeconds(row.path("access").longValue()),
                row.path("approvals_needed").intValue(),
                row.path("approvals_given").intValue(),
                time(row, "requested_at"),
                time(row, "expires_at"),
                row.path("break_glass").booleanValue(),
                grant(row),
                row.path("is_mine").booleanValue(),
                row.path("may_decide").booleanValue(),
                row.path("may_withdraw").booleanValue(),
                new Terms(
                        steps(row),
                        row.path("people").intValue(),
                        row.path("consent").booleanValue()),
                row.path("decisions").valueStream().map(AccessDocuments::decision).toList(),
                row.path("credentials").valueStream().map(AccessDocuments::minted).toList(),
                content(row));
    }

    private static Optional<Granted> grant(JsonNode row) {
        JsonNode id = row.path("grant_id");
        return id.isNumber()
                ? Optional.of(
                        new Granted(
                                id.longValue(),
                                DocumentFields.time(row, "valid_until"),
                                row.path("in_force").booleanValue()))
                : Optional.empty();
    }

    private static Optional<Content> content(JsonNode row) {
        JsonNode gives = row.path("gives");
        JsonNode revisions = row.path("revisions");
        return gives.isObject()
                ? Optional.of(
                        new Content(
                                gives.path("provider").asText(),
                                gives.path("type").asText(),
                                DocumentFields.text(gives, "target"),
                                gives.path("settings"),
                                Duration.ofSeconds(gives.path("maxDuration").longValue()),
                                gives.path("outputs").valueStream().map(JsonNode::asText).toList(),
                                new RowRevisions(
                                        revisions.path("rule").longValue(),
                                        revisions.path("key").longValue(),
                                        revisions.path("accessProvider").longValue())))
                : Optional.empty();
    }

    private static Decision decision(JsonNode row) {
        return new Decision(
                row.path("verdict").asText(),
                new Named(DocumentFields.text(row, "idp"), row.path("decidedBy").asText()),
                steps(row),
                row.path("program").booleanValue(),
                DocumentFields.text(row, "note").filter(note -> !note.isBlank()),
                time(row, "at"));
    }

    private static List<Integer> steps(JsonNode row) {
        return row.path("steps").valueStream().map(JsonNode::intValue).toList();
    }

    private static Minted minted(JsonNode row) {
        return new Minted(
                UUID.fromString(row.path("mintId").asText()),
                row.path("type").asText(),
                row.path("state").asText(),
                time(row, "expiresAt"));
    }

    /** Revisions as the database has them. */
    static String json(RowRevisions revisions) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("rule", revisions.rule())
                .put("key", revisions.key())
                .put("accessProvider", revisions.accessProvider())
                .toString();
    }

    private static UUID id(JsonNode row) {
        return UUID.fromString(row.path("id").asText());
    }

    private static KeyName key(JsonNode row) {
        return new KeyName(row.path("key").asText());
    }

    private static Instant time(JsonNode row, String member) {
        return DocumentFields.time(row, member)
                .orElseThrow(() -> new IllegalStateException("the database returned no " + member));
    }
}
