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
import org.junit.jupiter.params.provider.EnumSource;
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

    private void assertExplained(Who who, String subject, String expected) {
        database.assertRows(
                who,
                """
                SELECT concat_ws('|', condition, expected, regexp_replace(seen, '[0-9-]{10} [0-9:]{5} UTC', 'TIME'))
                  FROM broker.explain('sso', '%s', '{"groups": ["dev"]}') WHERE key = 'vault'
                """
                        .formatted(subject),
                expected);
    }

    @ParameterizedTest
    @EnumSource(
            value = Who.class,
            names = {"TENANT_ADMIN", "AUDITOR"})
    void explain_says_what_a_request_awaits_and_that_a_key_can_be_requested(Who who) {
        String grant = "a grant of this key to a subject of identity provider \"sso\"";
        assertExplained(
                who,
                "dev:eve",
                "a grant|%s|access rule 4 lets the subject request it".formatted(grant));
        assertExplained(who, "ops:eve", "a grant|" + grant);
        String request = asked.asks("dev:eve", "vault", 600);
        String pending =
                "a grant|a decision on the request|request %s awaits approvals until TIME: "
                        .formatted(request);
        assertExplained(
                who, "dev:eve", pending + "0 of 3 given; approvals are missing in step 1, 2, 3");
        votes("bot:oncall", "[]", "SCHEDULE-7", request);
        assertExplained(
                who,
                "dev:eve",
                pending
                        + "1 of 3 given by bot:oncall of sso (program); approvals are missing in step 1, 2; people must still give 1");
        votes("lead:ann", "[]", "", request);
        assertExplained(
                who,
                "dev:eve",
                pending + "2 of 3 given by bot:oncall of sso (program), lead:ann of sso");
        assertExplained(
                who,
                "dev:jim",
                "a grant|%s|access rule 4 lets the subject request it".formatted(grant));
        votes("lead:bob", "[]", "", request);
        assertEquals("granted", asked.explained("dev:eve", "vault"));
        database.admin("UPDATE broker.subject_grant SET enabled = false");
        assertExplained(who, "dev:eve", "the grant is enabled|true|false");
        database.admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'dev:eve', 'INC-1')");
        assertExplained(who, "dev:eve", "blocked|not blocked|blocked subject 1: INC-1");
    }

    @Test
    void explain_says_what_the_reason_of_a_request_must_be_like() {
        database.admin("UPDATE broker.access_rule SET reason_pattern = 'INC-**' WHERE id = 4");
        assertExplained(
                Who.TENANT_ADMIN,
                "dev:eve",
                "a grant|a grant of this key to a subject of identity provider \"sso\"|access rule 4 lets the subject request it, with a reason that matches INC-**");
    }

    @Test
    void a_program_says_why_and_is_named_as_one() {
        String request = asked.asks("dev:eve", "vault", 600);
        assertEquals("bad_note", votes("bot:oncall", "[]", "", request));
        assertEquals("bad_note", votes("bot:oncall", "[]", "\u200b \n", request));
        assertEquals(
                "bad_note",
                votes("bot:oncall", "[]", "\u2003\u00a0\u2800\u3000\ufffc\ud834\udd73", request));
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
                        .contains("so the decision needs a note"));
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
    void a_program_decides_no_longer_access_than_its_own_and_does_not_become_a_person() {
        database.admin(
                """
                UPDATE broker.access_rule SET max_access = 7200 WHERE id = 4;
                UPDATE broker.access_approver SET max_access = 900 WHERE program;
                INSERT INTO broker.access_approver (rule, idp, subject, match, step) VALUES (4, 'sso', 'bot:*', 'glob', 2)
                """);
        String brief = asked.asks("dev:eve", "vault", 900);
        assertEquals("pending", votes("bot:oncall", "[]", "INC-7", brief));
        database.assertRows(
                "SELECT program || ' ' || steps::text FROM broker.access_decision", "true {2,3}");
        String longer = asked.asks("dev:eve", "vault", 901);
        assertEquals("pending", votes("bot:oncall", "[]", "INC-7", longer));
        database.assertRows(
                "SELECT program || ' ' || steps::text FROM broker.access_decision WHERE request = '%s'"
                        .formatted(longer),
                "true {2}");
        database.admin("DELETE FROM broker.access_approver WHERE subject = 'bot:*'");
        String another = asked.asks("dev:jim", "vault", 901);
        assertEquals("unknown_request", votes("bot:oncall", "[]", "INC-7", another));
    }

    @ParameterizedTest
    @CsvSource({
        "599, program_never_decides",
        "600, ''",
        "3599, ''",
        "3600, max_access_has_no_effect"
    })
    void lint_warns_of_a_max_access_that_decides_nothing_or_everything(
            int seconds, String finding) {
        database.runAsSuperuser(
                "UPDATE broker.provider_type SET min_duration = 540 WHERE type = 'jwt'");
        database.admin(
                "UPDATE broker.access_approver SET max_access = %d WHERE program"
                        .formatted(seconds));
        database.assertRows(
                "SELECT coalesce(string_agg(rule, ', '), '') FROM broker.lint WHERE table_name = 'access_approver'",
                finding);
    }

    @Test
    void a_request_that_only_a_program_could_decide_and_is_too_long_for_it_is_refused_at_once() {
        database.admin(
                """
                UPDATE broker.access_rule SET people = 0 WHERE id = 4;
                DELETE FROM broker.access_approver WHERE rule = 4 AND NOT program;
                UPDATE broker.access_approver SET max_access = 900 WHERE rule = 4
                """);
        assertEquals("null", asked.one(asked.request("dev:eve", "vault", 900, "refusal")));
        assertEquals(
                "Nobody can approve access to key \"vault\": access rule 4 needs 1 approval, but nobody can give one"
                        + " (a program may only decide access of at most 900 seconds).",
                asked.one(asked.request("dev:jim", "vault", 901, "detail")));
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

    private void requireSecondAdmin() {
        database.admin("UPDATE broker.tenant SET require_second_admin = true WHERE name = 'acme'");
    }

    /** Rule 4 is out of force, and the login that edited its approvers can't approve it. */
    private void assertOnlyAnotherAdminApproves() {
        assertEquals("no_rule", asked.one(asked.request("dev:eve", "vault", 600, "refusal")));
        String approval =
                database.value(
                        "SELECT statement FROM broker.pending_approval WHERE table_name = 'access_rule'");
        assertTrue(refused(Who.TENANT_ADMIN, approval).contains("cannot approve it"), approval);
        database.admin(approval);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM broker.access_approver WHERE rule = 4 AND step = 3",
                "UPDATE broker.access_approver SET step = 4 WHERE rule = 4 AND step = 3",
                "DELETE FROM broker.access_approver WHERE rule = 4"
            })
    void a_second_admin_is_needed_to_lose_a_step(String edit) {
        requireSecondAdmin();
        database.run(Who.TENANT_ADMIN, edit);
        assertOnlyAnotherAdminApproves();
    }

    /**
     * Who disables a rule, edits its approvers and waits for somebody to enable it is its writer.
     */
    @Test
    void a_step_that_a_disabled_rule_lost_is_seen_and_approved() {
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                """
                UPDATE broker.access_rule SET enabled = false WHERE id = 4;
                DELETE FROM broker.access_approver WHERE rule = 4 AND step = 3
                """);
        database.admin("UPDATE broker.access_rule SET enabled = true WHERE id = 4");
        database.assertRows(
                "SELECT concat_ws('|', allows -> 'steps', json_array_length(allows -> 'approvers')) FROM broker.pending_approval",
                "[1, 2]|2");
        String approval = database.value("SELECT statement FROM broker.pending_approval");
        for (Who who : new Who[] {Who.TENANT_ADMIN, Who.ADMIN}) {
            assertTrue(refused(who, approval).contains("cannot approve it"), who.login());
        }
    }

    /** One after the other, so that somebody else deletes the last one. */
    @Test
    void who_removed_approvers_of_a_rule_does_not_approve_it() {
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, step) VALUES (4, 'sso', 'lead:zoe', 3)");
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                "DELETE FROM broker.access_approver WHERE rule = 4 AND subject = 'lead:zoe'");
        database.admin("DELETE FROM broker.access_approver WHERE rule = 4 AND step = 3");
        assertOnlyAThirdAdminApproves();
    }

    /** The rule awaits approval already, by the change of somebody else. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM broker.access_approver WHERE rule = 4 AND program",
                "UPDATE broker.access_approver SET program = false WHERE rule = 4 AND program"
            })
    void who_changed_approvers_of_a_rule_that_awaits_approval_does_not_approve_it(String edit) {
        requireSecondAdmin();
        database.admin("UPDATE broker.access_rule SET reason_pattern = 'INC-**' WHERE id = 4");
        String shown = database.value("SELECT statement FROM broker.pending_approval");
        database.run(Who.TENANT_ADMIN, edit);
        String stale = refused(Who.TENANT_ADMIN, shown);
        assertTrue(stale.contains("cannot approve it"), stale);
        assertOnlyAThirdAdminApproves();
    }

    @Test
    void a_rule_is_approved_with_the_approvers_that_were_shown() {
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.access_rule SET reason_pattern = 'INC-**' WHERE id = 4");
        String shown = database.value("SELECT statement FROM broker.pending_approval");
        database.run(
                Who.TENANT_ADMIN, "DELETE FROM broker.access_approver WHERE rule = 4 AND program");
        String stale = refused(Who.ADMIN, shown);
        assertTrue(stale.contains(": approvers."), stale);
        database.admin(database.value("SELECT statement FROM broker.pending_approval"));
    }

    private void assertOnlyAThirdAdminApproves() {
        String approval =
                database.value(
                        "SELECT statement FROM broker.pending_approval WHERE table_name = 'access_rule'");
        for (Who who : new Who[] {Who.TENANT_ADMIN, Who.ADMIN}) {
            assertTrue(refused(who, approval).contains("cannot approve it"), who.login());
        }
    }

    @Test
    void a_further_step_counts_once_its_approver_is_approved() {
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.access_approver (rule, idp, subject, step) VALUES (4, 'sso', 'lead:zoe', 5)");
        assertEquals("3", asked.one(asked.request("dev:eve", "vault", 600, "approvals_needed")));
        database.admin(
                "SELECT 1; " + database.value("SELECT statement FROM broker.pending_approval"));
        assertEquals("4", asked.one(asked.request("dev:ida", "vault", 600, "approvals_needed")));
        database.assertRows("SELECT count(*) FROM broker.pending_approval", "0");
    }

    @Test
    void an_approver_that_awaits_approval_goes_without_a_trace() {
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                """
                INSERT INTO broker.access_approver (rule, idp, subject, step) VALUES (4, 'sso', 'lead:zoe', 5);
                DELETE FROM broker.access_approver WHERE subject = 'lead:zoe'
                """);
        database.assertRows("SELECT count(*) FROM broker.pending_approval", "0");
        assertEquals("3", asked.one(asked.request("dev:eve", "vault", 600, "approvals_needed")));
    }

    /**
     * The rows of an approver are in the order in which they were written, of steps in any order.
     */
    @ParameterizedTest
    @CsvSource({
        "gate=3p gate=1 lead=1 sec=2, null",
        "gate=1 gate=3p lead=1 sec=2, null",
        "lead=1 gate=3 sec=2 gate=1, null",
        "gate=3p gate=1, nobody_can_approve",
        "gate=2 gate=1 lead=3 sec=3, nobody_can_approve"
    })
    void an_approver_of_several_steps_counts_in_each_of_them(String approvers, String refusal) {
        database.admin("DELETE FROM broker.access_approver WHERE rule = 4");
        for (String approver : approvers.split(" ", -1)) {
            database.admin(
                    "INSERT INTO broker.access_approver (rule, idp, subject, step, program) VALUES (4, 'sso', '%s', %c, %b)"
                            .formatted(
                                    approver.substring(0, approver.indexOf('=')),
                                    approver.charAt(approver.indexOf('=') + 1),
                                    approver.endsWith("p")));
        }
        assertEquals(refusal, asked.one(asked.request("dev:eve", "vault", 600, "refusal")));
    }

    /** Otherwise the admin who approves only some of its approvers would choose its steps alone. */
    @Test
    void a_new_rule_is_approved_with_all_steps_that_are_written() {
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                """
                INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'vault', 'sso', 'ops:tom', 3600);
                INSERT INTO broker.access_approver (rule, idp, subject, step)
                SELECT max(r.id), 'sso', 'lead:ann', s FROM broker.access_rule AS r CROSS JOIN generate_series(1, 2) AS s GROUP BY s
                """);
        database.admin(
                database.value(
                        "SELECT statement FROM broker.pending_approval WHERE table_name = 'access_rule'"));
        database.admin(
                database.value(
                        "SELECT statement FROM broker.pending_approval WHERE allows ->> 'step' = '1'"));
        assertEquals(
                "nobody_can_approve", asked.one(asked.request("ops:tom", "vault", 600, "refusal")));
        database.assertRows(
                "SELECT steps FROM broker.access_rule WHERE subject = 'ops:tom'", "{1,2}");
    }

    @Test
    void steps_that_awaited_approval_count_once_it_is_no_longer_required() {
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.access_approver (rule, idp, subject, step) VALUES (4, 'sso', 'lead:zoe', 5)");
        database.admin("UPDATE broker.tenant SET require_second_admin = false WHERE name = 'acme'");
        database.assertRows("SELECT steps FROM broker.access_rule WHERE id = 4", "{1,2,3,5}");
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
                INSERT INTO broker.access_approver (rule, idp, subject, match, step) VALUES (4, 'sso', 'bot:*', 'glob', 3)
                """);
        requireSecondAdmin();
        database.run(Who.TENANT_ADMIN, edit);
        assertOnlyAnotherAdminApproves();
    }

    /** Its token has another audience, but it is the same program. */
    @Test
    void a_program_is_one_through_each_identity_provider_of_its_issuer() {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, idp, subject, match, step) VALUES (4, 'console', 'bot:*', 'glob', 3);
                UPDATE broker.access_rule SET people = 3 WHERE id = 4
                """);
        String request = asked.asks("dev:eve", "vault", 600);
        votes("lead:ann", "[]", "", request);
        votes("lead:bob", "[]", "", request);
        assertEquals("bad_note", asked.decides("console", "bot:oncall", request, "approve"));
        assertEquals(
                "pending",
                asked.one(
                        """
                        SELECT coalesce(refusal, status) FROM internal.decide_access('acme', 'console', 'bot:oncall', '{}', false, '%s', 'approve', 'INC-7')
                        """
                                .formatted(request)));
        database.assertRows(
                "SELECT program FROM broker.access_decision WHERE subject = 'bot:oncall'", "t");
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
                        "needs 2 approvals in 2 steps, each by a different person, but only one"
                                + " person can give one"),
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
                    "The reason for access to key \"vault\" must match the pattern \"INC-**\". Start with the ticket.",
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
