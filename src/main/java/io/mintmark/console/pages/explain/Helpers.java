package io.mintmark.console.pages.explain;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.approvals.RuleLine;
import io.mintmark.console.pages.mints.MintLine;
import io.mintmark.console.pages.mints.MintOutcome;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * Who can give a subject the key that it was denied.
 *
 * @param rules by which the subject may ask for the key
 * @param admins of the tenant, who write grants; none if only platform admins do
 */
record Helpers(String tenant, List<RuleLine> rules, List<String> admins) {
    private static final int MOST = 20;

    private static final String ADMINS =
            """
            SELECT a.role_name FROM broker.tenant_admin AS a
             WHERE a.tenant = ? ORDER BY a.role_name LIMIT ?
            """;

    /** Finds the people who can help with a denial; empty if the mint was not denied. */
    static Optional<Helpers> of(Connection connection, MintLine line) throws SQLException {
        if (line.outcome() != MintOutcome.DENIED || line.tenant().isEmpty()) {
            return Optional.empty();
        }
        String tenant = line.tenant().get();
        return Optional.of(
                new Helpers(
                        tenant,
                        RuleLine.forSubject(
                                connection,
                                tenant,
                                line.key().orElse(""),
                                line.idp().orElse(""),
                                line.subject().orElse("")),
                        Query.of(ADMINS, tenant, MOST)
                                .list(connection, row -> row.getString("role_name"))));
    }
}
