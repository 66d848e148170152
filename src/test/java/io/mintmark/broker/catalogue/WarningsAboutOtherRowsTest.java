package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.StatementWarnings;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.sql.SQLException;
import java.util.List;

/** A statement warns of what it causes in rows of other tables, and of nothing else there. */
class WarningsAboutOtherRowsTest {
    private static final String ROWS =
            """
            INSERT INTO broker.tenant (name) VALUES ('acme');
            INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims)
            VALUES ('sso', 'acme', 'https://sso.example.com', '{mintmark}', '{"org": "acme"}'),
                   ('github', 'acme', 'https://token.actions.githubusercontent.com', '{acme}', '{"repository_owner_id": "1234567"}');
            INSERT INTO broker.access_provider (tenant, name, type, settings)
            VALUES ('acme', 'aws', 'aws-sts', '{"region": "eu-central-1"}'), ('acme', 'own', 'jwt', '{}');
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
            SELECT 'acme', n, 'aws', 900, jsonb_build_object('role_arn', 'arn:aws:iam::123456789012:role/' || n)
              FROM unnest('{deploy,read}'::text[]) AS n;
            INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, end_credentials)
            VALUES ('acme', 'deploy', 'sso', 'dev:eve', 7200, true), ('acme', 'read', 'sso', 'dev:eve', 7200, false);
            INSERT INTO broker.access_approver (rule, idp, subject, match)
            VALUES (1, 'sso', 'lead:ann', 'exact'), (2, 'sso', 'lead:*', 'glob');
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, claims)
            VALUES ('acme', 'sso', 'ci:main', 'read', 'OPS-1', '{"org": "other"}'),
                   ('acme', 'sso', 'ci:side', 'read', 'OPS-1', '{}'),
                   ('acme', 'github', 'repo:acme/shop:ref:refs/heads/main', 'deploy', 'OPS-1', '{"event_name": "push"}'),
                   ('acme', 'github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main', 'deploy', 'OPS-1', '{"event_name": "push"}');
            """;

    @AutoClose private final TestDatabase database = TestDatabase.filled(ROWS);

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    UPDATE broker.tenant SET max_duration = 899 | Key "deploy": tenant_allows_too_little, Key "read": tenant_allows_too_little, Tenant "acme": shorter_than_its_types
                    UPDATE broker.tenant SET max_duration = 900 | ``
                    UPDATE broker.tenant SET max_keys = 50 | ``
                    UPDATE broker.key SET max_duration = 3600 WHERE name = 'deploy' | Access rule 1 for key "deploy": credentials_outlive_access
                    UPDATE broker.key SET max_duration = 3600 WHERE name = 'read' | ``
                    UPDATE broker.key SET description = 'deploys' | ``
                    INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('https://sso.example.com', '{org}') | Grant of key "read" to "ci:main": contradicts_identity_provider
                    INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('https://ci.example.org', '{org}') | ``
                    INSERT INTO broker.blocked_subject (tenant, idp, subject, reason) VALUES ('acme', 'sso', 'lead:ann', 'INC-1') | Access rule 1 for key "deploy": nobody_can_approve
                    INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason) VALUES ('acme', 'sso', 'lead:*', 'glob', 'INC-1') | Access rule 1 for key "deploy": nobody_can_approve, Access rule 2 for key "read": nobody_can_approve
                    INSERT INTO broker.blocked_subject (tenant, idp, subject, reason) VALUES ('acme', 'sso', 'dev:eve', 'INC-1') | ``
                    DELETE FROM broker.subject_grant WHERE subject LIKE '%@%' | Grant of key "deploy" to "repo:acme/shop:ref:refs/heads/main": github_subject_by_name
                    DELETE FROM broker.subject_grant WHERE subject = 'ci:side' | ``
                    """)
    void a_statement_warns_of_what_it_causes(String sql, String expected) throws SQLException {
        assertEquals(expected, String.join(", ", warnings(sql)));
    }

    /** A statement doesn't warn of findings that other rows had before it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    UPDATE broker.key SET max_duration = 3600 WHERE name = 'deploy' | UPDATE broker.key SET max_duration = 3601 WHERE name = 'deploy'
                    UPDATE broker.tenant SET max_duration = 899 | UPDATE broker.tenant SET max_duration = 3600
                    DELETE FROM broker.subject_grant WHERE subject LIKE '%@%' | DELETE FROM broker.subject_grant WHERE subject LIKE 'ci:%'
                    """)
    void a_later_statement_does_not_warn_of_it_again(String first, String later)
            throws SQLException {
        warnings(first);
        assertEquals(List.of(), warnings(later));
    }

    /** Each as its row and its rule, in the order of their letters. */
    private List<String> warnings(String sql) throws SQLException {
        return StatementWarnings.of(database, Who.ADMIN, sql).stream()
                .map(warning ->
                        warning.replaceFirst(
                                "(?s)^([^\"]*\"[^\"]*\"(?: to \"[^\"]*\")?): .* \\[(\\w+)]$",
                                "$1: $2"))
                .sorted()
                .toList();
    }
}
