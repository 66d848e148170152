package io.mintmark.console.pages.mints;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A mint or a refusal, in a line.
 *
 * @param at when it began
 * @param actor who acted for the subject
 * @param expiresAt when its credential ends; without outcome, the latest that one could live
 * @param endedAt since when it is on record that its credential doesn't work
 */
public record MintLine(
        String id,
        Instant at,
        MintOutcome outcome,
        Optional<String> reason,
        Optional<String> tenant,
        Optional<String> idp,
        Optional<String> subject,
        Optional<String> actor,
        Optional<String> key,
        Optional<String> providerType,
        Optional<String> credentialId,
        Optional<Instant> expiresAt,
        Optional<Instant> endedAt,
        String requestId,
        Trace trace) {

    /**
     * Further ids, as text.
     *
     * @param chain the chain of its last row, shown to those who see all tenants
     * @param seq the row's position in it, shown likewise
     */
    record Trace(
            Optional<String> grantId,
            Optional<String> clientAddress,
            Optional<String> tokenHash,
            Optional<String> chain,
            Optional<String> seq) {
        private static Trace of(ResultSet row) throws SQLException {
            return new Trace(
                    Query.text(row, "grant_id"),
                    Query.text(row, "client_address"),
                    Query.text(row, "token_hash"),
                    Query.text(row, "chain"),
                    Query.text(row, "seq"));
        }
    }

    /** Reasons of refusals, as the log has them. */
    private static final String NOT_GRANTED = "not_granted";

    private static final String NO_SUCH_KEY = "no_such_key";
    private static final String SUBJECT_BLOCKED = "subject_blocked";

    /** A chain has the rows of all tenants: a place in it would count the others'. */
    private static final String LINES =
            """
            SELECT b.mint_id, b.occurred_at, b.tenant, b.idp, b.subject, b.actor, b.key, b.provider_type,
                   coalesce(b.request_id, '') AS request_id, o.kind, o.reason, o.credential_id,
                   coalesce(o.expires_at, b.expires_at) AS expires_at,
                   d.occurred_at AS ended_at,
                   b.grant_id::text AS grant_id, host(b.client_address) AS client_address,
                   encode(b.token_hash, 'hex') AS token_hash,
                   CASE WHEN (SELECT internal.viewer_sees_all())
                        THEN coalesce(o.chain, b.chain) END AS chain,
                   CASE WHEN (SELECT internal.viewer_sees_all())
                        THEN coalesce(o.seq, b.seq)::text END AS seq
              FROM unnest(cast(? AS uuid[])) AS wanted (mint_id)
             CROSS JOIN LATERAL (
                   SELECT e.* FROM audit.event AS e
                    WHERE e.mint_id = wanted.mint_id ORDER BY e.step LIMIT 1) AS b
              LEFT JOIN audit.event AS o ON o.mint_id = wanted.mint_id AND o.step = 2
              LEFT JOIN audit.event AS d ON d.mint_id = wanted.mint_id AND d.step = 3
             ORDER BY b.mint_id DESC
            """;

    /** The outcome in words, with the reason of a refusal. */
    public String meaning() {
        return switch (outcome) {
            case DENIED, FAILED, WITHHELD, REJECTED ->
                    explained().map(ReasonMeaning::meaning).orElse(outcome.meaning());
            case UNRESOLVED ->
                    endedAt.isPresent()
                            ? "no outcome is on record; a credential, if there was one, has ended"
                            : outcome.meaning();
            case ISSUED, UNDER_WAY -> outcome.meaning();
        };
    }

    /** Advice for the reason, if there is any. */
    public Optional<String> advice() {
        return explained().map(ReasonMeaning::advice);
    }

    private Optional<ReasonMeaning> explained() {
        return reason.flatMap(ReasonMeaning::of);
    }

    /** Whether the mint was denied because no grant allowed it. */
    public boolean lackedGrant() {
        return outcome == MintOutcome.DENIED && reason.filter(NOT_GRANTED::equals).isPresent();
    }

    /** Whether the mint was denied because the tenant had no such key. */
    public boolean lackedKey() {
        return outcome == MintOutcome.DENIED && reason.filter(NO_SUCH_KEY::equals).isPresent();
    }

    /** Whether the mint was denied because its subject was blocked. */
    public boolean wasBlocked() {
        return outcome == MintOutcome.DENIED && reason.filter(SUBJECT_BLOCKED::equals).isPresent();
    }

    /** The lines of those mint ids that the viewer may see, newest first. */
    public static List<MintLine> of(Connection connection, List<String> ids, Instant now)
            throws SQLException {
        return ids.isEmpty()
                ? List.of()
                : Query.of(LINES, ids).list(connection, row -> line(row, now));
    }

    private static MintLine line(ResultSet row, Instant now) throws SQLException {
        Instant at = Query.time(row, "occurred_at");
        return new MintLine(
                row.getString("mint_id"),
                at,
                MintOutcome.of(Query.text(row, "kind"), at, now),
                Query.text(row, "reason"),
                Query.text(row, "tenant"),
                Query.text(row, "idp"),
                Query.text(row, "subject"),
                Query.text(row, "actor"),
                Query.text(row, "key"),
                Query.text(row, "provider_type"),
                Query.text(row, "credential_id"),
                Query.timeIfAny(row, "expires_at"),
                Query.timeIfAny(row, "ended_at"),
                row.getString("request_id"),
                Trace.of(row));
    }
}
