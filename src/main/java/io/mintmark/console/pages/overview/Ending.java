package io.mintmark.console.pages.overview;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Links;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Configuration that stops working soon by itself: a grant, or the certificate of an authority.
 *
 * @param table in the schema {@code broker}
 * @param row by which its table knows it
 * @param what it is, for people
 */
record Ending(Optional<String> tenant, String table, String row, String what, Instant at) {
    static final int GRANTS_WITHIN = 7;
    static final int CERTIFICATES_WITHIN = 30;
    static final int MOST = 200;

    private static final String SOON =
            """
            (SELECT g.tenant, 'subject_grant' AS table_name, g.grant_id::text AS row,
                    g.key || ' for ' || g.subject AS what, g.valid_until AS ends_at
               FROM broker.grant_ending_soon AS g
              WHERE g.valid_until <= now() + ? * interval '1 day' ORDER BY g.valid_until LIMIT ?)
            UNION ALL
            (SELECT a.tenant, 'access_provider', a.name,
                    'certificate of ' || a.type || ' authority ' || a.name, f.not_after
               FROM broker.access_provider AS a
              CROSS JOIN LATERAL internal.certificate_facts(a.settings ->> 'ca_certificate') AS f
              WHERE a.enabled AND a.settings ->> 'ca_certificate' IS NOT NULL
                AND f.not_after <= now() + ? * interval '1 day' ORDER BY f.not_after LIMIT ?)
            UNION ALL
            (SELECT p.tenant, 'identity_provider', p.name,
                    'certificate of the server of identity provider ' || p.name, f.not_after
               FROM broker.identity_provider AS p
              CROSS JOIN LATERAL internal.certificate_facts(p.ca_certificate) AS f
              WHERE p.enabled AND p.ca_certificate IS NOT NULL
                AND f.not_after <= now() + ? * interval '1 day' ORDER BY f.not_after LIMIT ?)
            ORDER BY ends_at LIMIT ?
            """;

    /** The first to end, as many as are counted. */
    static List<Ending> soon(Connection connection) throws SQLException {
        return Query.of(
                        SOON,
                        GRANTS_WITHIN,
                        MOST,
                        CERTIFICATES_WITHIN,
                        MOST,
                        CERTIFICATES_WITHIN,
                        MOST,
                        MOST)
                .list(
                        connection,
                        row ->
                                new Ending(
                                        Query.text(row, "tenant"),
                                        row.getString("table_name"),
                                        row.getString("row"),
                                        row.getString("what"),
                                        Query.time(row, "ends_at")));
    }

    /** Where it is, with what was changed in it. */
    String address() {
        return Links.history(tenant, table, row);
    }
}
