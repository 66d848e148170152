package io.mintmark.base.schema;

import io.helidon.dbclient.DbRow;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.Queries;
import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.sql.Roles;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Checks whether the service's login could change the audit log, which would then prove nothing
 * after the service is compromised.
 */
public final class LoginCheck {
    /**
     * Looks at the login and at every role that it could turn into, and at what would let it get
     * around the triggers.
     */
    private static final String POWERS =
            """
            WITH self AS (
                SELECT r.oid, r.rolname, r.rolsuper
                  FROM pg_catalog.pg_roles AS r
                 WHERE pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')),
            log AS (
                SELECT c.oid, c.relowner
                  FROM pg_catalog.pg_class AS c
                  JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                 WHERE n.nspname = 'log' AND c.relkind IN ('r', 'p'))
            SELECT 'is a superuser' AS power FROM self WHERE rolsuper
            UNION
            SELECT 'owns the audit log' FROM self JOIN log ON log.relowner = self.oid
            UNION
            SELECT 'may ' || privilege || ' rows of the audit log'
              FROM self, log, unnest(ARRAY['UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) AS privilege
             WHERE pg_catalog.has_table_privilege(self.oid, log.oid, privilege)
            UNION
            SELECT 'may switch off triggers with session_replication_role'
              FROM self
             WHERE pg_catalog.has_parameter_privilege(
                       self.oid, 'session_replication_role', 'SET')
             ORDER BY power
            """;

    private static final String SCHEMA =
            """
            SELECT count(*) AS present,
                   count(*) FILTER (
                       WHERE pg_catalog.has_schema_privilege(n.oid, 'USAGE')
                         AND pg_catalog.has_table_privilege(c.oid, 'INSERT')) AS writable
              FROM pg_catalog.pg_class AS c
              JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
             WHERE n.nspname = 'log' AND c.relname = 'event'
            """;

    private static final String MISSING_ROLES =
            """
            SELECT name FROM unnest(cast(:names AS text[])) WITH ORDINALITY AS wanted (name, position)
             WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.rolname = wanted.name)
             ORDER BY position
            """;

    /** Neither limit is set: -1. A superuser has none. */
    private static final String CONNECTIONS =
            """
            SELECT coalesce(least(nullif(r.rolconnlimit, -1), nullif(d.datconnlimit, -1)), -1) AS most
              FROM pg_catalog.pg_roles AS r, pg_catalog.pg_database AS d
             WHERE r.rolname = session_user AND d.datname = pg_catalog.current_database()
            """;

    private static final String LIMITS =
            """
            SELECT EXISTS (SELECT FROM pg_catalog.pg_event_trigger WHERE evtname = 'mintmark_limits' AND evtenabled = 'A')
               AND NOT EXISTS (SELECT FROM pg_catalog.pg_proc AS p
                                WHERE p.pronamespace = 'pg_catalog'::regnamespace
                                  AND p.proname IN ('pg_advisory_lock', 'pg_logical_emit_message')
                                  AND pg_catalog.has_function_privilege('public', p.oid, 'EXECUTE'))
                   AS limited,
                   cast(pg_catalog.current_setting('max_prepared_transactions') AS int) AS prepared
            """;

    /**
     * What a server lets each login do.
     *
     * @param limited whether {@code db/limit-logins.sql} is in force
     * @param prepared how many transactions may be prepared, which keep locks without a session
     */
    public record Limits(boolean limited, int prepared) {}

    private record Found(boolean present, boolean writable) {}

    private final Queries queries;

    public LoginCheck(Database database) {
        this.queries = database.reading();
    }

    /**
     * Sees to it that the login can do its work.
     *
     * @throws DatabaseUnfit if the schema isn't there, or isn't the login's to use
     */
    public void requireSchema() {
        Found found = asked(() -> queries.query(SCHEMA, Map.of(), LoginCheck::found)).getFirst();
        if (!found.present()) {
            throw new DatabaseUnfit("the database has no schema yet; run: mintmark migrate");
        }
        if (!found.writable()) {
            throw new DatabaseUnfit(
                    "the login may not write the audit log; make it a member of the service's role"
                            + " (db/roles.sql)");
        }
    }

    private static Found found(DbRow row) {
        return new Found(
                row.column("present").get(Long.class) > 0,
                row.column("writable").get(Long.class) > 0);
    }

    /**
     * Requires that the database answers this login.
     *
     * @throws DatabaseUnfit if it doesn't
     */
    public void requireAnswer() {
        var _ = asked(() -> queries.query("SELECT 1 AS one", Map.of(), row -> row));
    }

    /**
     * The roles that don't exist.
     *
     * @throws DatabaseUnfit if that can't be determined
     */
    public List<String> missing(Roles roles) {
        return asked(() ->
                queries.query(
                        MISSING_ROLES,
                        Map.of("names", roles.names()),
                        row -> row.column("name").get(String.class)));
    }

    /**
     * The changes that the login could make to the audit log, as the end of a sentence; empty if
     * none.
     *
     * @throws DatabaseUnfit if that can't be found out
     */
    public Optional<String> power() {
        List<String> powers =
                asked(() ->
                        queries.query(
                                POWERS, Map.of(), row -> row.column("power").get(String.class)));
        return powers.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", powers));
    }

    /**
     * The maximum number of connections that the login may have open, of all replicas together: the
     * {@code CONNECTION LIMIT} of the login or of the database, whichever is lower; empty without a
     * limit.
     *
     * @throws DatabaseUnfit if the limit can't be determined
     */
    public Optional<Integer> mostConnections() {
        return asked(() ->
                        queries.query(
                                CONNECTIONS,
                                Map.of(),
                                row -> row.column("most").get(Integer.class)))
                .stream()
                .filter(most -> most >= 0)
                .findFirst();
    }

    /**
     * The limits of all logins.
     *
     * @throws DatabaseUnfit if they can't be determined
     */
    public Limits limits() {
        return asked(() ->
                        queries.query(
                                LIMITS,
                                Map.of(),
                                row ->
                                        new Limits(
                                                row.column("limited").get(Boolean.class),
                                                row.column("prepared").get(Integer.class))))
                .getFirst();
    }

    private static <T> T asked(Supplier<T> question) {
        try {
            return question.get();
        } catch (QueryFailed e) {
            throw DatabaseUnfit.because(e);
        }
    }
}
