package io.mintmark.console.pages.proof;

import io.mintmark.audit.note.CosignedNote;
import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The last cosignature of a witness.
 *
 * @param witness the name of its key
 * @param tree its number
 * @param size of the tree
 * @param at as the witness says; none if the cosignature can't be read
 */
record CosignatureLine(String witness, long tree, long size, Optional<Instant> at) {
    /** The maximum number of witnesses; further ones are left out. */
    static final int MOST = 1_000;

    private static final String LATEST =
            """
            SELECT DISTINCT ON (s.witness) s.witness, s.tree, s.size, s.line
              FROM (SELECT c.witness, c.tree, c.size, c.line FROM audit.cosignature AS c
                     ORDER BY c.number DESC LIMIT ?) AS s
             ORDER BY s.witness, s.tree DESC, s.size DESC
            """;

    /** The last cosignature of each witness. */
    static List<CosignatureLine> latest(Connection connection) throws SQLException {
        return Query.of(LATEST, MOST).list(connection, CosignatureLine::of);
    }

    private static CosignatureLine of(ResultSet row) throws SQLException {
        return new CosignatureLine(
                row.getString("witness"),
                row.getLong("tree"),
                row.getLong("size"),
                time(row.getString("line")));
    }

    private static Optional<Instant> time(String line) {
        try {
            return Optional.of(CosignedNote.parse(line).at());
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
