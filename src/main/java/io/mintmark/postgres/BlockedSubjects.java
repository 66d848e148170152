package io.mintmark.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Blocks subjects, and finds what they hold, with the login of whoever blocks: it writes what that
 * login may write and sees what it may see.
 */
public final class BlockedSubjects implements AutoCloseable {
    private static final String SESSION = "-c TimeZone=UTC -c lock_timeout=15s";
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    /** A block that says the same and is in force isn't written again. */
    private static final String BLOCK =
            """
            WITH wanted AS (
                SELECT cast(? AS text) AS tenant, cast(? AS text) AS idp, cast(? AS text) AS subject,
                       cast(? AS text) AS match, cast(? AS text) AS reason,
                       cast(? AS timestamptz) AS until
            ), known AS (
                SELECT b.id FROM broker.blocked_subject AS b JOIN wanted AS w
                       ON b.subject = w.subject AND b.match = w.match
                          AND b.tenant IS NOT DISTINCT FROM w.tenant
                          AND b.idp IS NOT DISTINCT FROM w.idp
                          AND b.until IS NOT DISTINCT FROM w.until
                 WHERE b.enabled AND (b.until IS NULL OR b.until > now())
                 ORDER BY b.id LIMIT 1
            ), written AS (
                INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason, until)
                SELECT tenant, idp, subject, match, reason, until FROM wanted
                 WHERE NOT EXISTS (SELECT FROM known)
                RETURNING id
            )
            SELECT id, true AS is_new FROM written UNION ALL SELECT id, false FROM known
            """;

    /** With the settings of key and access provider as they were for the mint. */
    private static final String LIVING =
            """
            SELECT c.tenant, r.subject, c.key, c.provider, c.provider_type, c.mint_id, c.outcome,
                   c.credential_id, c.expires_at,
                   k.settings ->> y.target_setting AS target,
                   coalesce(k.settings ->> 'session_name', '{mint_id}') AS session_name,
                   internal.row_at(c.tenant, 'access_provider', c.provider, c.grant_revision)
                       -> 'settings' ->> 'endpoint' AS endpoint
              FROM audit.active_credential AS c
              JOIN audit.event AS r ON r.mint_id = c.mint_id AND r.step = 1
              JOIN broker.provider_type AS y ON y.type = c.provider_type
             CROSS JOIN LATERAL (
                   SELECT internal.row_at(c.tenant, 'key', c.key, c.grant_revision) -> 'settings')
                   AS k (settings)
             CROSS JOIN (SELECT cast(? AS text) AS tenant, cast(? AS text) AS idp,
                                cast(? AS text) AS subject, cast(? AS text) AS match) AS blocked
             WHERE (blocked.tenant IS NULL OR r.tenant = blocked.tenant)
               AND (blocked.idp IS NULL OR r.idp = blocked.idp)
               AND CASE blocked.match WHEN 'glob'
                        THEN internal.glob_matches(blocked.subject, r.subject)
                        ELSE r.subject = blocked.subject END
             ORDER BY c.provider_type, c.tenant, c.key, c.expires_at, c.mint_id
            """;

    private final Connection connection;

    /**
     * Who is to be blocked.
     *
     * @param tenant where; empty for all tenants
     * @param idp whose subject; empty for any identity provider's
     * @param match {@code exact} or {@code glob}
     */
    public record Block(
            Optional<String> tenant,
            Optional<String> idp,
            String subject,
            String match,
            String reason,
            Optional<Instant> until) {}

    /**
     * The row of a block.
     *
     * @param isNew whether it was written just now
     * @param doubts sentences about what is hardly meant
     */
    public record Written(long id, boolean isNew, List<String> doubts) {}

    /**
     * A credential that lives, or may.
     *
     * @param outcome {@code issued} or {@code withheld} if it was obtained; otherwise only the
     *     provider knows
     * @param target what the key named when it was minted, such as a role
     * @param sessionName the key's template for the names of its sessions, then
     * @param endpoint the access provider's setting of that name
     * @param expiresAt the latest that it can live
     */
    public record Living(
            String tenant,
            String subject,
            String key,
            String provider,
            String type,
            UUID mintId,
            String outcome,
            Optional<String> credentialId,
            Optional<String> target,
            String sessionName,
            Optional<String> endpoint,
            Instant expiresAt) {}

    /**
     * Logs in.
     *
     * @throws QuestionFailed with PostgreSQL's reason
     */
    public BlockedSubjects(DatabaseLogin login) {
        try {
            connection = login.source("mintmark block-subject", SESSION).getConnection();
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }

    /** What the time is by the clock that blocks end by. */
    public Instant now() {
        try (PreparedStatement statement = connection.prepareStatement("SELECT now() AS now");
                ResultSet row = statement.executeQuery()) {
            row.next();
            return time(row, "now");
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }

    /** Blocks a subject; when this returns, no mint starts for it any more. */
    public Written block(Block block) {
        try (PreparedStatement statement = connection.prepareStatement(BLOCK)) {
            whom(statement, block);
            statement.setString(5, block.reason());
            statement.setString(6, block.until().map(Instant::toString).orElse(null));
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Written(row.getLong("id"), row.getBoolean("is_new"), doubts(statement));
            }
        } catch (SQLException e) {
            throw LOCK_NOT_AVAILABLE.equals(e.getSQLState())
                    ? QuestionFailed.because(
                            "nothing is blocked: somebody else's open transaction edits the same"
                                    + " and didn't end within 15 seconds; docs/operations.md, \"An edit"
                                    + " that hangs\", says how to end it",
                            e)
                    : QuestionFailed.because(e);
        }
    }

    private static List<String> doubts(Statement statement) throws SQLException {
        List<String> doubts = new ArrayList<>();
        for (SQLWarning each = statement.getWarnings();
                each != null;
                each = each.getNextWarning()) {
            doubts.add(each.getMessage());
        }
        return doubts;
    }

    /**
     * What the subject holds, or may hold, by type, tenant and key. After its block that is all:
     * each mint has its intent on record before it starts.
     */
    public List<Living> living(Block block) {
        try (PreparedStatement statement = connection.prepareStatement(LIVING)) {
            whom(statement, block);
            List<Living> living = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    living.add(living(rows));
                }
            }
            return living;
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }

    private static void whom(PreparedStatement statement, Block block) throws SQLException {
        statement.setString(1, block.tenant().orElse(null));
        statement.setString(2, block.idp().orElse(null));
        statement.setString(3, block.subject());
        statement.setString(4, block.match());
    }

    private static Living living(ResultSet row) throws SQLException {
        return new Living(
                row.getString("tenant"),
                row.getString("subject"),
                row.getString("key"),
                row.getString("provider"),
                row.getString("provider_type"),
                row.getObject("mint_id", UUID.class),
                row.getString("outcome"),
                Optional.ofNullable(row.getString("credential_id")),
                Optional.ofNullable(row.getString("target")),
                row.getString("session_name"),
                Optional.ofNullable(row.getString("endpoint")),
                time(row, "expires_at"));
    }

    private static Instant time(ResultSet row, String column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
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
