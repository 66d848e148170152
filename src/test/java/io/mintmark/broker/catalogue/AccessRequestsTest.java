package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import java.util.Objects;

/** Requests for access in the database: who may ask, who decides, and what comes of it. */
class AccessRequestsTest {
    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);
    private final AskedAccess asked = new AskedAccess(database);

    private String status(String request) {
        return database.value(
                "SELECT status FROM broker.access_request WHERE id = '%s'".formatted(request));
    }

    private String refused(Who who, String sql) {
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> database.run(who, sql));
        return String.valueOf(Objects.requireNonNull(refusal.getCause()).getMessage());
    }

    private void decide(Who who, String request, String verdict) {
        database.run(
                who,
                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', '%s')"
                        .formatted(request, verdict));
    }

    @Test
    void the_last_needed_approval_writes_an_ordinary_grant() {
        String request = asked.asks("dev:eve", "deploy", 7200);
        assertEquals("pending", asked.decides("sso", "lead:bob", request, "approve"));
        assertEquals("a grant", asked.explained("dev:eve", "deploy"));
        assertEquals("granted", asked.decides("console", "lead:joe", request, "approve"));
        assertEquals("granted", asked.explained("dev:eve", "deploy"));
        database.assertRows(
                """
                SELECT concat_ws('|', match, claims, reason = 'request ' || request_id, valid_until - valid_from, owner, approved_by)
                  FROM broker.subject_grant
                """,
                "exact|{\"groups\": \"dev\"}|t|02:00:00|team|lead:bob of sso, lead:joe of console");
        database.assertRows(
                "SELECT array_to_string(approved_by, ', ') || ' ' || in_force FROM audit.access_request",
                "lead:bob of sso, lead:joe of console true");
    }

    /** As made in seconds, from the inverse of PostgreSQL's hash: rows are found by it. */
    private static final String SAME_HASH_AS_EVE = "dev:--------Uc!EJ#k3&Vi409g$D1F7{ZJLdev:eve";

    private static final String SAME_HASH_AS_ROBINSON = "lead:-------KW4E!vH6s7Ngq#u+wO#-_8eLn";

    @ParameterizedTest
    @CsvSource({"dev:eve," + SAME_HASH_AS_EVE, "lead:robinson," + SAME_HASH_AS_ROBINSON})
    void other_subjects_can_have_the_same_hash(String one, String other) {
        database.assertRows(
                "SELECT hashtextextended('https://sso.example.com %s', 0) = hashtextextended('https://sso.example.com %s', 0)"
                        .formatted(one, other),
                "t");
    }

    @Test
    void who_has_the_hash_of_another_is_not_the_other() {
        String request = asked.asks("dev:eve", "deploy", 7200);
        assertEquals(
                "0",
                asked.one(
                        "SELECT count(*) FROM internal.access_requests('acme', 'sso', '%s', '{}', 'me', NULL)"
                                .formatted(SAME_HASH_AS_EVE)));
        for (int n = 0; n < 5; n++) {
            asked.asks(SAME_HASH_AS_EVE, "deploy", 3600 + n);
        }
        assertEquals("null", asked.one(asked.request("dev:eve", "deploy", 3000, "refusal")));
        assertEquals(
                "too_many_requests",
                asked.one(asked.request(SAME_HASH_AS_EVE, "deploy", 3000, "refusal")));
        assertEquals("pending", asked.decides("sso", SAME_HASH_AS_ROBINSON, request, "approve"));
        assertEquals("granted", asked.decides("sso", "lead:robinson", request, "approve"));
    }

    @Test
    void a_rule_with_fewer_approvals_is_taken_if_it_allows_the_time() {
        String request = asked.asks("dev:eve", "deploy", 3600);
        assertEquals("granted", asked.decides("sso", "lead:bob", request, "approve"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    dev:eve   | deploy | 90000   | too_long
                    dev:eve   | other  | 600     | no_rule
                    ops:eve   | deploy | 600     | no_rule
                    dev:eve   | deploy | 30      | bad_seconds
                    """)
    void what_no_rule_allows_is_refused(String subject, String key, int seconds, String refusal) {
        assertEquals(refusal, asked.one(asked.request(subject, key, seconds, "refusal")));
        database.assertRows("SELECT count(*) FROM broker.access_request", "0");
    }

    @Test
    void the_same_request_again_is_the_same_request() {
        String first = asked.asks("dev:eve", "deploy", 600);
        assertEquals(first, asked.asks("dev:eve", "deploy", 600));
    }

    @Test
    void nobody_decides_a_request_of_their_own_by_any_name() {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, idp, subject, match) VALUES (1, 'console', 'dev:**', 'glob');
                INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'console', 'dev:eve');
                """);
        String request = asked.asks("dev:eve", "deploy", 600);
        assertEquals("own_request", asked.decides("sso", "dev:eve", request, "approve"));
        assertEquals("own_request", asked.decides("console", "dev:eve", request, "approve"));
        assertTrue(
                refused(
                                Who.TENANT_ADMIN,
                                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                                        .formatted(request))
                        .contains("You are the requester or the actor of this request"));
        assertEquals("pending", status(request));
    }

    @Test
    void an_agent_does_not_approve_what_it_asked_for() {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, idp, subject) VALUES (1, 'sso', 'agent:bot');
                """);
        String request =
                asked.one(
                        """
                        SELECT id FROM internal.request_access('acme', 'sso', 'dev:eve', '{"groups": "dev"}', 'sso', 'agent:bot',
                               '{deploy}', 'to mend incident 7', 600, false)
                        """);
        assertEquals("own_request", asked.decides("sso", "agent:bot", request, "approve"));
        assertEquals(
                "decided_with_actor",
                asked.one(
                        "SELECT refusal FROM internal.decide_access('acme', 'sso', 'lead:bob', '{}', true, '%s', 'approve', NULL)"
                                .formatted(request)));
        assertEquals("granted", asked.decides("sso", "lead:bob", request, "approve"));
        database.assertRows("SELECT actor FROM broker.subject_grant", "agent:bot");
    }

    @Test
    void a_person_counts_once_with_a_token_and_as_a_login() {
        String request = asked.asks("dev:eve", "deploy", 7200);
        asked.decides("sso", "lead:ann", request, "approve");
        assertEquals("pending", asked.decides("console", "lead:ann", request, "approve"));
        assertEquals("already_decided", asked.decides("console", "lead:ann", request, "refuse"));
        assertTrue(
                refused(
                                Who.ADMIN,
                                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                                        .formatted(request))
                        .contains("You have already made this decision"));
        assertEquals("pending", status(request));
        decide(Who.TENANT_ADMIN, request, "approve");
        assertEquals("granted", status(request));
    }

    @Test
    void one_refusal_refuses() {
        String request = asked.asks("dev:eve", "deploy", 7200);
        asked.decides("sso", "lead:bob", request, "approve");
        assertEquals("refused", asked.decides("sso", "lead:joe", request, "refuse"));
        assertEquals("not_pending", asked.decides("sso", "lead:jim", request, "approve"));
        database.assertRows("SELECT count(*) FROM broker.subject_grant", "0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    UPDATE broker.access_rule SET approvals = 3 WHERE id = 1     | void
                    UPDATE broker.access_rule SET enabled = false WHERE id = 1   | void
                    DELETE FROM broker.access_approver WHERE rule = 1; DELETE FROM broker.access_rule WHERE id = 1 | void
                    UPDATE broker.access_rule SET reason = 'x' WHERE id = 1      | pending
                    UPDATE broker.access_rule SET approvals = 3 WHERE id = 2     | pending
                    """)
    void a_rule_that_changes_voids_its_requests(String edit, String expected) {
        String request = asked.asks("dev:eve", "deploy", 600);
        database.run(Who.TENANT_ADMIN, edit);
        assertEquals(expected, status(request));
        if (expected.equals("pending")) {
            assertEquals("granted", asked.decides("sso", "lead:bob", request, "approve"));
        }
    }

    @Test
    void what_is_not_decided_in_time_lapses() {
        String request = asked.asks("dev:eve", "deploy", 600);
        String other = asked.asks("dev:jim", "deploy", 600);
        database.rewrite("access_request", "expires_at = now() WHERE id = '%s'".formatted(request));
        assertEquals("lapsed", asked.decides("sso", "lead:bob", request, "approve"));
        assertEquals("lapsed", status(request));
        database.rewrite("access_request", "expires_at = now() WHERE id = '%s'".formatted(other));
        assertEquals("1", asked.one("SELECT internal.lapse_access_requests(100)"));
        assertEquals("0", asked.one("SELECT internal.lapse_access_requests(100)"));
        assertEquals("lapsed", status(other));
    }

    @Test
    void a_blocked_subject_neither_asks_nor_decides_nor_is_approved() {
        String request = asked.asks("dev:eve", "deploy", 600);
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.blocked_subject (tenant, subject, match, reason) VALUES ('acme', 'dev:eve', 'exact', 'x'), ('acme', 'lead:b*', 'glob', 'x')");
        assertEquals("blocked", asked.one(asked.request("dev:eve", "deploy", 700, "refusal")));
        assertEquals("blocked", asked.decides("sso", "lead:bob", request, "approve"));
        assertEquals("requester_blocked", asked.decides("sso", "lead:joe", request, "approve"));
        assertEquals("refused", asked.decides("sso", "lead:joe", request, "refuse"));
    }

    @Test
    void who_has_no_part_in_a_request_does_not_learn_of_it() {
        String request = asked.asks("dev:eve", "deploy", 600);
        assertEquals("unknown_request", asked.decides("sso", "dev:jim", request, "approve"));
        assertEquals("unknown_request", asked.gives("dev:jim", request));
        assertEquals("[]", asked.one(list("sso", "dev:jim", "one", request)));
        assertEquals(request, asked.one(list("console", "dev:eve", "one", request)));
        assertEquals(request, asked.one(list("sso", "dev:eve", "me", request)));
        assertEquals("[]", asked.one(list("sso", "dev:eve", "decision", request)));
        assertEquals(request, asked.one(list("console", "lead:bob", "decision", request)));
    }

    private static String list(String idp, String subject, String wanted, String request) {
        return "SELECT id FROM internal.access_requests('acme', '%s', '%s', '{}', '%s', '%s')"
                .formatted(idp, subject, wanted, request);
    }

    private String askedAt(String idp, String subject, String key, String column) {
        return asked.one(
                """
                SELECT %s FROM internal.request_access('acme', '%s', '%s', '{"groups": ["dev"]}', NULL, NULL, '{%s}', 'to mend incident 7', 600, false)
                """
                        .formatted(column, idp, subject, key));
    }

    /** As the console's, which decides and can't mint: the grant is for the client that can. */
    @Test
    void a_token_of_an_approver_requests_for_the_tokens_of_its_issuer_that_mint() {
        String request = askedAt("console", "dev:eve", "deploy", "id");
        database.assertRows(
                "SELECT idp || ' ' || issuer || ' ' || subject FROM broker.access_request",
                "sso https://sso.example.com dev:eve");
        assertEquals(request, askedAt("sso", "dev:eve", "deploy", "id"), "the same request");
        assertEquals(request, asked.one(list("console", "dev:eve", "me", request)));
        assertEquals("own_request", asked.decides("console", "dev:eve", request, "approve"));
        assertEquals("granted", asked.decides("console", "lead:bob", request, "approve"));
        assertEquals("granted", asked.explained("dev:eve", "deploy"));
        database.assertRows("SELECT idp FROM broker.subject_grant", "sso");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.identity_provider SET issuer = 'https://other.example.com' WHERE name = 'console'",
                "UPDATE broker.identity_provider SET enabled = false WHERE name = 'sso'",
                "UPDATE broker.identity_provider SET required_claims = '{\"mfa\": true}' WHERE name = 'sso'",
                "UPDATE broker.identity_provider SET accepts = '{actor}' WHERE name = 'sso'",
                "UPDATE broker.identity_provider SET accepts = '{subject,approver}' WHERE name = 'console'",
                "INSERT INTO broker.blocked_subject (tenant, idp, subject, reason) VALUES ('acme', 'sso', 'dev:eve', 'x')"
            })
    void it_requests_for_no_other_token_than_one_that_could_mint(String edit) {
        database.admin(edit);
        assertEquals("no_rule", askedAt("console", "dev:eve", "deploy", "refusal"));
    }

    @Test
    void it_breaks_no_glass() {
        assertEquals("no_rule", askedAt("console", "dev:eve", "root", "refusal"));
        assertEquals("granted", askedAt("sso", "dev:eve", "root", "status"));
    }

    @Test
    void same_names_of_another_tenant_decide_nothing() {
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('other');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('other-sso', 'other', 'https://sso.example.com', '{other}');
                """);
        String request = asked.asks("dev:eve", "deploy", 600);
        for (String idp : new String[] {"other-sso", "sso"}) {
            assertEquals(
                    "unknown_request",
                    asked.one(
                            "SELECT refusal FROM internal.decide_access('other', '%s', 'lead:bob', '{}', false, '%s', 'approve', NULL)"
                                    .formatted(idp, request)));
        }
        assertEquals("pending", status(request));
    }

    /** Who approves is shown what one admin may have widened since the last request. */
    @Test
    void an_approver_is_shown_the_settings_of_the_key_as_they_are() {
        String shown =
                "SELECT gives -> 'settings' FROM internal.access_requests('acme', 'sso', 'lead:bob', '{}', 'decision', NULL)";
        asked.asks("dev:eve", "deploy", 600);
        assertEquals("{\"audience\": \"https://api.example.com\"}", asked.one(shown));
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.key SET settings = settings || '{\"claims\": {\"scope\": \"admin\"}}' WHERE name = 'deploy'");
        assertEquals(
                "{\"claims\": {\"scope\": \"admin\"}, \"audience\": \"https://api.example.com\"}",
                asked.one(shown));
    }

    /**
     * What approvers and receivers of notices are shown is no secret, of whatever type a key is.
     */
    @Test
    void no_setting_of_a_key_is_a_secret() {
        database.assertRows(
                "SELECT y.type, s.key FROM broker.provider_type AS y CROSS JOIN jsonb_each(y.key_settings) AS s WHERE s.value ->> 'is' = 'secret'");
        assertTrue(
                refused(
                                Who.TENANT_ADMIN,
                                "UPDATE broker.key SET settings = settings || '{\"claims\": {\"a\": \"ghp_%s\"}}' WHERE name = 'deploy'"
                                        .formatted("a1B2".repeat(9)))
                        .contains("secret"));
    }

    /** The history would have the key's change before a decision that names the key before it. */
    @Test
    void an_approval_does_not_change_what_it_approves() {
        String request = asked.asks("dev:eve", "deploy", 600);
        String statement =
                """
                WITH changed AS (UPDATE broker.key SET max_duration = 500 WHERE name = '%s' RETURNING name)
                INSERT INTO broker.access_decision (request, verdict) SELECT '%s', 'approve' FROM changed
                """;
        String refusal = refused(Who.TENANT_ADMIN, statement.formatted("deploy", request));
        assertTrue(refusal.contains("also changes its rule, its key"), refusal);
        database.assertRows("SELECT max_duration FROM broker.key WHERE name = 'deploy'", "600");
        database.run(Who.TENANT_ADMIN, statement.formatted("root", request));
        assertEquals("granted", status(request));
    }

    @Test
    void access_is_given_back_early() {
        String request = asked.asks("dev:eve", "deploy", 600);
        asked.decides("sso", "lead:bob", request, "approve");
        assertEquals("withdrawn", asked.gives("dev:eve", request));
        assertEquals("withdrawn", asked.gives("dev:eve", request));
        assertEquals("the grant is enabled", asked.explained("dev:eve", "deploy"));
        assertTrue(
                refused(Who.ADMIN, "UPDATE broker.subject_grant SET enabled = true")
                        .contains("it can only be disabled or deleted"));
    }

    @Test
    void only_the_service_calls_its_functions() {
        for (Who who : new Who[] {Who.ADMIN, Who.TENANT_ADMIN, Who.AUDITOR, Who.CONSOLE}) {
            assertTrue(
                    refused(who, asked.request("dev:eve", "deploy", 600, "id"))
                            .contains("permission denied"));
            assertTrue(
                    refused(who, "SELECT * FROM internal.take_notices('x', 1, 1)")
                            .contains("permission denied"));
        }
    }

    /** As JSON values these are equal, but the history and its readers keep them apart. */
    @Test
    void a_number_of_a_requested_grant_is_not_spelled_otherwise() {
        database.admin(
                "UPDATE broker.access_rule SET claims = '{\"pid\": 7}' WHERE id = 1;"
                        + "UPDATE broker.tenant SET require_second_admin = true");
        String request =
                asked.one(
                        asked.request("dev:eve", "deploy", 600, "id")
                                .replace("{\"groups\": [\"dev\", \"all\"]}", "{\"pid\": 7}"));
        asked.decides("sso", "lead:bob", request, "approve");
        String refusal =
                refused(
                        Who.TENANT_ADMIN,
                        "UPDATE broker.subject_grant SET claims = '{\"pid\": 7.0}'");
        assertTrue(refusal.contains("it can only be disabled or deleted"), refusal);
        assertTrue(
                refused(Who.ADMIN, "SELECT broker.approve('subject_grant', 1, 1)")
                        .contains("came from request " + request));
    }

    /** Not that at which the transaction began, since an admin may have one open for long. */
    @Test
    void a_decision_has_the_time_at_which_it_was_made() throws SQLException {
        try (Connection admin = database.connect(Who.TENANT_ADMIN);
                Statement statement = admin.createStatement()) {
            admin.setAutoCommit(false);
            statement.execute("SELECT 1");
            String request = asked.asks("dev:eve", "deploy", 600);
            statement.execute(
                    "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                            .formatted(request));
            admin.commit();
        }
        database.assertRows(
                """
                SELECT concat_ws('|', d.created_at > q.requested_at, g.valid_from > q.requested_at, g.valid_until - g.valid_from)
                  FROM broker.access_request AS q JOIN broker.access_decision AS d ON d.request = q.id JOIN broker.subject_grant AS g ON g.request_id = q.id
                """,
                "t|t|00:10:00");
    }

    /** Else it would be the answer to each further one until it lapses. */
    @Test
    void a_request_that_nobody_can_approve_any_more_is_no_answer_to_the_next() {
        String request = asked.asks("dev:eve", "deploy", 600);
        assertEquals(request, asked.asks("dev:eve", "deploy", 600));
        database.admin("UPDATE broker.key SET max_duration = 500 WHERE name = 'deploy'");
        String next = asked.asks("dev:eve", "deploy", 600);
        assertNotEquals(request, next);
        assertEquals("void", status(request));
        assertEquals("granted", asked.decides("sso", "lead:bob", next, "approve"));
    }

    /** A request that still lacks an approval in its second step. */
    private String decidedByFiftyPeople() {
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, step) VALUES (1, 'sso', 'boss:zoe', 2)");
        String request = asked.asks("dev:eve", "deploy", 600);
        asked.decides("sso", "lead:0", request, "approve");
        decidedBy("lead:", false);
        return request;
    }

    private void decidedBy(String subject, boolean program) {
        database.runAsSuperuser(
                """
                ALTER TABLE broker.access_decision DISABLE TRIGGER USER;
                INSERT INTO broker.access_decision SELECT d.*
                  FROM generate_series(1, 49) AS n CROSS JOIN LATERAL (
                       SELECT (jsonb_populate_record(x, jsonb_build_object('id', 100 + n, 'subject', '%s' || n, 'program', %s))).*
                         FROM broker.access_decision AS x LIMIT 1) AS d;
                ALTER TABLE broker.access_decision ENABLE TRIGGER USER
                """
                        .formatted(subject, program));
    }

    /**
     * Each is counted again, and shown in each notice, so many would stop the notices of others.
     */
    @Test
    void a_request_takes_fifty_decisions_of_people() {
        String request = decidedByFiftyPeople();
        assertTrue(
                refused(
                                Who.TENANT_ADMIN,
                                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                                        .formatted(request))
                        .contains("50 people, the maximum, have decided on it"));
        assertNotEquals(request, asked.asks("dev:eve", "deploy", 600));
        assertEquals("void", status(request));
    }

    @Test
    void the_next_decision_by_a_token_makes_it_void() {
        String request = decidedByFiftyPeople();
        assertEquals("void", asked.decides("sso", "lead:y", request, "approve"));
        assertEquals("void", status(request));
    }

    /** Or a program of many names would keep people from deciding. */
    @Test
    void programs_have_fifty_decisions_of_their_own() {
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, match, program, claims) VALUES (1, 'sso', 'bot:*', 'glob', true, '{\"kind\": \"bot\"}')");
        String request = asked.asks("dev:eve", "deploy", 600);
        String vote =
                asked.decision("sso", "bot:0", request, "approve")
                        .replace("NULL)", "'INC-7')")
                        .replace("'{}'", "'{\"kind\": \"bot\"}'");
        assertEquals("pending", asked.one(vote));
        decidedBy("bot:", true);
        assertEquals("already_decided", asked.one(vote.replace("bot:0", "bot:x")));
        assertEquals("pending", status(request));
        assertEquals("granted", asked.decides("sso", "lead:bob", request, "approve"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "null",
                "[1]",
                "{\"rule\": 1, \"key\": 1}",
                "{\"rule\": 1, \"key\": 1, \"accessProvider\": 1, \"tenant\": 1}"
            })
    void revisions_of_another_form_are_named_as_the_fault(String revisions) {
        String request = asked.asks("dev:eve", "deploy", 600);
        String refusal =
                refused(
                        Who.TENANT_ADMIN,
                        "INSERT INTO broker.access_decision (request, verdict, revisions) VALUES ('%s', 'approve', '%s')"
                                .formatted(request, revisions));
        assertTrue(refusal.contains("fields rule, key and accessProvider"), refusal);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "broker.access_approver (tenant, rule, idp, subject) VALUES ('%s', 1, 'sso', 'lead:new')",
                "broker.access_decision (tenant, request, verdict) SELECT '%s', id, 'approve' FROM broker.access_request WHERE status = 'pending'",
                "broker.grant_review (tenant, grant_id, verdict) SELECT '%s', id, 'keep' FROM broker.subject_grant"
            })
    void a_row_may_name_the_tenant_that_it_has_anyway(String row) {
        asked.decides("sso", "lead:bob", asked.asks("dev:eve", "deploy", 600), "approve");
        asked.asks("dev:mal", "deploy", 600);
        database.admin("INSERT INTO broker.tenant (name) VALUES ('other')");
        String refusal = refused(Who.ADMIN, "INSERT INTO " + row.formatted("other"));
        assertTrue(refusal.contains("The row names tenant \"other\", but its"), refusal);
        database.run(Who.TENANT_ADMIN, "INSERT INTO " + row.formatted("acme"));
    }

    @Test
    void a_request_that_is_refused_ends_no_other() {
        String request = asked.asks("dev:eve", "deploy", 600);
        database.admin("UPDATE broker.key SET max_duration = 500 WHERE name = 'deploy'");
        asked.one(asked.request("dev:eve", "deploy,nokey", 600, "coalesce(refusal, '')"));
        assertEquals("pending", status(request));
    }
}
