package io.mintmark.base.schema;

import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.Roles;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Finds out whether the console's login could see or do more than row-level security lets its
 * viewers see.
 */
public final class ConsoleLoginCheck {
    /** Looks at the login and at every role that it could turn into. */
    private static final String POWERS =
            """
            WITH self AS (
                SELECT r.oid, r.rolname, r.rolsuper, r.rolbypassrls, r.rolcreaterole, r.rolreplication
                  FROM pg_catalog.pg_roles AS r
                 WHERE pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')),
            ours AS (
                SELECT c.oid, c.relowner, c.relname, c.relkind, c.relrowsecurity, n.nspname
                  FROM pg_catalog.pg_class AS c
                  JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                 WHERE n.nspname IN ('broker', 'audit', 'log', 'runtime', 'work', 'internal')
                   AND c.relkind IN ('r', 'p', 'v', 'm'))
            SELECT 'is a superuser' AS power FROM self WHERE rolsuper
            UNION
            SELECT 'passes row-level security (BYPASSRLS)' FROM self WHERE rolbypassrls AND NOT rolsuper
            UNION
            SELECT 'may make roles (CREATEROLE)' FROM self WHERE rolcreaterole AND NOT rolsuper
            UNION
            SELECT 'may replicate the database' FROM self WHERE rolreplication AND NOT rolsuper
            UNION
            SELECT 'is a member of ' || rolname FROM self WHERE rolname = ANY (?)
            UNION
            SELECT 'owns ' || n.nspname
              FROM self JOIN pg_catalog.pg_namespace AS n ON n.nspowner = self.oid
             WHERE n.nspname IN ('broker', 'audit', 'log', 'runtime', 'work', 'internal')
            UNION
            SELECT 'owns tables of ' || ours.nspname FROM self JOIN ours ON ours.relowner = self.oid
            UNION
            SELECT 'may write ' || ours.nspname || '.' || ours.relname
              FROM self, ours, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS privilege
             WHERE ours.relkind IN ('r', 'p') AND NOT self.rolsuper
               AND pg_catalog.has_table_privilege(self.oid, ours.oid, privilege)
            UNION
            SELECT 'may read ' || ours.nspname || '.' || ours.relname || ' past row-level security'
              FROM self, ours
             WHERE ours.relkind IN ('r', 'p') AND NOT ours.relrowsecurity AND NOT self.rolsuper
               AND (ours.nspname, ours.relname) <> ('runtime', 'schema_version')
               AND pg_catalog.has_any_column_privilege(self.oid, ours.oid, 'SELECT')
             ORDER BY power
            """;

    private static final String MEMBER =
            "SELECT pg_catalog.pg_has_role(session_user, oid, 'USAGE') FROM pg_catalog.pg_roles"
                    + " WHERE rolname = ?";

    private static final String EVERYTHING = "is a superuser";

    /** The maximum number of privileges in a message, so that the message fits into a line. */
    private static final int SHOWN = 5;

    private final DatabaseLogin login;
    private final Roles roles;

    public ConsoleLoginCheck(DatabaseLogin login, Roles roles) {
        this.login = login;
        this.roles = roles;
    }

    /**
     * Requires that the login has exactly the permissions that a console needs.
     *
     * @throws DatabaseUnfit with what is too much or missing
     */
    public void require() {
        try (Connection connection = login.source("mintmark console", "").getConnection()) {
            List<String> powers = powers(connection);
            if (!powers.isEmpty()) {
                throw new DatabaseUnfit(
                        ("login '%s' %s, so a faulty page could show more than its viewer may see;"
                                        + " make the login a member of role '%s' only (db/roles.sql)")
                                .formatted(
                                        login.username(),
                                        String.join(
                                                ", ",
                                                powers.subList(0, Math.min(powers.size(), SHOWN))),
                                        roles.console()));
            }
            if (!isMember(connection)) {
                throw new DatabaseUnfit(
                        ("login '%s' is not a member of role '%s' (db/roles.sql), so the "
                                        + "console would show nothing")
                                .formatted(login.username(), roles.console()));
            }
        } catch (SQLException e) {
            throw DatabaseUnfit.because(e);
        }
    }

    private List<String> powers(Connection connection) throws SQLException {
        List<String> others =
                List.of(
                        roles.owner(),
                        roles.app(),
                        roles.admin(),
                        roles.tenantAdmin(),
                        roles.auditor());
        List<String> powers =
                Query.of(POWERS, others).list(connection, row -> row.getString("power"));
        return powers.contains(EVERYTHING) ? List.of(EVERYTHING) : powers;
    }

    private boolean isMember(Connection connection) throws SQLException {
        return Query.of(MEMBER, roles.console())
                .first(connection, row -> row.getBoolean(1))
                .orElse(false);
    }
}
