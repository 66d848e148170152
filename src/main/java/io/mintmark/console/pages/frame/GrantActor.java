package io.mintmark.console.pages.frame;

import io.mintmark.base.sql.Query;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Who must ask on a subject's behalf for a grant to count.
 *
 * @param match exact or glob
 */
public record GrantActor(String idp, String match, String name) {
    /**
     * Reads the actor from {@code actor_idp}, {@code actor_match} and {@code actor}; empty if the
     * grant is for the subject itself.
     */
    public static Optional<GrantActor> of(ResultSet row) throws SQLException {
        Optional<String> name = Query.text(row, "actor");
        return name.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new GrantActor(
                                row.getString("actor_idp"),
                                row.getString("actor_match"),
                                name.get()));
    }
}
