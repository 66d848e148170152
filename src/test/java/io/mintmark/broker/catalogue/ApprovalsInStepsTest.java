package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
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

import java.util.Objects;

/** Rules whose approvers are in several steps, or are programs, or that want a reason of a form. */
class ApprovalsInStepsTest {
    /** Two leads, and one of security or its program. Some leads are in security too. */
    private static final String TWO_LEADS_AND_ONE_OF_SECURITY =
            """
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings, owner)
            VALUES ('acme', 'vault', 'own', 600, '{"audience": "https://vault.example.com"}', 'team');
            INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access)
            VALUES ('acme', 'vault', 'sso', 'dev:**', 'glob', 3600);
            INSERT INTO broker.access_approver (rule, idp, subject, match, claims, step, program)
            VALUES (4, 'sso', 'lead:*', 'glob', '{}', 1, false),
                   (4, 'sso', 'lead:*', 'glob', '{}', 2, false),
                   (4, 'sso', 'lead:*', 'glob', '{"groups": "security"}', 3, false),
                   (4, 'sso', 'bot:oncall', 'exact', '{}', 3, true)
            """;

    @AutoClose
    private final TestDatabase database =
            TestDatabase.filled(AskedAccess.TENANT, TWO_LEADS_AND_ONE_OF_SECURITY);

    private final AskedAccess asked = new AskedAccess(database);

    /** What a vote comes to; the note is what programs send. */
    private String votes(String subject, String groups, String note, String request) {
        return asked.one(
                """
                SELECT coalesce(refusal, status) FROM internal.decide_access('acme', 'sso', '%s', '{"groups": %s}', false, '%s', 'approve', nullif('%s', ''))
                """
                        .formatted(subject, groups, request, note));
    }

    private String refused(Who who, String sql) {
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> database.run(who, sql));
        return String.valueOf(Objects.requireNonNull(refusal.getCause()).getMessage());
    }

    /** Letters are leads, upper-case ones are in security; 0 is the program. */
    @ParameterizedTest
    @CsvSource(
            textBlock =
                    """
                    a,    pending
                    ab,   pending
                    abc,  pending
                    abcd, pending
                    aB,   pending
                    abC,  granted
                    Abc,  granted
                    aBc,  granted
                    AB,   pending
                    ABC,  granted
                    ab0,  granted
                    0ab,  granted
                    a0,   pending
                    a0B,  granted
                    """)
    void each_step_needs_its_approvals_and_a_person_counts_in_one_step(
            String voters, String expected) {
        String request = asked.asks("dev:eve", "vault", 600);
        String status = "pending";
        for (int i = 0; i < voters.length(); i++) {
            char voter = voters.charAt(i);
            assertEquals("pending", status, voters);
            status =
                    voter == '0'
                            ? votes("bot:oncall", "[]", "SCHEDULE-7", request)
                            : votes(
                                    "lead:" + Character.toLowerCase(voter),
                                    Character.isUpperCase(voter) ? "[\"security\"]" : "[]",
                                    "",
                                    request);
        }
        assertEquals(expected, status);
        database.assertRows(
                "SELECT count(*) FROM broker.subject_grant",
                expected.equals("granted") ? "1" : "0");
    }

    @Test
    void a_lead_whose_token_did_not_say_security_does_not_count_there() {
        String request = asked.asks("dev:eve", "vault", 600);
        votes("lead:ann", "[]", "", request);
        votes("lead:bob", "[]", "", request);
        votes("lead:cat", "[]", "", request);
        assertEquals("pending", votes("lead:dan", "[]", "", request));
        database.assertRows(
                "SELECT DISTINCT array_to_string(steps, ' ') FROM broker.access_decision", "1 2");
    }

    @Test
    void a_program_says_why_and_is_named_as_one() {
        String request = asked.asks("dev:eve", "vault", 600);
        assertEquals("bad_note", votes("bot:oncall", "[]", "", request));
        assertEquals("bad_note", votes("bot:oncall", "[]", "\u200b \n", request));
        assertEquals("pending", votes("bot:oncall", "[]", "SCHEDULE-7", request));
        votes("lead:ann", "[]", "", request);
        assertEquals("granted", votes("lead:bob", "[]", "", request));
        database.assertRows(
                "SELECT array_to_string(approved_by, ', ') FROM audit.access_request",
                "bot:oncall of sso (program), lead:ann of sso, lead:bob of sso");
    }

    @Test
    void a_login_that_is_a_program_says_why_too() {
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, step, program) VALUES (4, 'test_tenant_admin', 3, true)");
        String request = asked.asks("dev:eve", "vault", 600);
        String vote =
                "INSERT INTO broker.access_decision (request, verdict, note) VALUES ('%s', 'approve', %s)";
        assertTrue(
                refused(Who.TENANT_ADMIN, vote.formatted(request, "' '"))
                        .contains("must say by which ticket, schedule or rule"));
        database.run(Who.TENANT_ADMIN, vote.formatted(request, "'INC-7'"));
        database.assertRows("SELECT steps::text || program FROM broker.access_decision", "{3}true");
    }

    @ParameterizedTest
    @CsvSource({"1, nobody_can_approve, 0", "0, granted, 1"})
    void programs_alone_approve_only_if_the_rule_needs_no_person(
            int people, String expected, int grants) {
        database.admin(
                """
                DELETE FROM broker.access_approver WHERE rule = 4 AND NOT program;
                UPDATE broker.access_rule SET people = %d WHERE id = 4
                """
                        .formatted(people));
        String request =
                asked.one(asked.request("dev:eve", "vault", 600, "coalesce(refusal, id::text)"));
        assertEquals(
                expected,
                request.equals("nobody_can_approve")
                        ? request
                        : votes("bot:oncall", "[]", "INC-7", request));
        database.assertRows("SELECT count(*) FROM broker.subject_grant", Integer.toString(grants));
    }

    @Test
    void enough_programs_do_not_replace_a_person() {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, idp, subject, match, step, program)
                SELECT 4, 'sso', 'bot:*', 'glob', s, true FROM generate_series(1, 3) AS s;
                UPDATE broker.access_rule SET people = 2 WHERE id = 4
                """);
        String request = asked.asks("dev:eve", "vault", 600);
        for (String bot : new String[] {"bot:a", "bot:b", "bot:c", "bot:oncall"}) {
            assertEquals("pending", votes(bot, "[]", "INC-7", request));
        }
        assertEquals("pending", votes("lead:ann", "[]", "", request));
        assertEquals("granted", votes("lead:bob", "[]", "", request));
    }

    /** A person who turns out to be a program as well is one. */
    @Test
    void who_is_a_program_by_one_row_is_a_program() {
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, step, program) VALUES (4, 'sso', 'lead:ann', 3, true)");
        String request = asked.asks("dev:eve", "vault", 600);
        assertEquals("bad_note", votes("lead:ann", "[]", "", request));
        assertEquals("pending", votes("lead:ann", "[]", "INC-7", request));
        database.assertRows("SELECT program FROM broker.access_decision", "t");
    }

    @Test
    void a_step_that_was_removed_since_is_still_needed() {
        String request = asked.asks("dev:eve", "vault", 600);
        database.admin("DELETE FROM broker.access_approver WHERE rule = 4 AND step = 3");
        votes("lead:ann", "[]", "", request);
        assertEquals("pending", votes("lead:bob", "[\"security\"]", "", request));
        assertEquals("pending", votes("lead:cat", "[\"security\"]", "", request));
    }

    @Test
    void a_second_admin_is_needed_to_lose_a_step() {
        database.admin("UPDATE broker.tenant SET require_second_admin = true WHERE name = 'acme'");
        database.run(
                Who.TENANT_ADMIN, "DELETE FROM broker.access_approver WHERE rule = 4 AND program");
        String last = "DELETE FROM broker.access_approver WHERE rule = 4 AND step = 3";
        String moved = "UPDATE broker.access_approver SET step = 4 WHERE rule = 4 AND step = 3";
        for (String edit : new String[] {last, moved}) {
            assertTrue(refused(Who.TENANT_ADMIN, edit).contains("Step 3 of access rule 4"), edit);
        }
        database.run(
                Who.TENANT_ADMIN, "UPDATE broker.access_rule SET enabled = false WHERE id = 4");
        database.run(Who.TENANT_ADMIN, last);
        database.run(Who.TENANT_ADMIN, "UPDATE broker.access_rule SET enabled = true WHERE id = 4");
        assertEquals("no_rule", asked.one(asked.request("dev:eve", "vault", 600, "refusal")));
    }

    @Test
    void a_second_admin_is_needed_to_lose_all_steps_at_once() {
        database.admin("UPDATE broker.tenant SET require_second_admin = true WHERE name = 'acme'");
        assertTrue(
                refused(Who.TENANT_ADMIN, "DELETE FROM broker.access_approver WHERE rule = 4")
                        .contains("of access rule 4 would have no approver"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM broker.access_approver WHERE rule = 4 AND program",
                "UPDATE broker.access_approver SET program = false WHERE rule = 4 AND program",
                "UPDATE broker.access_approver SET subject = 'bot:other' WHERE rule = 4 AND program",
                "UPDATE broker.access_approver SET claims = '{\"a\": \"b\"}' WHERE rule = 4 AND program"
            })
    void a_second_admin_is_needed_to_make_a_program_a_person(String edit) {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, idp, subject, match, step) VALUES (4, 'sso', 'bot:*', 'glob', 3);
                UPDATE broker.tenant SET require_second_admin = true WHERE name = 'acme'
                """);
        assertTrue(
                refused(Who.TENANT_ADMIN, edit)
                        .contains("\"bot:oncall\" decides requests by access rule 4 as a program"),
                edit);
        database.run(
                Who.TENANT_ADMIN, "UPDATE broker.access_rule SET enabled = false WHERE id = 4");
        database.run(Who.TENANT_ADMIN, edit);
    }

    @Test
    void a_program_whose_row_awaits_approval_is_still_a_program() {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, idp, subject, match, step) VALUES (4, 'sso', 'bot:*', 'glob', 3);
                UPDATE broker.tenant SET require_second_admin = true WHERE name = 'acme'
                """);
        String request = asked.asks("dev:eve", "vault", 600);
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.access_approver SET step = 2 WHERE rule = 4 AND program");
        database.assertRows(
                "SELECT program FROM broker.access_approver WHERE approved_at IS NULL", "t");
        assertEquals("bad_note", votes("bot:oncall", "[]", "", request));
    }

    @Test
    void too_few_people_for_all_steps_are_said_at_once() {
        database.admin(
                """
                DELETE FROM broker.access_approver WHERE rule = 4;
                INSERT INTO broker.access_approver (rule, idp, subject, step)
                SELECT 4, 'sso', 'lead:ann', s FROM generate_series(1, 2) AS s
                """);
        String detail =
                asked.one(asked.request("dev:eve", "vault", 600, "refusal || ' ' || detail"));
        assertTrue(
                detail.contains(
                        "needs 2 approvals in 2 steps, a person in one step only, and only one person can give one"),
                detail);
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, step) VALUES (4, 'sso', 'lead:bob', 1)");
        assertEquals("pending", asked.one(asked.request("dev:eve", "vault", 600, "status")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    to mend incident 7  | bad_reason
                    see INC-4711: stuck | bad_reason
                    inc-4711: stuck     | bad_reason
                    INC-4711: stuck     | pending
                    INC-\u200b4711 stuck | pending
                    """)
    void a_reason_must_match_the_pattern_of_the_rule(String reason, String expected) {
        database.admin(
                "UPDATE broker.access_rule SET reason_pattern = 'INC-**', reason_hint = 'Start with the ticket.' WHERE id = 4");
        assertEquals(expected, reasoned(reason, "coalesce(refusal, status)"));
        if (expected.equals("bad_reason")) {
            assertEquals(
                    "The reason for access to key \"vault\" must match INC-**. Start with the ticket.",
                    reasoned(reason, "detail"));
        }
    }

    private String reasoned(String reason, String column) {
        return asked.one(
                """
                SELECT %s FROM internal.request_access('acme', 'sso', 'dev:eve', '{}', NULL, NULL, '{vault}', '%s', 600, false)
                """
                        .formatted(column, reason));
    }

    @Test
    void a_rule_whose_pattern_fits_is_taken_before_one_with_fewer_approvals() {
        database.admin(
                """
                UPDATE broker.access_rule SET reason_pattern = 'INC-*' WHERE id = 1;
                UPDATE broker.access_rule SET reason_pattern = 'to **' WHERE id = 2
                """);
        assertEquals("2", asked.one(asked.request("dev:eve", "deploy", 600, "approvals_needed")));
    }
}
