package io.mintmark.console.pages;

import java.sql.Connection;
import java.sql.SQLException;

/** Claims to try an explanation with: they lead to an identity provider that the viewer sees. */
final class ExampleClaims {
    /** A subject that a grant names shows the most. */
    private static final String EXAMPLE =
            """
            SELECT jsonb_build_object('iss', p.issuer, 'aud', p.audiences[1],
                       'sub', coalesce((SELECT g.subject FROM broker.subject_grant AS g
                                         WHERE g.tenant = p.tenant AND g.idp = p.name AND g.match = 'exact'
                                         ORDER BY g.id LIMIT 1),
                                       'repo:acme/shop:ref:refs/heads/main')) AS claims
              FROM (SELECT t.name FROM broker.tenant AS t WHERE t.enabled ORDER BY t.name LIMIT 20) AS t
             CROSS JOIN LATERAL (SELECT n.* FROM broker.identity_provider AS n
                                  WHERE n.tenant = t.name AND n.enabled ORDER BY n.name LIMIT 1) AS p
             LIMIT 1
            """;

    private static final String EXAMPLE_OF_NONE =
            "{\"iss\": \"https://token.actions.githubusercontent.com\", \"aud\": \"mintmark-acme\", \"sub\": \"repo:acme/shop:ref:refs/heads/main\"}";

    private ExampleClaims() {}

    /** As JSON. */
    static String of(Connection connection) throws SQLException {
        return Query.of(EXAMPLE)
                .first(connection, row -> row.getString("claims"))
                .orElse(EXAMPLE_OF_NONE);
    }
}
