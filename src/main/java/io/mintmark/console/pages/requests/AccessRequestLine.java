package io.mintmark.console.pages.requests;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.statements.RequestStatements;
import io.mintmark.console.pages.statements.Statements;

import org.jspecify.annotations.Nullable;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A request for access.
 *
 * @param seconds of access, from the last approval on
 * @param expiresAt when it lapses unless it is decided; of a break glass, when the access ends
 * @param needed how many approvals it needs, in so many steps
 * @param lacking the steps and people that it lacks, in words
 * @param consent whether the subject alone decides
 * @param approvals how many have
 * @param decisions who decided what, in words
 * @param validUntil when the access ends
 * @param inForce whether credentials can be minted by it
 * @param signedOff whether it is no break glass that somebody has yet to sign off
 * @param mine whether the viewer made it
 * @param waits whether the viewer may decide it
 * @param withdraws whether the viewer may end its access as an approver
 * @param content what it gives, while it is pending
 */
record AccessRequestLine(
        String id,
        String tenant,
        String key,
        String idp,
        String subject,
        Optional<String> actor,
        Optional<String> actorIdp,
        String reason,
        long seconds,
        boolean breakGlass,
        String status,
        Instant requestedAt,
        Instant expiresAt,
        int needed,
        int steps,
        Optional<String> lacking,
        boolean consent,
        int approvals,
        List<String> decisions,
        Optional<Long> grant,
        Optional<Instant> validUntil,
        boolean inForce,
        boolean signedOff,
        boolean mine,
        boolean waits,
        boolean withdraws,
        Optional<RequestedKey> content) {

    /** Reads a row of {@link AccessRequestQueries}. */
    static AccessRequestLine of(ResultSet row) throws SQLException {
        return new AccessRequestLine(
                row.getString("id"),
                row.getString("tenant"),
                row.getString("key"),
                row.getString("idp"),
                row.getString("subject"),
                Query.text(row, "actor"),
                Query.text(row, "actor_idp"),
                row.getString("reason"),
                row.getLong("access"),
                row.getBoolean("break_glass"),
                row.getString("status"),
                Query.time(row, "requested_at"),
                Query.time(row, "expires_at"),
                row.getInt("approvals"),
                row.getInt("steps"),
                Query.text(row, "lacking"),
                row.getBoolean("consent"),
                row.getInt("given"),
                Query.texts(row, "words"),
                Query.number(row, "grant_id"),
                Query.timeIfAny(row, "valid_until"),
                row.getBoolean("in_force"),
                row.getBoolean("signed_off"),
                row.getBoolean("mine"),
                row.getBoolean("waits"),
                row.getBoolean("withdraws"),
                RequestedKey.of(row));
    }

    boolean isPending(Instant now) {
        return status.equals("pending") && expiresAt.isAfter(now);
    }

    /** Whether the viewer, as the requester, can withdraw the request or end the access. */
    boolean canBeGivenBack(Instant now) {
        return mine && (isPending(now) || (status.equals("granted") && inForce));
    }

    /** The state of the request, as a sentence without a period. */
    String state(Frame frame) {
        return switch (status) {
            case "pending" ->
                    isPending(frame.now())
                            ? "◐ %s, lapses %s".formatted(waiting(), frame.at(expiresAt).distance())
                            : "✕ lapsed";
            case "granted" ->
                    validUntil
                            .filter(_ -> inForce)
                            .map(until -> "✓ granted, ends " + frame.at(until).distance())
                            .orElse("✓ granted, has ended");
            case "void" -> "✕ void: its rule was changed or disabled";
            default -> "✕ " + status;
        };
    }

    private String waiting() {
        if (consent) {
            return "waits for the consent of " + subject;
        }
        String in = steps > 1 ? " in %d steps".formatted(steps) : "";
        return "%d of %s%s".formatted(approvals, Frame.count(needed, "approval"), in)
                + lacking.map("; "::concat).orElse("");
    }

    /** The colour of the state. */
    @Nullable String colour(Instant now) {
        return switch (status) {
            case "pending" -> isPending(now) ? "attention" : "none";
            case "granted" -> inForce ? "clean" : "none";
            case "refused" -> "bad";
            default -> "none";
        };
    }

    /** The statement that decides the request without the console. */
    Statements.Statement decision() {
        return RequestStatements.decide(id, content.map(RequestedKey::revisions));
    }

    /** The statement that ends the access without the console, for approvers. */
    Optional<Statements.Statement> withdrawal() {
        return inForce && !mine ? Optional.of(RequestStatements.withdraw(id)) : Optional.empty();
    }

    /** The statement that signs off a break glass. */
    Optional<Statements.Statement> signOff() {
        return grant.filter(_ -> !signedOff).map(RequestStatements::signOff);
    }
}
