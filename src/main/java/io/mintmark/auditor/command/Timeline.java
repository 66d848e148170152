package io.mintmark.auditor.command;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.audit.text.VisibleText;
import io.mintmark.base.output.ExportedRow;

import java.io.PrintStream;
import java.util.Set;

/**
 * Tells mints and refusals to people, a paragraph each. Text from outside can't move the cursor.
 */
final class Timeline {
    /** Members that are left out if they are empty. */
    private static final Set<String> WORDS = Set.of("reason", "detail", "ended_detail");

    private final PrintStream out;

    Timeline(PrintStream out) {
        this.out = out;
    }

    /** A row of {@code audit.mint} or of {@code audit.denial}. */
    void print(JsonNode row) {
        if (row.has("requested_at")) {
            mint(row);
        } else {
            refusal(row);
        }
        out.println();
    }

    private void mint(JsonNode row) {
        out.println("mint " + text(row, "mint_id"));
        who(row);
        line("grant", "%s, made by %s at %s", row, "grant_id", "grant_made_by", "grant_made_at");
        JsonNode grant = row.path("grant_then");
        if (!grant.path("updated_at").equals(grant.path("created_at"))) {
            line("", "last changed by %s at %s", row, "grant_changed_by", "grant_changed_at");
        }
        if (grant.path("reason").isTextual()) {
            line("", "because: %s", grant, "reason");
        }
        line("provider", "%s (%s)", row, "provider", "provider_type");
        line("requested", "%s", row, "requested_at");
        boolean ended = row.path("ended_at").isTextual();
        if (!row.path("outcome").isNull()) {
            line("outcome", "%s %s %s %s", row, "outcome_at", "outcome", "reason", "detail");
        } else if (ended) {
            line("outcome", "none", row);
        } else {
            line("outcome", "none; a credential may exist until %s", row, "expires_at");
        }
        if (!row.path("credential_id").isNull()) {
            line("credential", "%s, until %s", row, "credential_id", "expires_at");
        }
        if (ended) {
            line("ended", "%s %s %s", row, "ended_at", "ended_how", "ended_detail");
        }
    }

    private void refusal(JsonNode row) {
        out.println(text(row, "kind") + " " + text(row, "mint_id"));
        who(row);
        line("outcome", "%s %s %s %s", row, "occurred_at", "kind", "reason", "detail");
    }

    private void who(JsonNode row) {
        line("subject", "%s of %s (%s)", row, "subject", "tenant", "idp");
        line("key", "%s", row, "key");
        line("token", "of %s, id %s, SHA-256 %s", row, "issuer", "token_id", "token_hash");
        if (!row.path("claims").isNull()) {
            line("claims", "%s", row, "claims");
        }
        if (row.path("actor_issuer").isTextual()) {
            actor(row);
        }
        line("client", "%s, %s", row, "client_address", "user_agent");
        line("request", "%s, answered by %s", row, "request_id", "broker");
    }

    private void actor(JsonNode row) {
        line("actor", "%s (%s), who acts for the subject", row, "actor", "actor_idp");
        if (row.path("actor_token_hash").isTextual()) {
            line(
                    "",
                    "token of %s, id %s, SHA-256 %s",
                    row,
                    "actor_issuer",
                    "actor_token_id",
                    "actor_token_hash");
        } else {
            line("", "named by the subject's token", row);
        }
        if (row.path("actor_claims").isObject()) {
            line("", "claims %s", row, "actor_claims");
        }
    }

    private void line(String label, String format, JsonNode row, String... members) {
        Object[] values = new Object[members.length];
        for (int i = 0; i < members.length; i++) {
            values[i] = text(row, members[i]);
        }
        out.println("  %-11s%s".formatted(label, format.formatted(values)).stripTrailing());
    }

    private static String text(JsonNode row, String member) {
        JsonNode value = row.path(member);
        String visible = VisibleText.of(ExportedRow.text(value));
        return value.isNull() || value.isMissingNode()
                ? (WORDS.contains(member) ? "" : "-")
                : visible;
    }
}
