package io.mintmark.console.pages;

import io.mintmark.console.pages.MintSearch.Found;
import io.mintmark.console.pages.MintSearch.Wanted;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a subject may mint now, and what it got.
 *
 * @param subject none if none was named yet
 * @param grants those in force that nothing blocks
 * @param blocks those that the viewer may see
 * @param lately subjects that asked lately, as long as none was named
 * @param everywhere whether it is blocked in all tenants
 * @param activity none if no subject was named yet
 */
record SubjectPage(
        Optional<String> subject,
        List<String> lately,
        List<GrantLine> grants,
        List<Block> blocks,
        boolean everywhere,
        Optional<SubjectActivity> activity,
        Found mints,
        List<Statements.Statement> statements) {

    static final int MOST = 100;
    private static final int MINTS = 20;
    private static final int BLOCKS_LOOKED_AT = 20;
    private static final int BLOCKS_SHOWN = 3;
    private static final int LATEST = 50;
    private static final int LATELY_SHOWN = 8;

    private static final String BLOCKS =
            """
            SELECT b.tenant, b.idp, b.subject, b.match, b.reason, b.until, b.created_by, b.created_at
              FROM broker.blocked_subject AS b
             WHERE b.id = ANY (ARRAY(SELECT f.id FROM internal.blocks_of(?, ?) AS f (id)))
             ORDER BY b.created_at
            """;

    /** Blocks of all tenants are platform admins' to see; that there is one isn't. */
    private static final String EVERYWHERE =
            "SELECT internal.is_blocked_in_all_tenants('exact', ?, now())";

    /** A block in force that the subject meets. */
    record Block(
            Optional<String> tenant,
            Optional<String> idp,
            String subject,
            String match,
            String reason,
            Optional<Instant> until,
            String by,
            Instant at) {}

    static SubjectPage of(Connection connection, Optional<String> subject, Instant now)
            throws SQLException {
        if (subject.isEmpty()) {
            return new SubjectPage(
                    subject,
                    lately(connection, now),
                    List.of(),
                    List.of(),
                    false,
                    Optional.empty(),
                    new Found(List.of(), Optional.empty(), Optional.empty()),
                    List.of());
        }
        String name = subject.get();
        List<GrantLine> grants = GrantLine.ofSubject(connection, name, MOST);
        Found mints = MintSearch.find(connection, Wanted.ofSubject(name), MINTS, now);
        SubjectActivity activity = SubjectActivity.of(connection, name, now);
        return new SubjectPage(
                subject,
                List.of(),
                grants,
                blocks(connection, name),
                Query.of(EVERYWHERE, name)
                        .first(connection, row -> row.getBoolean(1))
                        .orElse(false),
                Optional.of(activity),
                mints,
                statements(name, grants, mints, activity.outstanding(now)));
    }

    private static List<String> lately(Connection connection, Instant now) throws SQLException {
        return MintSearch.find(connection, Wanted.ofOutcome(Optional.empty()), LATEST, now)
                .lines()
                .stream()
                .flatMap(line -> line.subject().stream())
                .distinct()
                .limit(LATELY_SHOWN)
                .toList();
    }

    private static List<Block> blocks(Connection connection, String subject) throws SQLException {
        return Query.of(BLOCKS, subject, BLOCKS_LOOKED_AT)
                .list(
                        connection,
                        row ->
                                new Block(
                                        Query.text(row, "tenant"),
                                        Query.text(row, "idp"),
                                        row.getString("subject"),
                                        row.getString("match"),
                                        row.getString("reason"),
                                        Query.timeIfAny(row, "until"),
                                        row.getString("created_by"),
                                        Query.time(row, "created_at")));
    }

    /** One for each tenant in which it has or had something. */
    private static List<Statements.Statement> statements(
            String subject, List<GrantLine> grants, Found mints, Outstanding out) {
        return Stream.concat(
                        grants.stream().map(GrantLine::tenant),
                        mints.lines().stream().flatMap(line -> line.tenant().stream()))
                .distinct()
                .limit(BLOCKS_SHOWN)
                .map(tenant -> Statements.block(tenant, Optional.empty(), subject, out))
                .toList();
    }

    /** Whether it is blocked everywhere by a row that the viewer may not see. */
    boolean isBlockedUnseen() {
        return everywhere && blocks.stream().allMatch(block -> block.tenant().isPresent());
    }

    boolean isKnown() {
        return !grants.isEmpty() || !mints.lines().isEmpty() || !blocks.isEmpty() || everywhere;
    }
}
