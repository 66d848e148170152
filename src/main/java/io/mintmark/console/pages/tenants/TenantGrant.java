package io.mintmark.console.pages.tenants;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.GrantActor;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A grant of a tenant, in force or not. */
record TenantGrant(
        long id,
        String idp,
        String match,
        String subject,
        Optional<GrantActor> actor,
        String key,
        Optional<String> claims,
        boolean enabled,
        Optional<Instant> from,
        Optional<Instant> until,
        Optional<String> reason,
        String by,
        Instant at) {
    private static final String GRANTS_OF =
            """
            SELECT g.id, g.idp, g.match, g.subject, g.actor_idp, g.actor_match, g.actor, g.key, nullif(g.claims, '{}')::text AS claims,
                   g.enabled, g.valid_from, g.valid_until, g.reason, g.created_by, g.created_at
              FROM broker.subject_grant AS g
             WHERE g.tenant = ? AND g.id > ? AND strpos(g.subject || ' ' || g.key, ?) > 0 ORDER BY g.id LIMIT ?
            """;

    /**
     * The grants of a tenant by their numbers.
     *
     * @param after the number before the first
     * @param with text in the subject or the key; empty for all
     */
    static List<TenantGrant> of(
            Connection connection, String tenant, long after, String with, int most)
            throws SQLException {
        return Query.of(GRANTS_OF, tenant, after, with, most).list(connection, TenantGrant::of);
    }

    private static TenantGrant of(ResultSet row) throws SQLException {
        return new TenantGrant(
                row.getLong("id"),
                row.getString("idp"),
                row.getString("match"),
                row.getString("subject"),
                GrantActor.of(row),
                row.getString("key"),
                Query.text(row, "claims"),
                row.getBoolean("enabled"),
                Query.timeIfAny(row, "valid_from"),
                Query.timeIfAny(row, "valid_until"),
                Query.text(row, "reason"),
                row.getString("created_by"),
                Query.time(row, "created_at"));
    }

    /** Whether the grant is enabled and {@code now} is between its start and its end. */
    boolean isInForce(Instant now) {
        return enabled
                && from.filter(begin -> begin.isAfter(now)).isEmpty()
                && until.filter(end -> !end.isAfter(now)).isEmpty();
    }
}
