package io.mintmark.admin.subject;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.util.List;

/** The views that answer what admins ask. */
@Tag("every-postgres")
class AdminViewsTest {
    @AutoClose private TestDatabase database;

    @BeforeEach
    void setUp() throws IOException {
        database = TestDatabase.filled(SqlCase.script("refusals", "setup"));
    }

    private void admin(String sql) {
        database.admin(sql);
    }

    private List<String> whoCanMint() {
        return database.column(
                "SELECT concat_ws(' ', key, match, subject, max_duration, target) FROM"
                        + " broker.who_can_mint ORDER BY key, subject");
    }

    @Test
    void who_can_mint_a_key_with_its_target_and_for_how_long() {
        assertEquals(
                List.of(
                        "api exact repo:acme/app:main 60 https://api.example.com",
                        "deploy exact repo:acme/app:main 900"
                                + " arn:aws:iam::123456789012:role/ci-deploy"),
                whoCanMint());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    github | {"repositories": ["shop", "api"], "permissions": {"contents": "read"}} | repository:api, repository:shop, permission:contents:read
                    github | {"repository_ids": ["7654321"], "permissions": {"contents": "read"}} | repository_id:7654321, permission:contents:read
                    github | {"all_repositories": true, "permissions": {"issues": "write", "contents": "read"}} | all_repositories, permission:contents:read, permission:issues:write
                    parameters | {"audience": "https://api.example.com", "parameters": {"rule": "r-1"}} | https://api.example.com, rule:r-1
                    auth-any | {"resource": "https://api.example.com"} | https://api.example.com
                    auth-any | {"scope": "read"} | none
                    """)
    void who_can_mint_shows_all_targets_of_a_key(String provider, String settings, String target) {
        admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'github', 'github-app',
                        '{"client_id": "Iv23", "private_key": {"file": "app.pem"}, "installation_id": "1"}'),
                       ('acme', 'parameters', 'oauth2',
                        '{"token_endpoint": "https://auth.example.com/token", "target_parameters": ["rule"]}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'new', '%s', 3600, '%s');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'repo:acme/app:main', 'new');
                """
                        .formatted(provider, settings));

        database.assertRows(
                "SELECT coalesce(target, 'none') FROM broker.who_can_mint WHERE key = 'new'",
                target);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "'acme', NULL, 'exact', 'repo:acme/app:main', NULL; true",
                "'acme', 'ci', 'exact', 'repo:acme/app:main', NULL; true",
                "'acme', 'second', 'exact', 'repo:acme/app:main', NULL; false",
                "'acme', NULL, 'glob', 'repo:acme/**', NULL; true",
                "'acme', NULL, 'glob', 'repo:acme/*', NULL; false",
                "'acme', NULL, 'exact', 'repo:acme/app:main', now(); false",
                "NULL, NULL, 'exact', 'repo:acme/app:main', NULL; true",
                "NULL, NULL, 'glob', 'repo:*/app:main', NULL; true",
                "NULL, NULL, 'glob', 'repo:other/**', NULL; false",
                "'other', NULL, 'exact', 'repo:acme/app:main', NULL; false",
            })
    void a_blocked_subject_can_mint_nothing(String block, boolean blocked) {
        admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('second', 'acme', 'https://second.example.com', '{acme}');
                INSERT INTO broker.blocked_subject (tenant, idp, match, subject, until, reason)
                VALUES (%s, 'x')
                """
                        .formatted(block));
        assertEquals(blocked ? 0 : 2, whoCanMint().size());
        database.assertRows(
                "SELECT count(*) FROM broker.what_can_mint('ci', 'repo:acme/app:main')",
                blocked ? "0" : "2");
    }

    /** Only where it is sure is a grant of a glob left out: each subject of it is blocked then. */
    @ParameterizedTest
    @CsvSource({
        "a:b/**, a:b/**, true",
        "a:**, a:b/**, true",
        "a:b**, a:b/*, true",
        "a:b/*, a:b/**, false",
        "a:b/**, a:b**, false",
        "a:*:c, a:**, false",
        "a:**c, a:b**, false",
        "a:b, a:b, true",
        "a:*, a:b, true",
    })
    void a_grant_of_a_glob_is_left_out_where_all_its_subjects_are_blocked(
            String block, String grant, boolean covered) {
        admin(
                """
                DELETE FROM broker.subject_grant;
                INSERT INTO broker.subject_grant (tenant, idp, subject, match, key)
                VALUES ('acme', 'ci', '%s', 'glob', 'api');
                INSERT INTO broker.blocked_subject (tenant, match, subject, reason)
                VALUES ('acme', 'glob', '%s', 'x')
                """
                        .formatted(grant, block));
        assertEquals(covered ? 0 : 1, whoCanMint().size());
        admin("DELETE FROM broker.blocked_subject");
        admin(
                "INSERT INTO broker.blocked_subject (match, subject, reason) VALUES ('glob', '%s', 'x')"
                        .formatted(block));
        assertEquals(covered ? 0 : 1, whoCanMint().size());
    }

    @Test
    void what_is_disabled_over_or_not_yet_is_in_nobodys_hands() {
        for (String edit :
                List.of(
                        "UPDATE broker.tenant SET enabled = %s WHERE name = 'acme'",
                        "UPDATE broker.identity_provider SET enabled = %s WHERE name = 'ci'",
                        "UPDATE broker.access_provider SET enabled = %s",
                        "UPDATE broker.key SET enabled = %s",
                        "UPDATE broker.subject_grant SET enabled = %s")) {
            admin(edit.formatted("false"));
            assertEquals(List.of(), whoCanMint(), edit);
            admin(edit.formatted("true"));
            assertEquals(2, whoCanMint().size(), edit);
        }
        admin(
                "UPDATE broker.subject_grant SET valid_from = now() + interval '1 day' WHERE key ="
                        + " 'api'");
        admin("UPDATE broker.subject_grant SET valid_until = now() WHERE key = 'deploy'");
        assertEquals(List.of(), whoCanMint());
    }

    @Test
    void what_a_subject_can_mint_by_exact_grants_and_globs() {
        admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, match, key)
                VALUES ('acme', 'ci', 'repo:acme/*:main', 'glob', 'api'),
                       ('acme', 'ci', 'repo:acme/other:*', 'glob', 'deploy')
                """);
        database.assertRows(
                "SELECT concat_ws(' ', key, max_duration) FROM broker.what_can_mint('ci',"
                        + " 'repo:acme/app:main')",
                "api 600",
                "api 60",
                "deploy 900");
    }

    @Test
    void grants_that_end_within_thirty_days_are_those_that_end_soon() {
        admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, enabled)
                VALUES ('acme', 'ci', 'soon', 'api', now() + interval '29 days', true),
                       ('acme', 'ci', 'later', 'api', now() + interval '31 days', true),
                       ('acme', 'ci', 'over', 'api', now() - interval '1 day', true),
                       ('acme', 'ci', 'off', 'api', now() + interval '1 day', false)
                """);
        database.assertRows("SELECT subject FROM broker.grant_ending_soon", "soon");
    }
}
