package io.mintmark.postgres;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds out whether the service's login could change the audit log: then the log would prove
 * nothing against whoever takes over the service.
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
                 WHERE n.nspname = 'audit' AND c.relkind IN ('r', 'p'))
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

    private final Queries queries;

    public LoginCheck(Database database) {
        this.queries = database.reading();
    }

    /** What the login could do to the audit log, as the end of a sentence; nothing if it can't. */
    public Optional<String> power() {
        List<String> powers =
                queries.query(POWERS, Map.of(), row -> row.column("power").get(String.class));
        return powers.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", powers));
    }
}
