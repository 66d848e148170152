package io.mintmark.broker.approval;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.KeyName;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * A row of {@code broker.access_request}, as somebody sees it who has a part in it.
 *
 * @param status in the words of the column
 * @param access for how long
 * @param approvalsNeeded how many people must approve; 0 for break glass
 * @param approvals how many have
 * @param expiresAt when it lapses, unless it is decided before
 * @param grant that came of it
 * @param mine whether the viewer made it
 * @param mayDecide whether it waits for the viewer
 * @param mayWithdraw whether the viewer may withdraw its access as an approver
 * @param terms who must approve
 * @param credentials that were minted by it, if it ended before its time
 * @param content what is decided on, while it is pending
 */
public record AccessRequest(
        UUID id,
        KeyName key,
        String status,
        Named requester,
        Optional<Named> actor,
        String reason,
        Duration access,
        int approvalsNeeded,
        int approvals,
        Instant requestedAt,
        Instant expiresAt,
        boolean breakGlass,
        Optional<Granted> grant,
        boolean mine,
        boolean mayDecide,
        boolean mayWithdraw,
        Terms terms,
        List<Decision> decisions,
        List<Minted> credentials,
        Optional<Content> content) {

    public AccessRequest {
        decisions = List.copyOf(decisions);
        credentials = List.copyOf(credentials);
    }

    /**
     * A person.
     *
     * @param idp empty for a login of the database
     */
    public record Named(Optional<String> idp, String subject) {}

    /**
     * The grant of a request.
     *
     * @param inForce whether credentials can be minted by it now
     */
    public record Granted(long id, Optional<Instant> until, boolean inForce) {}

    /**
     * Who must approve.
     *
     * @param steps of which each needs its approvals; an approver counts in one of them
     * @param people how many of the approvals must be of people, not of programs
     * @param consent whether the subject alone decides
     */
    public record Terms(List<Integer> steps, int people, boolean consent) {
        public Terms {
            steps = List.copyOf(steps);
        }
    }

    /**
     * A decision, and who made it.
     *
     * @param steps in which it can count
     * @param program whether a program made it
     */
    public record Decision(
            String verdict,
            Named by,
            List<Integer> steps,
            boolean program,
            Optional<String> note,
            Instant at) {
        public Decision {
            steps = List.copyOf(steps);
        }
    }

    /**
     * A credential that has not expired, of access that ended early.
     *
     * @param state in the words of {@code audit.access_credential}
     * @param expiresAt when it expires by itself
     */
    public record Minted(UUID mint, String type, String state, Instant expiresAt) {}

    /**
     * What an approver is shown.
     *
     * @param target at the provider, such as a role; none if the key names none
     * @param settings of the key, all of them; they contain no secret
     * @param maxDuration of a credential
     * @param outputs the names of what a client gets
     */
    public record Content(
            String provider,
            String type,
            Optional<String> target,
            JsonNode settings,
            Duration maxDuration,
            List<String> outputs,
            RowRevisions revisions) {
        public Content {
            outputs = List.copyOf(outputs);
        }
    }

    /** The revisions of the rows that a decision is about. */
    public record RowRevisions(long rule, long key, long accessProvider) {}

    /**
     * The result of a request for one key.
     *
     * @param expiresAt when the request lapses, or the access ends that was granted at once
     * @param grantId of break glass
     * @param isNew whether this call made it, and not an earlier one that it repeats
     */
    public record Asked(
            UUID id,
            KeyName key,
            String status,
            int approvalsNeeded,
            Instant expiresAt,
            OptionalLong grantId,
            boolean isNew) {}
}
