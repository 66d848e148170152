package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** A vote counts only if its maker may still approve the request when the last vote is given. */
class VotesWhenSettledTest {
    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);
    private final AskedAccess asked = new AskedAccess(database);
    private final String request = asked.asks("dev:eve", "deploy", 7200);

    private String lastVote() {
        return asked.decides("sso", "lead:amy", request, "approve");
    }

    @Test
    void two_votes_grant() {
        assertEquals("pending", asked.decides("console", "lead:bob", request, "approve"));
        assertEquals("granted", lastVote());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    removed                       | DELETE FROM broker.access_approver WHERE idp = 'console'
                    narrowed to another           | UPDATE broker.access_approver SET subject = 'lead:zoe', match = 'exact' WHERE idp = 'console'
                    narrowed by claims            | UPDATE broker.access_approver SET claims = '{"groups": "leads"}' WHERE idp = 'console'
                    moved to a step of its own    | UPDATE broker.access_approver SET step = 2 WHERE idp = 'console'
                    blocked                       | INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'lead:bob', 'INC-1')
                    identity provider is disabled | UPDATE broker.identity_provider SET enabled = false WHERE name = 'console'
                    takes no tokens of approvers  | UPDATE broker.identity_provider SET accepts = '{actor}' WHERE name = 'console'
                    asked for other claims        | UPDATE broker.identity_provider SET required_claims = '{"hd": "acme.example"}' WHERE name = 'console'
                    has another issuer            | UPDATE broker.identity_provider SET issuer = 'https://other.example.com' WHERE name = 'console'
                    """)
    void the_vote_of_a_token_no_longer_counts_once_its_approver_is(String what, String change) {
        assertEquals("pending", asked.decides("console", "lead:bob", request, "approve"));
        database.admin(change);
        assertEquals("pending", lastVote(), what);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    no approver           | DELETE FROM broker.access_approver WHERE role_name = 'test_tenant_admin'
                    not an admin of the tenant| DELETE FROM broker.tenant_admin
                    no member of the role | REVOKE mintmark_tenant_admin FROM test_tenant_admin
                    unable to log in      | ALTER ROLE test_tenant_admin NOLOGIN
                    """)
    void the_vote_of_a_login_no_longer_counts_once_it_is(String what, String change) {
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                        .formatted(request));
        try {
            database.runAsSuperuser(change);
            assertEquals("pending", lastVote(), what);
        } finally {
            database.runAsSuperuser(
                    "ALTER ROLE test_tenant_admin LOGIN; GRANT mintmark_tenant_admin TO test_tenant_admin");
        }
    }

    /** The claims of a token aren't kept, but the rows that it met are. */
    @Test
    void a_row_whose_claims_the_token_never_met_does_not_carry_its_vote() {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, idp, subject, match, claims)
                VALUES (2, 'console', 'lead:**', 'glob', '{"groups": "leads"}')
                """);
        assertEquals("pending", asked.decides("console", "lead:bob", request, "approve"));
        database.admin(
                "DELETE FROM broker.access_approver WHERE idp = 'console' AND claims = '{}'");
        assertEquals("pending", lastVote());
    }

    @Test
    void a_row_whose_claims_the_token_met_carries_its_vote_until_it_changes() {
        database.admin(
                """
                UPDATE broker.access_approver SET claims = '{"groups": "leads"}' WHERE idp = 'console';
                INSERT INTO broker.access_approver (rule, idp, subject) VALUES (2, 'sso', 'chief:eva');
                """);
        assertEquals(
                "pending",
                asked.one(
                        asked.decision("console", "lead:bob", request, "approve")
                                .replace("'{}'", "'{\"groups\": \"leads\"}'")));
        assertEquals("granted", asked.decides("sso", "chief:eva", request, "approve"));
    }

    /** The grant would be for whomever the other issuer calls dev:eve. */
    @Test
    void a_request_is_void_once_its_identity_provider_has_another_issuer() {
        database.admin(
                "UPDATE broker.identity_provider SET issuer = 'https://other.example.com' WHERE name = 'sso'");
        assertEquals("void", asked.decides("console", "lead:bob", request, "approve"));
        database.assertRows("SELECT status FROM broker.access_request", "void");
    }

    @Test
    void who_is_no_approver_any_more_no_longer_counts() {
        assertEquals("pending", asked.decides("sso", "lead:bob", request, "approve"));
        database.admin(
                "UPDATE broker.access_approver SET subject = 'lead:amy', match = 'exact' WHERE subject = 'lead:*' AND idp = 'sso' AND rule = 2");
        assertEquals("pending", asked.decides("sso", "lead:amy", request, "approve"));
        assertNotEquals("granted", asked.explained("dev:eve", "deploy"));
    }

    @Test
    void who_is_blocked_since_or_whose_row_asks_for_claims_since_no_longer_counts() {
        asked.decides("sso", "lead:bob", request, "approve");
        database.admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'lead:bob', 'INC-1')");
        assertEquals("pending", asked.decides("sso", "lead:amy", request, "approve"));
        database.admin("UPDATE broker.blocked_subject SET enabled = false");
        database.admin(
                "UPDATE broker.access_approver SET claims = '{\"groups\": \"leads\"}' WHERE subject = 'lead:*'");
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject) SELECT rule, 'sso', 'lead:zoe' FROM broker.access_request");
        assertEquals("pending", asked.decides("sso", "lead:zoe", request, "approve"));
        assertNotEquals("granted", asked.explained("dev:eve", "deploy"));
    }

    private static final String BLOCK_BY_CLAIMS =
            "INSERT INTO broker.blocked_subject (tenant, idp, subject, match, claims, reason) VALUES (%s, '**', 'glob', '{\"azp\": \"app\"}', 'INC-1')";

    /** The claims of a vote's token aren't kept, so a later block by claims may be about it. */
    @ParameterizedTest
    @ValueSource(strings = {"'acme', NULL", "'acme', 'console'", "NULL, NULL"})
    void a_vote_before_a_block_by_claims_no_longer_counts(String where) {
        assertEquals("pending", asked.decides("console", "lead:bob", request, "approve"));
        database.admin(BLOCK_BY_CLAIMS.formatted(where));
        assertNotEquals("granted", lastVote());
    }

    @ParameterizedTest
    @ValueSource(strings = {"'acme', NULL", "'acme', 'sso'", "NULL, NULL"})
    void a_request_before_a_block_by_claims_is_void(String where) {
        database.admin(BLOCK_BY_CLAIMS.formatted(where));
        String later = asked.asks("dev:jim", "deploy", 600);
        assertEquals("granted", asked.decides("console", "lead:bob", later, "approve"));
        assertEquals("void", asked.decides("console", "lead:bob", request, "approve"));
    }

    /** Neither the vote nor the request can know of the block, which has an earlier time. */
    @Test
    void a_vote_before_the_commit_of_a_block_by_claims_in_all_tenants_no_longer_counts()
            throws SQLException {
        try (Connection open = database.connect(Who.ADMIN);
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute(BLOCK_BY_CLAIMS.formatted("NULL, NULL"));
            assertEquals("pending", asked.decides("console", "lead:bob", request, "approve"));
            open.commit();
        }
        assertEquals("void", lastVote());
    }

    @Test
    void a_request_before_the_commit_of_a_block_by_claims_in_all_tenants_is_void()
            throws SQLException {
        String other;
        try (Connection open = database.connect(Who.ADMIN);
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute(BLOCK_BY_CLAIMS.formatted("NULL, NULL").replace("'**'", "'dev:jim'"));
            other = asked.asks("dev:jim", "deploy", 600);
            open.commit();
        }
        assertEquals("void", asked.decides("console", "lead:bob", other, "approve"));
        String later = asked.asks("dev:jim", "deploy", 600);
        assertEquals("granted", asked.decides("console", "lead:bob", later, "approve"));
    }

    /** The other cell knew of none of the blocks that this one has in all tenants. */
    @ParameterizedTest
    @CsvSource({"true, void", "false, granted"})
    void what_another_cell_accepted_is_older_than_all_blocks_in_all_tenants_here(
            boolean moved, String expected) {
        database.admin(BLOCK_BY_CLAIMS.formatted("NULL, NULL"));
        String other = asked.asks("dev:jim", "deploy", 7200);
        assertEquals("pending", asked.decides("console", "lead:bob", other, "approve"));
        if (moved) {
            database.rewrite("tenant", "moved_from = '{\"url\": \"https://a.example.com\"}'");
        }
        assertEquals(expected, asked.decides("sso", "lead:amy", other, "approve"));
    }

    @Test
    void a_block_by_claims_of_others_or_from_before_changes_no_vote() {
        database.admin(BLOCK_BY_CLAIMS.formatted("'acme', NULL"));
        String later = asked.asks("dev:jim", "deploy", 7200);
        assertEquals("pending", asked.decides("console", "lead:bob", later, "approve"));
        database.admin(BLOCK_BY_CLAIMS.formatted("'acme', NULL").replace("**", "ci:**"));
        assertEquals("granted", asked.decides("sso", "lead:amy", later, "approve"));
    }

    /** A program sends a note; both verifiers ask for it too. */
    @ParameterizedTest
    @CsvSource({"console, pending", "other, granted"})
    void a_vote_without_a_note_no_longer_counts_once_a_row_marks_it_as_a_program_s(
            String idp, String expected) {
        database.admin(
                "INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('other', 'acme', 'https://other.example.com', '{mintmark}')");
        assertEquals("pending", asked.decides("console", "lead:bob", request, "approve"));
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, match, program) VALUES (2, '%s', 'lead:bob', 'glob', true)"
                        .formatted(idp));
        assertEquals(expected, lastVote());
    }

    /** A row that joins a program's login with a subject makes the subject no person. */
    @Test
    void who_is_a_program_by_one_name_is_one_by_all() {
        database.admin(
                """
                DELETE FROM broker.access_approver WHERE rule = 1;
                INSERT INTO broker.access_approver (rule, role_name, program) VALUES (1, 'test_tenant_admin', true);
                INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'sso', 'bot:gate');
                INSERT INTO broker.access_approver (rule, idp, subject) VALUES (1, 'sso', 'lead:zoe');
                """);
        String hour = asked.asks("dev:eve", "deploy", 600);
        String vote = asked.decision("sso", "bot:gate", hour, "approve");
        assertEquals("bad_note", asked.one(vote));
        assertEquals("pending", asked.one(vote.replace("'approve', NULL", "'approve', 'OPS-1'")));
        database.assertRows("SELECT program FROM broker.access_decision", "t");
    }

    @Test
    void a_program_is_one_whatever_claims_its_token_has() {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, idp, subject, claims, program) VALUES (1, 'sso', 'lead:bot', '{"env": "prod"}', true)
                """);
        String hour = asked.asks("dev:eve", "deploy", 600);
        assertEquals("bad_note", asked.decides("sso", "lead:bot", hour, "approve"));
    }

    /** The person with a blocked subject has other names. */
    @Test
    void who_is_blocked_by_one_subject_decides_by_none() {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (2, 'test_admin', 'sso', 'lead:adm');
                """);
        assertEquals("pending", asked.decides("sso", "lead:adm", request, "approve"));
        database.admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'lead:ann', 'INC-1')");
        assertEquals("pending", lastVote());
        String other = asked.asks("dev:jim", "deploy", 7200);
        assertEquals("blocked", asked.decides("sso", "lead:adm", other, "approve"));
    }

    @Test
    void an_identity_provider_that_is_inserted_again_makes_nobody_another_person() {
        database.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('own', 'acme', 'https://own.example.com', '{mintmark}');
                INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'own', 'dev:tina');
                DELETE FROM broker.access_approver WHERE idp = 'own';
                DELETE FROM broker.identity_provider WHERE name = 'own';
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('own', 'acme', 'https://new.example.com', '{mintmark}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'deploy', 'own', 'dev:tina', 7200);
                INSERT INTO broker.access_approver (rule, role_name) SELECT max(id), 'test_tenant_admin' FROM broker.access_rule;
                """);
        assertEquals(
                "nobody_can_approve",
                asked.one(
                        "SELECT refusal FROM internal.request_access('acme', 'own', 'dev:tina', '{}', NULL, NULL, '{deploy}', 'to mend incident 7', 600, false)"));
    }
}
