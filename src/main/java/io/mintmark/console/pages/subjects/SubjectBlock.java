package io.mintmark.console.pages.subjects;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.statements.Outstanding;
import io.mintmark.console.pages.statements.Statements;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A block in force that covers a subject, as far as the viewer may see.
 *
 * @param tenant none if it applies in all tenants
 * @param idp none if it applies to any identity provider
 * @param subject as the block has it, possibly a glob
 */
public record SubjectBlock(
        long id,
        Optional<String> tenant,
        Optional<String> idp,
        String subject,
        String match,
        String reason,
        Optional<Instant> until,
        String by,
        Instant at) {

    private static final int LOOKED_AT = 20;

    private static final String BLOCKS =
            """
            SELECT b.id, b.tenant, b.idp, b.subject, b.match, b.reason, b.until, b.created_by,
                   b.created_at
              FROM broker.blocked_subject AS b
             WHERE b.id = ANY (ARRAY(SELECT f.id FROM internal.blocks_of(?, ?) AS f (id)))
             ORDER BY b.created_at
            """;

    /** Blocks of all tenants are platform admins' to see; that there is one isn't. */
    private static final String EVERYWHERE =
            "SELECT internal.is_blocked_in_all_tenants('exact', ?, now())";

    /** The blocks in force that cover a subject and that the viewer may see, the oldest first. */
    public static List<SubjectBlock> of(Connection connection, String subject) throws SQLException {
        return Query.of(BLOCKS, subject, LOOKED_AT).list(connection, SubjectBlock::block);
    }

    /**
     * Some of the blocks in force in a tenant, including those for all tenants.
     *
     * @param with text in their subjects; empty for all
     */
    public static List<SubjectBlock> inTenant(
            Connection connection, String tenant, String with, int most) throws SQLException {
        String all =
                Stream.of("= ?", "IS NULL")
                        .flatMap(of ->
                                Stream.of("exact", "glob").map(match -> ofKind(of, match, most)))
                        .collect(Collectors.joining(" UNION ALL "));
        return Query.of(
                        all + " ORDER BY created_at DESC, id DESC LIMIT " + most,
                        tenant,
                        with,
                        tenant,
                        with,
                        with,
                        with)
                .list(connection, SubjectBlock::block);
    }

    /** Selects blocks of one kind by an index, without reading other tenants' rows. */
    private static String ofKind(String ofTenant, String match, int most) {
        return """
        (SELECT b.id, b.tenant, b.idp, b.subject, b.match, b.reason, b.until, b.created_by, b.created_at
           FROM broker.blocked_subject AS b
          WHERE b.tenant %s AND b.match = '%s' AND b.enabled AND (b.until IS NULL OR b.until > now())
            AND strpos(b.subject, ?) > 0 LIMIT %d)
        """
                .formatted(ofTenant, match, most);
    }

    /** Whether a subject is blocked in all tenants, by a block that the viewer sees or not. */
    public static boolean isEverywhere(Connection connection, String subject) throws SQLException {
        return Query.of(EVERYWHERE, subject)
                .first(connection, row -> row.getBoolean(1))
                .orElse(false);
    }

    private static SubjectBlock block(ResultSet row) throws SQLException {
        return new SubjectBlock(
                row.getLong("id"),
                Query.text(row, "tenant"),
                Query.text(row, "idp"),
                row.getString("subject"),
                row.getString("match"),
                row.getString("reason"),
                Query.timeIfAny(row, "until"),
                row.getString("created_by"),
                Query.time(row, "created_at"));
    }

    /** Whether the subject's tokens from an identity provider get nothing in a tenant by it. */
    public boolean covers(String inTenant, Optional<String> fromIdp) {
        return tenant.filter(name -> !name.equals(inTenant)).isEmpty()
                && (idp.isEmpty() || idp.equals(fromIdp));
    }

    /** Whether this block would make another one of the same subject and scope a duplicate. */
    private boolean standsFor(String inTenant, Optional<String> fromIdp) {
        return match.equals("exact") && tenant.equals(Optional.of(inTenant)) && idp.equals(fromIdp);
    }

    /**
     * A statement that blocks the subject, or blocks it for longer; empty if it is blocked without
     * an end.
     *
     * @param there the existing blocks that match the subject
     * @param fromIdp the identity provider whose tokens are meant; empty for any
     */
    public static Optional<Statements.Statement> further(
            List<SubjectBlock> there,
            String inTenant,
            Optional<String> fromIdp,
            String subject,
            Outstanding out) {
        boolean blocked =
                there.stream()
                        .anyMatch(block ->
                                block.until().isEmpty() && block.covers(inTenant, fromIdp));
        if (blocked) {
            return Optional.empty();
        }
        return there.stream()
                .filter(block -> block.standsFor(inTenant, fromIdp))
                .findFirst()
                .map(block -> Statements.blockLonger(inTenant, block.idp(), block.id(), out))
                .or(() -> Optional.of(Statements.block(inTenant, fromIdp, subject, out)));
    }
}
