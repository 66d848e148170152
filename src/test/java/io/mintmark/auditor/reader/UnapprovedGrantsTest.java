package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Grants that nobody approved, as an owner of the database writes them: both verifiers find each.
 */
class UnapprovedGrantsTest {
    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);
    private final AskedAccess asked = new AskedAccess(database);

    /** Past the triggers that ask, but with the history, as only the owner gets. */
    private void forge(String sql) {
        database.runAsSuperuser(
                """
                DO $$
                DECLARE
                    t record;
                BEGIN
                    FOR t IN SELECT tgrelid::regclass AS target, tgname FROM pg_trigger
                              WHERE tgname IN ('check_key', 'check_subject_grant', 'check_blocked_subject', 'check_access_rule',
                                               'check_access_approver', 'check_access_decision') LOOP
                        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER %I', t.target, t.tgname);
                        IF EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = t.target AND a.attname = 'id' AND a.atttypid = 'bigint'::regtype) THEN
                            EXECUTE format('ALTER TABLE %s ALTER id SET DEFAULT nextval(%L)', t.target, pg_get_serial_sequence(t.target::text, 'id'));
                        END IF;
                    END LOOP;
                    FOR t IN SELECT unnest(ARRAY['access_rule', 'access_decision']) AS name LOOP
                        EXECUTE format('CREATE OR REPLACE FUNCTION internal.record_%s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
                                            SET search_path = pg_catalog, pg_temp SET TimeZone = %L AS %L', t.name, 'UTC',
                            'BEGIN
                                PERFORM internal.record_row(TG_TABLE_NAME, ''tenant'', TG_OP, to_jsonb(OLD), to_jsonb(NEW), to_jsonb(NEW), false);
                                RETURN NULL;
                             END');
                    END LOOP;
                END $$;
                """
                        + sql);
    }

    /** The findings of the Java verifier, and the output of {@code verify.py}. */
    private record Verified(List<String> wrong, String output) {
        /** One sentence has all of these parts, and both verifiers have it. */
        void assertHas(String... parts) {
            List<String> found =
                    wrong.stream().filter(it -> Stream.of(parts).allMatch(it::contains)).toList();
            assertEquals(1, found.size(), wrong::toString);
            assertTrue(output.contains("WRONG: " + found.getFirst()), output);
        }
    }

    private Verified verified() throws Exception {
        Seals.seal(database);
        Script script = new Script(directory, database);
        script.status(List.of());
        return new Verified(Seals.wrong(database), script.output());
    }

    private void assertFound(String... parts) throws Exception {
        Verified verified = verified();
        assertEquals(1, verified.wrong.size(), verified.wrong::toString);
        verified.assertHas(parts);
    }

    /** One forged row among several of a database, with the parts of its finding. */
    private record Forgery(String name, String row, String finding) {}

    private Stream<DynamicTest> eachIsFound(List<Forgery> forgeries) throws Exception {
        Verified verified = verified();
        return Stream.concat(
                forgeries.stream()
                        .map(it ->
                                dynamicTest(it.name, () -> verified.assertHas(it.row, it.finding))),
                Stream.of(
                        dynamicTest(
                                "nothing else",
                                () ->
                                        assertEquals(
                                                forgeries.size(),
                                                verified.wrong.size(),
                                                verified.wrong::toString))));
    }

    /** The lines of a table, each as its cells. */
    private static List<List<String>> cases(String table) {
        return table.lines()
                .map(line -> Stream.of(line.split("[|]", -1)).map(String::strip).toList())
                .toList();
    }

    private void assertNothingFound() throws Exception {
        Seals.seal(database);
        assertEquals(List.of(), Seals.wrong(database));
        Script script = new Script(directory, database);
        assertEquals(0, script.status(List.of()), script::output);
    }

    private void requireSecondAdmin() {
        database.admin("UPDATE broker.access_rule SET end_access = true WHERE id = 3");
        database.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme',"
                        + " 'sso', 'before', 'deploy')");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
        database.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme',"
                        + " 'sso', 'ci', 'deploy')");
    }

    private void block() {
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme',"
                        + " 'dev:mal', 'INC-1')");
    }

    @Test
    void what_was_approved_is_not_accused() throws Exception {
        String hour = asked.asks("dev:eve", "deploy", 600);
        assertEquals("granted", asked.decides("console", "lead:bob", hour, "approve"));
        String day = asked.asks("dev:eve", "deploy", 7200);
        asked.decides("sso", "lead:bob", day, "approve");
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                        .formatted(day));
        asked.asks("dev:eve", "root", 600);
        assertEquals("withdrawn", asked.gives("dev:eve", day));
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                "SELECT broker.approve('subject_grant', g.id,"
                        + " internal.row_revision('subject_grant', g.tenant, g.id::text)) FROM"
                        + " broker.subject_grant AS g ORDER BY g.id DESC LIMIT 1");
        block();
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.blocked_subject SET until = now() + interval '5 days'");
        database.admin(
                "SELECT broker.approve('blocked_subject', b.id,"
                        + " internal.row_revision('blocked_subject', b.tenant, b.id::text)) FROM"
                        + " broker.blocked_subject AS b");
        database.admin(
                "UPDATE broker.subject_grant SET owner = 'x', enabled = false WHERE subject ="
                        + " 'ci'");
        database.admin("UPDATE broker.key SET max_duration = 300 WHERE name = 'root'");
        database.run(
                Who.TENANT_ADMIN,
                "SELECT broker.approve('key', 'acme', 'root', internal.row_revision('key', 'acme',"
                        + " 'root'))");
        assertNothingFound();
    }

    @TestFactory
    Stream<DynamicTest> a_row_without_a_second_admin_is_found() throws Exception {
        database.admin(
                """
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access, break_glass, approvals, end_access)
                SELECT 'acme', 'root', 'sso', 'ops:' || n || ':**', 'glob', 3600, true, 0, true FROM generate_series(4, 5) AS n
                """);
        requireSecondAdmin();
        database.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme',"
                        + " 'sso', 'cd', 'deploy')");
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) SELECT 'acme',"
                        + " 'dev:mal' || n, 'INC-1' FROM generate_series(1, 4) AS n");
        List<Forgery> forgeries = new ArrayList<>();
        List<String> attacks = new ArrayList<>();
        for (List<String> one :
                cases(
                        """
                        UPDATE broker.subject_grant SET approved_by = 'test_admin', approved_at = now() WHERE subject = 'ci' | unapproved_grant 2 of tenant acme | it was approved only by a login that wrote or changed it
                        UPDATE broker.subject_grant SET approved_at = now() WHERE subject = 'cd' | unapproved_grant 3 of tenant acme | it was put in force without an approval
                        UPDATE broker.subject_grant SET subject = 'mallory' WHERE subject = 'before' | unapproved_grant 1 of tenant acme | it was written as already approved
                        INSERT INTO broker.subject_grant (tenant, idp, subject, key, approved_at) VALUES ('acme', 'sso', 'trudy', 'deploy', now()) | unapproved_grant 4 of tenant acme |
                        UPDATE broker.key SET max_duration = 7 WHERE name = 'root' | unapproved_key root of tenant acme |
                        UPDATE broker.access_rule SET steps = '{2}' WHERE id = 1 | unapproved_access_rule 1 of tenant acme |
                        UPDATE broker.access_rule SET end_access = false WHERE id = 3 | unapproved_access_rule 3 of tenant acme |
                        UPDATE broker.access_rule SET end_access = false, enabled = false WHERE id = 4 | unapproved_access_rule 4 of tenant acme |
                        UPDATE broker.access_rule SET subject = 'mallory', match = 'exact' WHERE id = 5 | unapproved_access_rule 5 of tenant acme |
                        INSERT INTO broker.access_approver (tenant, rule, idp, issuer, subject, approved_at) VALUES ('acme', 2, 'sso', 'https://sso.example.com', 'mallory', now()) | unapproved_access_approver | it was written as already approved
                        UPDATE broker.blocked_subject SET enabled = false WHERE id = 1 | unapproved_blocked_subject 1 of tenant acme |
                        UPDATE broker.blocked_subject SET until = now() + interval '1 hour' WHERE id = 2 | unapproved_blocked_subject 2 of tenant acme | it was lifted, shortened or narrowed
                        UPDATE broker.blocked_subject SET claims = '{"a": "b"}' WHERE id = 3 | unapproved_blocked_subject 3 of tenant acme | it was lifted, shortened or narrowed
                        DELETE FROM broker.blocked_subject WHERE id = 4 | unapproved_blocked_subject 4 of tenant acme |
                        """)) {
            attacks.add(one.getFirst());
            forgeries.add(new Forgery(one.getFirst(), one.get(1), one.get(2)));
        }
        forge(String.join(";", attacks));
        return eachIsFound(forgeries);
    }

    /** The time zone of a session, and numbers that are equal but written otherwise. */
    @Test
    void what_a_session_writes_in_its_own_form_is_not_accused() throws Exception {
        requireSecondAdmin();
        block();
        for (String change :
                List.of(
                        "until = now() + interval '5 days'",
                        "claims = '{\"n\": 100}', until = NULL",
                        "claims = '{\"n\": 100.0}'")) {
            database.run(
                    Who.TENANT_ADMIN,
                    "SET TimeZone = 'Asia/Kathmandu'; UPDATE broker.blocked_subject SET " + change);
            database.admin(
                    "SELECT broker.approve('blocked_subject', b.id,"
                            + " internal.row_revision('blocked_subject', b.tenant, b.id::text)) FROM"
                            + " broker.blocked_subject AS b");
        }
        for (String claims : List.of("{\"n\": 100}", "{\"n\": 100.0}")) {
            database.admin(
                    "UPDATE broker.subject_grant SET claims = '%s' WHERE subject = 'ci'"
                            .formatted(claims));
            database.run(
                    Who.TENANT_ADMIN,
                    "SELECT broker.approve('subject_grant', 2,"
                            + " internal.row_revision('subject_grant', 'acme', '2'))");
        }
        assertNothingFound();
    }

    @Test
    void an_approval_by_another_login_of_its_writer_is_found() throws Exception {
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1,"
                        + " 'test_tenant_admin', 'sso', 'lead:ann')");
        requireSecondAdmin();
        database.runAsSuperuser(
                """
                CREATE OR REPLACE FUNCTION internal.own_writer_of(of_table text, of_tenant text, of_name text)
                    RETURNS text LANGUAGE sql RETURN NULL
                """);
        database.run(
                Who.TENANT_ADMIN,
                "SELECT broker.approve('subject_grant', 2, internal.row_revision('subject_grant',"
                        + " 'acme', '2'))");
        assertFound("it was approved only by a login that wrote or changed it");
    }

    /** Both verifiers and the database know a person by the same rows. */
    @Test
    void who_was_joined_by_rows_that_never_were_in_force_or_are_gone_is_not_accused()
            throws Exception {
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1,"
                        + " 'test_auditor', 'console', 'lead:zoe')");
        requireSecondAdmin();
        for (String login : List.of("test_admin", "test_tenant_admin")) {
            database.run(
                    Who.TENANT_ADMIN,
                    "INSERT INTO broker.access_approver (rule, role_name, idp, subject, step) VALUES (1, '%s', 'console', 'lead:zoe', 2)"
                            .formatted(login));
        }
        database.run(Who.TENANT_ADMIN, "DELETE FROM broker.access_approver WHERE idp = 'console'");
        database.admin("DELETE FROM broker.identity_provider WHERE name = 'console'");
        database.run(
                Who.TENANT_ADMIN,
                "SELECT broker.approve('subject_grant', 2, internal.row_revision('subject_grant',"
                        + " 'acme', '2'))");
        assertNothingFound();
    }

    /**
     * The steps of the rule go with the first deletion, and come with the approval of the second
     * row.
     */
    @Test
    void a_rule_whose_steps_come_and_go_is_not_accused() throws Exception {
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.access_approver (rule, idp, subject, step) VALUES (1, 'sso',"
                        + " 'lead:zoe', 2)");
        database.admin(
                database.value(
                        "SELECT statement FROM broker.pending_approval WHERE table_name ="
                                + " 'access_approver'"));
        String request = asked.asks("dev:eve", "deploy", 600);
        asked.decides("sso", "lead:bob", request, "approve");
        assertEquals("granted", asked.decides("sso", "lead:zoe", request, "approve"));
        database.run(Who.TENANT_ADMIN, "DELETE FROM broker.access_approver WHERE step = 2");
        database.admin(
                database.value(
                        "SELECT statement FROM broker.pending_approval WHERE table_name ="
                                + " 'access_rule'"));
        assertEquals(
                "granted",
                asked.decides("sso", "lead:bob", asked.asks("dev:ida", "deploy", 600), "approve"));
        assertNothingFound();
    }

    private static final String GRANT =
            """
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, valid_from, valid_until, request_id, approved_at)
            SELECT q.tenant, q.idp, %s, q.key, q.claims, now(), now() + %s * interval '1 second', q.id, now() FROM broker.access_request AS q
            """;

    @TestFactory
    Stream<DynamicTest> a_grant_that_its_request_does_not_allow_is_found() throws Exception {
        List<Forgery> forgeries = new ArrayList<>();
        List<String> attacks = new ArrayList<>();
        for (List<String> one :
                cases(
                        """
                        0 | q.subject | q.access | | had 0 of 2 approvals before this change
                        1 | q.subject | q.access | | had 1 of 2 approvals before this change
                        2 | 'mallory' | q.access | | it doesn't match the access that request
                        2 | q.subject | 999999   | | it doesn't match the access that request
                        1 | q.subject | q.access | INSERT INTO broker.access_decision (tenant, request, verdict, idp, issuer, subject) SELECT 'acme', id, 'approve', 'console', issuer, 'mallory' FROM broker.access_request WHERE subject = 'dev:eve' | had 1 of 2
                        1 | q.subject | q.access | INSERT INTO broker.access_decision (tenant, request, verdict, idp, issuer, subject) SELECT 'acme', id, 'approve', 'sso', issuer, 'dev:eve' FROM broker.access_request WHERE subject = 'dev:eve' | had 1 of 2
                        1 | q.subject | q.access | INSERT INTO broker.access_decision (tenant, request, verdict, decided_by) SELECT 'acme', id, 'approve', 'test_tenant_admin' FROM broker.access_request WHERE subject = 'dev:eve' | had 1 of 2
                        """)) {
            String requester = "dev:eve" + forgeries.size();
            String request = asked.asks(requester, "deploy", 7200);
            for (int i = 1; i <= Integer.parseInt(one.getFirst()); i++) {
                attacks.add(
                        "INSERT INTO broker.access_decision (tenant, request, verdict, idp, issuer, subject) VALUES ('acme', '%s', 'approve', 'sso', 'https://sso.example.com', 'lead:%d')"
                                .formatted(request, i));
            }
            attacks.add(one.get(3).replace("dev:eve", requester));
            attacks.add(
                    GRANT.formatted(one.get(1), one.get(2))
                            + " WHERE q.id = '%s'".formatted(request));
            forgeries.add(new Forgery(one.toString(), request, one.get(4)));
        }
        forge(String.join(";", attacks));
        return eachIsFound(forgeries);
    }

    /** In either order, and a decision of an SQL login is no such row. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    UPDATE broker.key SET description = 'mine' | INSERT INTO broker.access_decision (tenant, request, verdict, idp, issuer, subject) SELECT 'acme', id, 'refuse', 'sso', issuer, 'lead:bob' FROM broker.access_request | forged_access_decision of tenant acme at change
                    INSERT INTO broker.access_decision (tenant, request, verdict, idp, issuer, subject) SELECT 'acme', id, 'refuse', 'sso', issuer, 'lead:bob' FROM broker.access_request | UPDATE broker.key SET description = 'mine' | login 'postgres', which wrote it, also wrote configuration
                    """)
    void a_login_that_writes_configuration_and_what_tokens_decide_is_found(
            String first, String second, String finding) throws Exception {
        asked.asks("dev:eve", "deploy", 7200);
        forge(first);
        database.runAsSuperuser(second);
        assertFound(finding);
    }

    @TestFactory
    Stream<DynamicTest> a_request_with_other_terms_than_its_rule_is_found() throws Exception {
        asked.asks("dev:eve", "deploy", 7200);
        List<Forgery> forgeries = new ArrayList<>();
        for (String terms : List.of("true, false, 0", "false, false, 1", "false, true, 2")) {
            String requester = "dev:mallory" + forgeries.size();
            forge(
                    """
                    INSERT INTO broker.access_request (tenant, rule, key, idp, issuer, subject, reason, access, break_glass, end_credentials, approvals, expires_at)
                    VALUES ('acme', 2, 'deploy', 'sso', 'https://sso.example.com', '%s', 'because I own it', 600, %s, now())
                    """
                            .formatted(requester, terms));
            forgeries.add(
                    new Forgery(terms, requestOf(requester), "was not allowed by access rule 2"));
        }
        forge(GRANT.formatted("q.subject", "q.access") + " WHERE q.subject LIKE 'dev:mallory_'");
        return eachIsFound(forgeries);
    }

    private String requestOf(String requester) {
        return database.value(
                "SELECT id FROM broker.access_request WHERE subject = '%s'".formatted(requester));
    }

    @Test
    void a_grant_that_was_prolonged_after_its_approval_is_found() throws Exception {
        asked.decides("sso", "lead:bob", asked.asks("dev:eve", "deploy", 600), "approve");
        forge("UPDATE broker.subject_grant SET valid_until = now() + interval '1 year'");
        assertFound("it was changed after request");
    }

    @Test
    void access_that_approvers_withdrew_is_not_accused() throws Exception {
        database.admin("UPDATE broker.access_rule SET end_access = true");
        String byToken = asked.asks("dev:eve", "deploy", 600);
        asked.decides("sso", "lead:bob", byToken, "approve");
        assertEquals("withdrawn", asked.decides("sso", "lead:joe", byToken, "withdraw"));
        String byLogin = asked.asks("dev:jim", "deploy", 600);
        asked.decides("sso", "lead:bob", byLogin, "approve");
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'withdraw')"
                        .formatted(byLogin));
        asked.decides("sso", "lead:bob", asked.asks("dev:amy", "deploy", 600), "approve");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.access_rule SET end_access = false; UPDATE broker.access_rule SET"
                        + " enabled = false, end_access = true");
        database.assertRows("SELECT count(*) FROM broker.subject_grant WHERE enabled", "0");
        assertNothingFound();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.access_rule SET enabled = false WHERE id = 1",
                "UPDATE broker.access_rule SET max_access = 1800 WHERE id = 1",
                "UPDATE broker.access_rule SET claims = '{\"level\": 2.0}', end_access = true WHERE"
                        + " id = 1",
                "DELETE FROM broker.access_approver WHERE rule = 1; DELETE FROM broker.access_rule"
                        + " WHERE id = 1"
            })
    void a_change_of_a_rule_that_did_not_end_its_access_is_found(String change) throws Exception {
        grantsOfARuleThatEndsThem();
        forge(change);
        assertFound(
                "unended_access of access_rule 1 of tenant acme at change ",
                ": grant 1 was not disabled before this change");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.access_rule SET owner = 'team' WHERE id = 1",
                "UPDATE broker.access_rule SET enabled = false, end_access = false WHERE id = 1",
                "UPDATE broker.access_rule SET enabled = false WHERE id = 2",
                "UPDATE broker.subject_grant SET enabled = false; UPDATE broker.access_rule SET"
                        + " enabled = false WHERE id = 1"
            })
    void a_change_of_a_rule_that_ends_no_access_is_not_accused(String change) throws Exception {
        grantsOfARuleThatEndsThem();
        forge(change);
        assertNothingFound();
    }

    /** The database ends what the verifiers expect: also a number that is written otherwise. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.access_rule SET claims = '{\"level\": 2.0}' WHERE id = 1",
                "UPDATE broker.access_rule SET enabled = false WHERE id = 1",
                "DELETE FROM broker.access_approver WHERE rule = 1; DELETE FROM broker.access_rule"
                        + " WHERE id = 1"
            })
    void a_change_of_a_rule_that_ended_its_access_is_not_accused(String change) throws Exception {
        grantsOfARuleThatEndsThem();
        database.run(Who.TENANT_ADMIN, change);
        database.assertRows("SELECT count(*) FROM broker.subject_grant WHERE enabled", "0");
        assertNothingFound();
    }

    private void grantsOfARuleThatEndsThem() {
        database.admin(
                "UPDATE broker.access_rule SET end_access = true, claims = '{\"level\": 2}' WHERE"
                        + " id = 1");
        for (String subject : List.of("dev:eve", "dev:jim")) {
            String request =
                    asked.one(
                            "SELECT id FROM internal.request_access('acme', 'sso', '%s', '{\"level\": 2}', NULL, NULL, '{deploy}', 'to mend incident 7', 600, false)"
                                    .formatted(subject));
            assertEquals("granted", asked.decides("sso", "lead:bob", request, "approve"));
        }
    }

    @TestFactory
    Stream<DynamicTest> a_withdrawal_that_no_approver_made_or_that_ended_nothing_is_found()
            throws Exception {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, idp, subject) SELECT 1, 'sso', 'dev:eve' || n FROM generate_series(0, 6) AS n;
                INSERT INTO broker.access_approver (rule, idp, subject, program, max_access) VALUES (1, 'sso', 'bot:gate', true, 300)
                """);
        List<Forgery> forgeries = new ArrayList<>();
        List<String> attacks = new ArrayList<>();
        for (List<String> one :
                cases(
                        """
                        true  | false | NULL, 'sso', 'https://sso.example.com', 'lead:bob', false       | grant 1 was not disabled before this change
                        true  | true  | NULL, 'sso', 'https://sso.example.com', 'dev:mal', false        | no approver of the request made the withdrawal
                        true  | true  | NULL, 'sso', 'https://sso.example.com', 'dev:eve', false        | no approver of the request made the withdrawal
                        true  | true  | 'test_tenant_admin', NULL, NULL, NULL, false                    | no approver of the request made the withdrawal
                        true  | true  | NULL, 'sso', 'https://sso.example.com', 'lead:bob', true        | a program made the withdrawal without a note
                        true  | true  | NULL, 'sso', 'https://sso.example.com', 'bot:gate', true        | no approver of the request made the withdrawal
                        false | true  | NULL, 'sso', 'https://sso.example.com', 'lead:bob', false       | the request was not granted before this change
                        """)) {
            String requester = "dev:eve" + forgeries.size();
            String request = asked.asks(requester, "deploy", 600);
            if (one.getFirst().equals("true")) {
                asked.decides("sso", "lead:joe", request, "approve");
            }
            if (one.get(1).equals("true")) {
                database.admin(
                        "UPDATE broker.subject_grant SET enabled = false WHERE subject = '%s'"
                                .formatted(requester));
            }
            attacks.add(
                    """
                    INSERT INTO broker.access_decision (tenant, request, verdict, decided_by, idp, issuer, subject, program)
                    VALUES ('acme', '%s', 'withdraw', %s)
                    """
                            .formatted(request, one.get(2).replace("dev:eve", requester)));
            forgeries.add(
                    new Forgery(
                            one.toString(), "wrong_withdrawal of request " + request, one.get(3)));
        }
        forge(String.join(";", attacks));
        return eachIsFound(forgeries);
    }

    @Test
    void the_vote_of_a_program_for_longer_access_than_its_own_is_found() throws Exception {
        withStepsAndConsent();
        database.admin("UPDATE broker.access_approver SET max_access = 300 WHERE program");
        String request = asked.asks("dev:eve", "vault", 600);
        forge(
                """
                INSERT INTO broker.access_decision (tenant, request, verdict, idp, issuer, subject, steps, program, note)
                SELECT 'acme', '%s', 'approve', 'sso', 'https://sso.example.com', v.name, '{1,2}', v.name = 'bot:a', 'INC-7'
                  FROM unnest('{bot:a,lead:a}'::text[]) AS v (name)
                """
                        .formatted(request));
        forge(WITH_ACTOR);
        assertFound("had 1 of 2 approvals before this change");
    }

    /** Its own row lets it decide only shorter access, but still says that it is a program. */
    @Test
    void a_program_that_another_row_lets_decide_longer_access_is_no_person() throws Exception {
        withStepsAndConsent();
        database.admin(
                """
                UPDATE broker.access_approver SET max_access = 300 WHERE program;
                INSERT INTO broker.access_approver (rule, idp, subject, match, step)
                SELECT 4, 'console', 'bot:*', 'glob', s FROM generate_series(1, 2) AS s
                """);
        String request = asked.asks("dev:eve", "vault", 600);
        forge(
                """
                INSERT INTO broker.access_decision (tenant, request, verdict, idp, issuer, subject, steps, note)
                SELECT 'acme', '%s', 'approve', 'console', 'https://sso.example.com', v.name, '{1,2}', 'INC-7'
                  FROM unnest('{bot:a,bot:b}'::text[]) AS v (name)
                """
                        .formatted(request));
        forge(WITH_ACTOR);
        assertFound("had 0 of 1 approvals of people before this change");
    }

    /** A key of two steps that a program decides in too, and one of consent. */
    private void withStepsAndConsent() {
        database.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('agents', 'acme', 'https://agents.example.com', '{mintmark}', '{actor,approver}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings, owner)
                VALUES ('acme', 'vault', 'own', 600, '{"audience": "https://vault.example.com"}', 'team');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access, people, consent, reason_pattern)
                VALUES ('acme', 'vault', 'sso', 'dev:**', 'glob', 3600, 1, false, 'to **'),
                       ('acme', 'vault', 'sso', 'dev:**', 'glob', 7200, 1, true, NULL);
                INSERT INTO broker.access_approver (rule, idp, subject, match, step, program)
                SELECT 4, 'sso', CASE WHEN p THEN 'bot:*' ELSE 'lead:*' END, 'glob', s, p FROM generate_series(1, 2) AS s, unnest('{t,f}'::boolean[]) AS p
                """);
    }

    private String throughAgent(String subject) {
        return asked.one(
                """
                SELECT id FROM internal.request_access('acme', 'sso', '%s', '{}', 'agents', 'agent:bot', '{vault}', 'to mend incident 7', 7200, false)
                """
                        .formatted(subject));
    }

    @Test
    void what_was_approved_in_steps_by_a_program_and_by_consent_is_not_accused() throws Exception {
        withStepsAndConsent();
        String request = asked.asks("dev:eve", "vault", 600);
        String vote =
                "SELECT coalesce(refusal, status) FROM internal.decide_access('acme', 'sso', '%s',"
                        + " '{\"iat\": %s}', false, '%s', 'approve', 'INC-7')";
        assertEquals("pending", asked.one(vote.formatted("bot:a", 1, request)));
        assertEquals("pending", asked.one(vote.formatted("bot:b", 1, request)));
        assertEquals("granted", asked.one(vote.formatted("lead:bob", 1, request)));
        String now = database.value("SELECT extract(epoch FROM now())::bigint");
        assertEquals("granted", asked.one(vote.formatted("dev:eve", now, throughAgent("dev:eve"))));
        assertNothingFound();
    }

    @TestFactory
    Stream<DynamicTest> votes_that_do_not_suffice_are_found() throws Exception {
        withStepsAndConsent();
        List<Forgery> forgeries = new ArrayList<>();
        List<String> attacks = new ArrayList<>();
        for (List<String> one :
                cases(
                        """
                        4 | 'lead:a', '{1,2}', false, NULL, NULL                                                | had 1 of 2 approvals before this change
                        4 | 'lead:a', '{1}', false, NULL, NULL; 'lead:b', '{1}', false, NULL, NULL              | had 1 of 2 approvals before this change
                        4 | 'lead:a', '{3}', false, NULL, NULL; 'lead:b', '{1}', false, NULL, NULL              | had 1 of 2 approvals before this change
                        4 | 'bot:a', '{1,2}', true, NULL, NULL; 'lead:b', '{1,2}', false, NULL, NULL            | had 1 of 2 approvals before this change
                        4 | 'bot:a', '{1,2}', true, NULL, 'INC-7'; 'bot:b', '{1,2}', true, NULL, 'INC-8'        | had 0 of 1 approvals of people before this change
                        4 | 'bot:a', '{1,2}', false, NULL, 'INC-7'; 'bot:b', '{1,2}', false, NULL, 'INC-8'      | had 0 of 1 approvals of people before this change
                        4 | 'lead:a', '{1,2}', true, NULL, 'INC-7'; 'bot:b', '{1,2}', true, NULL, 'INC-8'       | had 0 of 1 approvals of people before this change
                        5 | 'lead:a', '{1}', false, 10, NULL                                                    | did not consent
                        5 | 'dev:eve', '{1}', false, 301, NULL                                                  | did not consent
                        5 | 'dev:eve', '{1}', false, NULL, NULL                                                 | did not consent
                        """)) {
            String requester = "dev:eve" + forgeries.size();
            String request =
                    one.getFirst().equals("4")
                            ? asked.asks(requester, "vault", 600)
                            : throughAgent(requester);
            for (String vote : Pattern.compile("; ").splitAsStream(one.get(1)).toList()) {
                attacks.add(
                        """
                        INSERT INTO broker.access_decision (tenant, request, verdict, idp, issuer, subject, steps, program, token_age, note)
                        VALUES ('acme', '%s', 'approve', 'sso', 'https://sso.example.com', %s)
                        """
                                .formatted(request, vote.replace("dev:eve", requester)));
            }
            forgeries.add(new Forgery(one.toString(), request, one.get(2)));
        }
        attacks.add(WITH_ACTOR);
        forge(String.join(";", attacks));
        return eachIsFound(forgeries);
    }

    private static final String WITH_ACTOR =
            """
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, actor_idp, actor, valid_from, valid_until, request_id, approved_at)
            SELECT q.tenant, q.idp, q.subject, q.key, q.claims, q.actor_idp, q.actor, now(), now() + q.access * interval '1 second', q.id, now()
              FROM broker.access_request AS q
            """;

    @TestFactory
    Stream<DynamicTest> a_request_with_terms_of_its_own_is_found() throws Exception {
        withStepsAndConsent();
        List<Forgery> forgeries = new ArrayList<>();
        for (List<String> one :
                cases(
                        """
                        4 | '{1}', 1, false, 'to mend incident 7', NULL, NULL, NULL
                        4 | '{1,2,3}', 1, false, 'to mend incident 7', NULL, NULL, NULL
                        4 | '{1,2}', 0, false, 'to mend incident 7', NULL, NULL, NULL
                        4 | '{1,2}', 1, false, 'because I own it', NULL, NULL, NULL
                        4 | '{1,2}', 1, true, 'to mend incident 7', 'agents', 'https://agents.example.com', 'agent:bot'
                        5 | '{1}', 1, false, 'because I own it', 'agents', 'https://agents.example.com', 'agent:bot'
                        """)) {
            String requester = "dev:mallory" + forgeries.size();
            forge(
                    """
                    INSERT INTO broker.access_request (tenant, rule, key, idp, issuer, subject, access, break_glass, approvals, expires_at,
                                                       steps, people, consent, reason, actor_idp, actor_issuer, actor)
                    VALUES ('acme', %s, 'vault', 'sso', 'https://sso.example.com', '%s', 600, false, 1, now(), %s)
                    """
                            .formatted(one.getFirst(), requester, one.get(1)));
            forgeries.add(
                    new Forgery(
                            one.toString(),
                            requestOf(requester),
                            "was not allowed by access rule %s".formatted(one.getFirst())));
        }
        forge(WITH_ACTOR);
        return eachIsFound(forgeries);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    test_admin        | 'test_admin' made the request, or acted in it
                    test_tenant_admin | 'test_tenant_admin' wrote, changed or approved its access rule
                    test_auditor      | recorded it
                    """)
    void a_sign_off_of_somebody_who_had_a_part_in_it_is_found(String login, String finding)
            throws Exception {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_admin', 'sso', 'dev:eve');
                """);
        database.run(
                Who.TENANT_ADMIN, "UPDATE broker.access_rule SET max_access = 1800 WHERE id = 3");
        asked.asks("dev:eve", "root", 600);
        if (login.equals("test_auditor")) {
            database.rewrite("access_request", "signed_off_by = 'nobody', signed_off_at = now()");
        } else {
            database.runAsSuperuser(
                    """
                    ALTER TABLE broker.grant_review DISABLE TRIGGER check_grant_review;
                    CREATE OR REPLACE FUNCTION internal.refuse_own_review(of_grant bigint, of_request uuid) RETURNS void LANGUAGE sql AS '';
                    GRANT INSERT ON broker.grant_review TO PUBLIC
                    """);
            database.run(
                    login.equals("test_admin") ? Who.ADMIN : Who.TENANT_ADMIN,
                    "INSERT INTO broker.grant_review (id, tenant, grant_id, verdict, created_by) VALUES (4711, 'acme', 1, 'keep', session_user)");
        }
        assertFound("wrong_sign_off of request ", finding);
    }

    private void signOff() {
        asked.asks("dev:eve", "root", 600);
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.grant_review (grant_id, verdict) VALUES (1, 'keep')");
    }

    @Test
    void a_sign_off_of_another_person_is_not_accused() throws Exception {
        signOff();
        assertNothingFound();
    }

    @Test
    void a_sign_off_without_a_review_is_found() throws Exception {
        asked.asks("dev:eve", "root", 600);
        database.rewrite("access_request", "signed_off_by = session_user, signed_off_at = now()");
        assertFound("wrong_sign_off of request ", "did not review its grant");
    }

    @Test
    void a_sign_off_that_is_taken_away_is_found() throws Exception {
        signOff();
        database.rewrite("access_request", "signed_off_by = NULL, signed_off_at = NULL");
        assertFound(
                "wrong_sign_off of request ",
                "it was already signed off by 'test_tenant_admin', and a sign-off can't be changed");
    }

    @Test
    void a_refusal_that_nobody_gave_is_found() throws Exception {
        asked.asks("dev:eve", "deploy", 600);
        database.rewrite("access_request", "status = 'refused'");
        assertFound("forged_access_request of tenant acme", "was refused without a decision");
    }

    @Test
    void a_request_that_is_opened_again_is_found() throws Exception {
        asked.decides("sso", "lead:bob", asked.asks("dev:eve", "deploy", 600), "refuse");
        assertNothingFound();
        database.rewrite("access_request", "status = 'pending'");
        assertFound(
                "forged_access_request of tenant acme",
                "had already ended as refused, but became pending");
    }

    @Test
    void another_name_of_who_approved_a_request_is_found() throws Exception {
        asked.decides("sso", "lead:bob", asked.asks("dev:eve", "deploy", 600), "approve");
        forge("UPDATE broker.subject_grant SET approved_by = 'mina'");
        assertFound("its approval was changed later");
    }

    /** The owner writes a time into the row by which the block would have ended. */
    @Test
    void a_lift_of_a_block_that_claims_to_have_ended_is_found() throws Exception {
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES"
                        + " ('acme', 'dev:mal', 'INC-1', now() + interval '9 days')");
        forge(
                "UPDATE broker.blocked_subject SET enabled = false, updated_at = until + interval"
                        + " '1 second'");
        assertFound("unapproved_blocked_subject 1 of tenant acme");
    }
}
