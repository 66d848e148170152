package io.mintmark.admin.subject;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.sql.Query;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;

/** Queries that find the active credentials of a blocked subject. */
final class HeldCredentials {
    /** Whether the request {@code r} is of a subject that {@code blocked} names. */
    private static final String OF_NAME =
            """
            (blocked.tenant IS NULL OR r.tenant = blocked.tenant)
                       AND (blocked.idp IS NULL OR r.idp = blocked.idp)
                       AND CASE blocked.match WHEN 'glob'
                                THEN internal.glob_matches(blocked.subject, r.subject)
                                ELSE r.subject = blocked.subject END\
            """;

    /** Whether the request {@code r} is one that {@code blocked} stops, by its claims on record. */
    static final String OF_SUBJECT =
            OF_NAME + " AND internal.claims_met(blocked.claims, coalesce(r.claims, '{}'))";

    /**
     * Counts further credentials that may be meant: not all of the blocked claims are on record for
     * their tokens.
     */
    static final String UNCERTAIN =
            "WITH "
                    + BlockedSubjects.WANTED
                    + """
                    SELECT count(*) AS credentials
                      FROM audit.active_credential AS c
                      JOIN audit.event AS r ON r.mint_id = c.mint_id AND r.step = 1
                     CROSS JOIN wanted AS blocked
                     CROSS JOIN LATERAL (
                           SELECT coalesce(jsonb_object_agg(k.key, k.value) FILTER (WHERE r.claims -> k.key IS NOT NULL), '{}') AS on_record,
                                  count(*) FILTER (WHERE r.claims -> k.key IS NULL) AS missing
                             FROM jsonb_each(blocked.claims) AS k) AS claims
                     WHERE claims.missing > 0 AND internal.claims_met(claims.on_record, coalesce(r.claims, '{}'))
                       AND %s
                    """
                            .formatted(OF_NAME);

    /**
     * Lists active credentials with the settings that their key and access provider had at the time
     * of the mint.
     */
    static final String LIVING =
            "WITH "
                    + BlockedSubjects.WANTED
                    + """
                    SELECT c.tenant, r.subject, c.key, c.provider, c.provider_type, c.mint_id, c.outcome,
                           c.credential_id, c.expires_at,
                           k.settings ->> y.target_setting AS target,
                           coalesce(k.settings ->> 'session_name', '{mint_id}') AS session_name,
                           internal.row_at(c.tenant, 'access_provider', c.provider, c.grant_revision)
                               -> 'settings' ->> 'endpoint' AS endpoint
                      FROM audit.active_credential AS c
                      JOIN audit.event AS r ON r.mint_id = c.mint_id AND r.step = 1
                      JOIN broker.provider_type AS y ON y.type = c.provider_type
                     CROSS JOIN LATERAL (
                           SELECT internal.row_at(c.tenant, 'key', c.key, c.grant_revision) -> 'settings')
                           AS k (settings)
                     CROSS JOIN wanted AS blocked
                     WHERE %s
                     ORDER BY c.provider_type, c.tenant, c.key, c.expires_at, c.mint_id
                    """
                            .formatted(OF_SUBJECT);

    private HeldCredentials() {}

    static ActiveCredential living(ResultSet row) throws SQLException {
        return new ActiveCredential(
                row.getString("tenant"),
                row.getString("subject"),
                row.getString("key"),
                row.getString("provider"),
                row.getString("provider_type"),
                row.getObject("mint_id", UUID.class),
                row.getString("outcome"),
                Query.text(row, "credential_id"),
                Query.text(row, "target"),
                row.getString("session_name"),
                Query.text(row, "endpoint"),
                Query.time(row, "expires_at"));
    }
}
