package io.mintmark.admin.subject;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.QuestionFailed;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Blocks subjects, and finds their credentials, with the permissions of the user's login. */
public final class BlockedSubjects implements AutoCloseable {
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    static final String WANTED =
            """
            wanted AS (
                SELECT cast(? AS text) AS tenant, cast(? AS text) AS idp, cast(? AS text) AS subject,
                       cast(? AS text) AS match, cast(? AS jsonb) AS claims)
            """;

    /**
     * Extends an existing block, never shortens it. No row if another session has just written it.
     */
    private static final String BLOCK =
            "WITH "
                    + WANTED
                    + """
                    , known AS (
                        SELECT b.id, b.until, b.reason, b.updated_at, b.updated_by,
                               b.until IS NULL OR b.until > now() AS in_force
                          FROM broker.blocked_subject AS b JOIN wanted AS w
                               ON internal.block_digest(b.tenant, b.idp, b.match, b.subject, b.claims)
                                = internal.block_digest(w.tenant, w.idp, w.match, w.subject, w.claims)
                         WHERE b.enabled
                    ), written AS (
                        INSERT INTO broker.blocked_subject AS b (tenant, idp, subject, match, claims, reason, until)
                        SELECT w.tenant, w.idp, w.subject, w.match, w.claims, cast(? AS text), cast(? AS timestamptz)
                          FROM wanted AS w
                            ON CONFLICT (internal.block_digest(tenant, idp, match, subject, claims)) WHERE enabled
                            DO UPDATE SET until = excluded.until, reason = excluded.reason
                         WHERE b.until < coalesce(excluded.until, 'infinity')
                        RETURNING b.id, b.until, b.reason, b.updated_at, b.updated_by
                    )
                    SELECT w.*, CASE WHEN EXISTS (SELECT FROM known WHERE in_force) THEN 'EXTENDED'
                                     ELSE 'NEW' END AS state FROM written AS w
                     UNION ALL
                    SELECT k.id, k.until, k.reason, k.updated_at, k.updated_by, 'KNOWN' FROM known AS k
                     WHERE NOT EXISTS (SELECT FROM written)
                    """;

    /** Tenant admins learn whether a platform admin's block exists, but not its row. */
    private static final String BESIDE =
            "WITH "
                    + WANTED
                    + """
                    , beside AS (
                        SELECT b.id, b.tenant, b.match, b.subject
                          FROM broker.blocked_subject AS b CROSS JOIN wanted AS w
                         WHERE b.enabled AND (b.until IS NULL OR b.until > now()) AND b.id <> ?
                           AND (b.tenant IS NULL OR w.tenant IS NULL OR b.tenant = w.tenant)
                           AND (b.idp IS NULL OR w.idp IS NULL OR b.idp = w.idp)
                           AND (b.claims = '{}' OR b.claims = w.claims)
                           AND CASE WHEN b.match = 'glob' THEN internal.glob_covers(b.subject, w.match, w.subject)
                                    ELSE b.subject = w.subject END
                    )
                    SELECT format('row %s, "%s"%s in %s', id, subject,
                                  CASE match WHEN 'glob' THEN ' as a glob' ELSE '' END,
                                  coalesce('tenant ' || tenant, 'all tenants')) AS block FROM beside
                     UNION ALL
                    SELECT 'one of a platform admin''s for all tenants' FROM wanted AS w
                     WHERE w.tenant IS NOT NULL AND NOT EXISTS (SELECT FROM beside WHERE tenant IS NULL)
                       AND internal.is_blocked_in_all_tenants(w.match, w.subject, now())
                    """;

    /** The rule of broker.lint for blocks that match no grant and no recent row of the log. */
    static final String MATCHES_NOTHING = "block_matches_nothing";

    /**
     * Finds a subject's most similar names by prefix or suffix, as one row, if the subject is
     * unknown.
     */
    private static final String UNSEEN =
            "WITH "
                    + WANTED
                    + """
                    , known AS (
                        (SELECT g.subject FROM broker.subject_grant AS g CROSS JOIN wanted AS w
                          WHERE g.match = 'exact' AND (w.tenant IS NULL OR g.tenant = w.tenant) LIMIT 10000)
                         UNION
                        (SELECT e.subject FROM audit.event AS e CROSS JOIN wanted AS w
                          WHERE e.subject IS NOT NULL AND (w.tenant IS NULL OR e.tenant = w.tenant)
                          ORDER BY e.mint_id DESC LIMIT 1000)
                    )
                    SELECT internal.nearest(w.subject, ARRAY(
                               SELECT k.subject FROM known AS k
                                ORDER BY greatest(internal.common_start(k.subject, w.subject),
                                                  internal.common_start(reverse(k.subject), reverse(w.subject))) DESC
                                LIMIT 20)) AS nearest
                      FROM wanted AS w
                     WHERE CASE w.match
                           WHEN 'exact' THEN NOT EXISTS (
                                SELECT FROM broker.subject_grant AS g
                                 WHERE g.match = 'exact' AND hashtextextended(g.subject, 0) = hashtextextended(w.subject, 0)
                                   AND g.subject = w.subject AND (w.tenant IS NULL OR g.tenant = w.tenant))
                           ELSE EXISTS (
                                SELECT FROM broker.lint AS l
                                 WHERE l.table_name = 'blocked_subject' AND l.name = cast(? AS text) AND l.rule = ?)
                           END
                       AND NOT EXISTS (SELECT FROM audit.event AS e
                                        WHERE hashtextextended(e.subject, 0) = hashtextextended(w.subject, 0)
                                          AND e.subject = w.subject AND (w.tenant IS NULL OR e.tenant = w.tenant))
                    """;

    private final Connection connection;
    private final Duration timeout;

    /**
     * The subjects to block.
     *
     * @param tenant where; empty for all tenants
     * @param idp whose subject; empty for any identity provider's
     * @param match {@code exact} or {@code glob}
     * @param claims conditions on the tokens to stop, as a JSON object
     */
    public record Block(
            Optional<String> tenant,
            Optional<String> idp,
            String subject,
            String match,
            String claims,
            String reason,
            Optional<Instant> until) {}

    /** The state of a requested row. */
    public enum State {
        /** The block was written just now, or put in force again. */
        NEW,
        /** The block was already in force; its end is later now. */
        EXTENDED,
        /** The block was already in force for at least the requested time, and is unchanged. */
        KNOWN
    }

    /**
     * The row of a block, as it is now.
     *
     * @param at when it was last written, by whom
     * @param messages what the block stops, and the warnings of lint with their advice
     */
    public record Written(
            long id,
            State state,
            Optional<Instant> until,
            String reason,
            Instant at,
            String by,
            List<String> messages) {}

    /**
     * Logs in.
     *
     * @param timeout how long it waits for other edits
     * @throws QuestionFailed with PostgreSQL's reason
     */
    public BlockedSubjects(DatabaseLogin login, Duration timeout) {
        this.timeout = timeout;
        String session = "-c lock_timeout=%d".formatted(timeout.toMillis());
        try {
            connection = login.source("mintmark block-subject", session).getConnection();
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }

    /** The time of the clock that ends blocks. */
    public Instant now() {
        return asked(Query.of("SELECT now() AS now"), row -> Query.time(row, "now")).getFirst();
    }

    /** Blocks a subject; once this returns, no mint starts for it. */
    public Written block(Block block) {
        try {
            Optional<Written> written =
                    query(BLOCK, block, block.reason(), block.until().map(Instant::toString))
                            .first(connection, BlockedSubjects::written);
            return written.isPresent() ? written.get() : block(block);
        } catch (SQLException e) {
            throw LOCK_NOT_AVAILABLE.equals(e.getSQLState())
                    ? QuestionFailed.because(
                            "nothing was blocked, because another transaction is editing the same rows and didn't end within %d seconds; \"Blocked edits\" in docs/run/database.md"
                                            .formatted(timeout.toSeconds())
                                    + " shows how to end it",
                            e)
                    : QuestionFailed.because(e);
        }
    }

    private static Written written(ResultSet row) throws SQLException {
        return new Written(
                row.getLong("id"),
                State.valueOf(row.getString("state")),
                Query.timeIfAny(row, "until"),
                row.getString("reason"),
                Query.time(row, "updated_at"),
                row.getString("updated_by"),
                BlockMessages.of(row.getStatement()));
    }

    /**
     * A glob for the subject's other form; empty if the block needs none. See {@link
     * GithubSubject#OTHER_FORM}.
     */
    public Optional<String> otherForm(Block block) {
        return asked(query(GithubSubject.OTHER_FORM, block), row -> row.getString("form")).stream()
                .findFirst();
    }

    /** The blocks that stay in force when this row is lifted, in words. */
    public List<String> beside(Block block, long row) {
        return asked(query(BESIDE, block, row), found -> found.getString("block"));
    }

    /**
     * Whether a block matches no grant, and no token on record had such a subject. A grant with a
     * glob doesn't count for one subject: the glob matches misspelt subjects, too. For a block by a
     * glob, the record goes back 90 days.
     *
     * @return empty if the subject is known, else the most similar known subject, if any
     */
    public Optional<Optional<String>> unseen(Block block, long row) {
        return asked(
                        query(UNSEEN, block, row, MATCHES_NOTHING),
                        found -> Query.text(found, "nearest"))
                .stream()
                .findFirst();
    }

    /**
     * The subject's active credentials, and those that it may have, by type, tenant and key. After
     * its block there are no others, because each mint records its intent before it starts.
     */
    public List<ActiveCredential> living(Block block) {
        return asked(query(HeldCredentials.LIVING, block), HeldCredentials::living);
    }

    /**
     * The number of other active credentials that the block may be meant for: not all of the claims
     * that it names are on record for their tokens, because no grant examined them.
     */
    public long uncertain(Block block) {
        return asked(query(HeldCredentials.UNCERTAIN, block), row -> row.getLong("credentials"))
                .getFirst();
    }

    /** Ends credentials over the same connection. */
    public EarlyRevocations ends() {
        return new EarlyRevocations(connection);
    }

    static Query query(String sql, Block block, Object... more) {
        List<Object> parameters =
                new ArrayList<>(
                        List.of(
                                block.tenant(),
                                block.idp(),
                                block.subject(),
                                block.match(),
                                block.claims()));
        parameters.addAll(List.of(more));
        return Query.of(sql, parameters.toArray());
    }

    private <T> List<T> asked(Query query, Query.Mapping<T> mapping) {
        try {
            return query.list(connection, mapping);
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }
}
