package io.mintmark.console.pages.explain;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;

/** Claims to try an explanation with: a grant in force that the viewer sees matches them. */
final class ExampleClaims {
    /**
     * Takes the claims from a grant that is in force. If there is none, they are accepted by one of
     * the tenants' identity providers. Grants with a condition at a JSON pointer are no example.
     */
    private static final String EXAMPLE =
            """
            SELECT jsonb_build_object('iss', e.issuer, 'aud', e.audience,
                       'sub', coalesce(CASE e.match WHEN 'glob' THEN regexp_replace(e.subject, '[*]+', 'x', 'g')
                                                    ELSE e.subject END,
                                       'repo:acme@1234567/shop@7654321:ref:refs/heads/main'))
                   || coalesce((SELECT jsonb_object_agg(c.name, CASE jsonb_typeof(c.value)
                                           WHEN 'array' THEN c.value -> 0
                                           WHEN 'object' THEN to_jsonb(regexp_replace(c.value ->> 'glob', '[*]+', 'x', 'g'))
                                           ELSE c.value END)
                                  FROM jsonb_each(e.conditions) AS c (name, value)), '{}') AS claims
              FROM (SELECT t.name FROM broker.tenant AS t WHERE t.enabled ORDER BY t.name LIMIT 20) AS t
             CROSS JOIN LATERAL (
                   SELECT p.issuer, p.audiences[1] AS audience, g.subject, g.match,
                          p.required_claims || coalesce(g.claims, '{}') AS conditions
                     FROM (SELECT n.* FROM broker.identity_provider AS n
                            WHERE n.tenant = t.name AND n.enabled ORDER BY n.name LIMIT 5) AS p
                     LEFT JOIN (SELECT n.* FROM broker.subject_grant AS n
                                 WHERE n.tenant = t.name ORDER BY n.tenant, n.key LIMIT 100) AS g
                            ON g.idp = p.name AND g.enabled
                           AND (g.valid_from IS NULL OR g.valid_from <= now())
                           AND (g.valid_until IS NULL OR g.valid_until > now())
                    ORDER BY g.subject IS NULL, g.match, g.id LIMIT 1) AS e
             WHERE NOT EXISTS (SELECT FROM jsonb_object_keys(e.conditions) AS c (name) WHERE starts_with(c.name, '/'))
             ORDER BY e.subject IS NULL, t.name LIMIT 1
            """;

    private static final String EXAMPLE_OF_NONE =
            "{\"iss\": \"https://token.actions.githubusercontent.com\", \"aud\": \"mintmark-acme\","
                    + " \"sub\": \"repo:acme@1234567/shop@7654321:ref:refs/heads/main\"}";

    private ExampleClaims() {}

    /** The claims as JSON. */
    static String of(Connection connection) throws SQLException {
        return Query.of(EXAMPLE)
                .first(connection, row -> row.getString("claims"))
                .orElse(EXAMPLE_OF_NONE);
    }
}
