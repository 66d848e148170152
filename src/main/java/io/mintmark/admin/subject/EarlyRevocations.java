package io.mintmark.admin.subject;

import io.mintmark.admin.subject.BlockedSubjects.Block;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.QuestionFailed;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Ends credentials of blocked subjects, with the permissions of the user's login. */
public final class EarlyRevocations {
    /**
     * Ends the credentials that {@code broker.ended_credential} can end and that aren't ended yet.
     */
    private static final String END =
            "WITH "
                    + BlockedSubjects.WANTED
                    + """
                    , living AS (
                        SELECT c.mint_id, y.leaves_behind
                          FROM audit.active_credential AS c
                          JOIN audit.event AS r ON r.mint_id = c.mint_id AND r.step = 1
                          JOIN broker.provider_type AS y ON y.type = c.provider_type
                         CROSS JOIN wanted AS blocked
                         WHERE %s
                           AND (y.leaves_behind OR y.ends_early AND c.outcome <> 'failed')
                    ), ended AS (
                        INSERT INTO broker.ended_credential (mint_id, reason)
                        SELECT l.mint_id, cast(? AS text) FROM living AS l ORDER BY l.mint_id
                            ON CONFLICT (mint_id) DO NOTHING
                    )
                    SELECT l.mint_id, l.leaves_behind FROM living AS l
                    """
                            .formatted(HeldCredentials.OF_SUBJECT);

    private static final String ENDED =
            """
            SELECT d.mint_id, d.occurred_at FROM audit.event AS d
             WHERE d.mint_id = ANY (?) AND d.step = 3
            """;

    private static final String WHY_NOT =
            """
            SELECT u.mint_id, coalesce(nullif(u.last_failure, ''), 'no replica has tried it yet') AS why
              FROM audit.unended AS u WHERE u.mint_id = ANY (?)
            """;

    private final Connection connection;

    EarlyRevocations(Connection connection) {
        this.connection = connection;
    }

    /**
     * Mints whose end was asked for, now or earlier.
     *
     * @param listed whose servers read a list
     * @param asked that replicas end at the provider
     */
    public record Asked(Set<UUID> listed, Set<UUID> asked) {}

    /** Ends the subject's credentials as far as the broker can; doesn't wait for the replicas. */
    public Asked end(Block block) {
        Asked ends = new Asked(new HashSet<>(), new HashSet<>());
        each(
                BlockedSubjects.query(END, block, block.reason()),
                row -> {
                    Set<UUID> these =
                            row.getBoolean("leaves_behind") ? ends.asked() : ends.listed();
                    these.add(row.getObject("mint_id", UUID.class));
                });
        return ends;
    }

    /** The mints among these whose credentials have ended, each with the time of its end. */
    public Map<UUID, Instant> ended(Collection<UUID> mints) {
        return asked(ENDED, mints, row -> Query.time(row, "occurred_at"));
    }

    /** The known reasons why these mints haven't ended yet, by mint id. */
    public Map<UUID, String> whyNot(Collection<UUID> mints) {
        return asked(WHY_NOT, mints, row -> row.getString("why"));
    }

    private <T> Map<UUID, T> asked(String sql, Collection<UUID> mints, Query.Mapping<T> column) {
        Map<UUID, T> found = new HashMap<>();
        each(
                Query.of(sql, List.copyOf(mints)),
                row -> found.put(row.getObject("mint_id", UUID.class), column.map(row)));
        return found;
    }

    private void each(Query query, Query.Rows rows) {
        try {
            query.each(connection, rows);
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }
}
