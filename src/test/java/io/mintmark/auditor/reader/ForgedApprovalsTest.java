package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.List;

/**
 * Requests, decisions and approvers that an owner of the database forged: both verifiers find each.
 */
class ForgedApprovalsTest {
    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);
    private final AskedAccess asked = new AskedAccess(database);

    private static final String REQUEST =
            """
            INSERT INTO broker.access_request (tenant, rule, key, idp, issuer, subject, actor_idp, actor_issuer, actor, claims, reason, access, break_glass,
                                               approvals, expires_at)
            VALUES ('acme', 1, 'deploy', 'sso', %s, '{"groups": "dev"}', 'to mend incident 7', 600, false, 1, now() + interval '1 day');
            """;
    private static final String VOTE =
            """
            INSERT INTO broker.access_decision (tenant, request, verdict, idp, issuer, subject)
            SELECT 'acme', id, 'approve', %s FROM broker.access_request;
            """;
    private static final String GRANT_BY =
            """
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, actor_idp, actor, valid_from, valid_until, request_id, approved_by, approved_at)
            SELECT q.tenant, q.idp, q.subject, q.key, q.claims, q.actor_idp, q.actor, now(), now() + q.access * interval '1 second', q.id,
                   %s, now()
              FROM broker.access_request AS q;
            """;
    private static final String GRANT =
            GRANT_BY.formatted(
                    """
                    (SELECT string_agg(coalesce(d.decided_by, d.subject || ' of ' || d.idp) || CASE WHEN d.program THEN ' (program)' ELSE '' END, ', ' ORDER BY d.id)
                       FROM broker.access_decision AS d WHERE d.request = q.id AND d.verdict = 'approve')
                    """);

    /** Past all triggers but those that write the history, as only the owner gets. */
    private void forge(String... statements) {
        database.runAsSuperuser(
                """
                DO $$
                DECLARE
                    t record;
                BEGIN
                    FOR t IN SELECT g.tgrelid::regclass AS target, g.tgname FROM pg_trigger AS g
                              WHERE NOT g.tgisinternal AND g.tgname <> 'record_change'
                                AND g.tgrelid IN (SELECT c.oid FROM pg_class AS c WHERE c.relnamespace = 'broker'::regnamespace AND c.relkind IN ('r', 'p')
                                                     AND NOT c.relispartition) LOOP
                        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER %I', t.target, t.tgname);
                        IF EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = t.target AND a.attname = 'id' AND a.atttypid = 'bigint'::regtype) THEN
                            EXECUTE format('ALTER TABLE %s ALTER id SET DEFAULT nextval(%L)', t.target, pg_get_serial_sequence(t.target::text, 'id'));
                        END IF;
                    END LOOP;
                    FOR t IN SELECT unnest(ARRAY['access_rule', 'access_approver', 'access_decision']) AS name LOOP
                        EXECUTE format('CREATE OR REPLACE FUNCTION internal.record_%s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
                                            SET search_path = pg_catalog, pg_temp SET TimeZone = %L AS %L', t.name, 'UTC',
                            'BEGIN
                                PERFORM internal.record_row(TG_TABLE_NAME, ''tenant'', TG_OP, to_jsonb(OLD), to_jsonb(NEW), to_jsonb(NEW), false);
                                RETURN NULL;
                             END');
                    END LOOP;
                END $$;
                """);
        for (String statement : statements) {
            database.runAsSuperuser(statement);
        }
    }

    /** Both verifiers find these and nothing else. */
    private void assertFound(String... findings) throws Exception {
        Seals.seal(database);
        List<String> wrong = Seals.wrong(database);
        Script script = new Script(directory, database);
        script.status(List.of());
        assertEquals(findings.length, wrong.size(), wrong.toString());
        for (int i = 0; i < findings.length; i++) {
            assertTrue(wrong.get(i).contains(findings[i]), wrong.toString());
            assertTrue(script.output().contains("WRONG: " + wrong.get(i)), script.output());
        }
        assertTrue(
                script.output().contains(" %d problems".formatted(findings.length)),
                script.output());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    'https://evil.example.com', 'dev:eve', NULL, NULL, NULL                                | 'https://sso.example.com'  | forged_access_request of tenant acme at change ;void: it names issuer
                    'https://sso.example.com', 'dev:jim', 'console', 'https://evil.example.com', 'dev:eve' | 'https://sso.example.com'  | forged_access_request of tenant acme at change ;void: it names issuer
                    'https://sso.example.com', 'dev:eve', NULL, NULL, NULL                                 | 'https://evil.example.com' | forged_access_decision of tenant acme at change
                    """)
    void another_issuer_than_that_of_the_identity_provider_is_found(
            String requester, String issuer, String findings) throws Exception {
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject) VALUES (1, 'sso', 'dev:eve')");
        forge(
                REQUEST.formatted(requester),
                VOTE.formatted("'sso', %s, 'dev:eve'".formatted(issuer)),
                GRANT);
        assertFound(findings.split(";"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    INSERT INTO broker.access_approver (tenant, rule, idp, issuer, subject) VALUES ('acme', 1, 'sso', 'https://evil.example.com', 'dev:eve') | identity provider 'sso' had issuer 'https://sso.example.com'
                    UPDATE broker.access_approver SET issuer = 'https://evil.example.com' WHERE id = 1 | identity provider 'sso' had issuer 'https://sso.example.com'
                    """)
    void an_approver_of_another_issuer_is_found(String attack, String finding) throws Exception {
        forge(attack);
        assertFound(finding);
    }

    @Test
    void a_grant_after_a_refusal_is_found() throws Exception {
        asked.asks("dev:eve", "deploy", 600);
        forge(
                VOTE.formatted("'sso', issuer, 'lead:joe'").replace("approve", "refuse"),
                VOTE.formatted("'sso', issuer, 'lead:bob'"),
                GRANT);
        assertFound(" was refused before this change");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    UPDATE broker.access_decision SET verdict = 'approve' | decision 1 was changed, but decisions are never changed or deleted
                    DELETE FROM broker.access_decision                    | decision 1 was deleted, but decisions are never changed or deleted
                    """)
    void a_decision_that_was_changed_or_deleted_is_found(String attack, String finding)
            throws Exception {
        asked.asks("dev:eve", "deploy", 600);
        forge(VOTE.formatted("'sso', issuer, 'lead:joe'").replace("approve", "refuse"), attack);
        assertFound(finding);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    UPDATE broker.access_rule SET enabled = false WHERE id = 1                                        | rule
                    UPDATE broker.key SET settings = '{"audience": "https://x.example.com"}' WHERE name = 'deploy'    | key
                    UPDATE broker.access_provider SET enabled = false WHERE name = 'own'                              | access provider
                    """)
    void a_grant_after_a_change_of_what_its_request_rests_on_is_found(String change, String finding)
            throws Exception {
        asked.asks("dev:eve", "deploy", 600);
        forge();
        database.admin(change);
        forge(VOTE.formatted("'sso', issuer, 'lead:bob'"), GRANT);
        assertFound(
                " was void: these rows had changed since the request was made: %s"
                        .formatted(finding));
    }

    @Test
    void a_grant_by_a_rule_that_awaits_approval_is_found() throws Exception {
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
        asked.asks("dev:eve", "deploy", 600);
        forge(
                "UPDATE broker.access_rule SET approved_at = NULL, approved_by = NULL",
                VOTE.formatted("'sso', issuer, 'lead:bob'"),
                GRANT);
        assertFound(
                "login 'postgres', which wrote it",
                " was void: its access rule was not approved yet");
    }

    @Test
    void a_grant_of_a_request_that_had_lapsed_is_found() throws Exception {
        forge(
                REQUEST.formatted("'https://sso.example.com', 'dev:eve', NULL, NULL, NULL")
                        .replace("expires_at)", "expires_at, requested_at)")
                        .replace(
                                "now() + interval '1 day'",
                                "now() - interval '1 hour', now() - interval '25 hours'"),
                VOTE.formatted("'sso', issuer, 'lead:bob'"),
                GRANT);
        assertFound(" was void: it had lapsed");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.access_request SET expires_at = expires_at + interval '1 year'",
                "UPDATE broker.access_request SET access = 3600",
                "UPDATE broker.access_request SET subject = 'dev:mal'"
            })
    void another_end_or_content_of_a_request_is_found(String attack) throws Exception {
        asked.asks("dev:eve", "deploy", 600);
        forge(attack);
        assertFound("forged_access_request of tenant acme at change ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"groups\": []}",
                "{\"groups\": \"evil\"}",
                "{\"groups\": [\"dev\", \"evil\"]}",
                "{\"groups\": \"dev\", \"ref\": \"main\"}"
            })
    void a_grant_of_a_request_with_claims_that_no_token_can_have_had_is_found(String claims)
            throws Exception {
        forge(
                REQUEST.formatted("'https://sso.example.com', 'dev:eve', NULL, NULL, NULL")
                        .replace("{\"groups\": \"dev\"}", claims),
                VOTE.formatted("'sso', issuer, 'lead:bob'"),
                GRANT);
        assertFound(" was not allowed by access rule 1");
    }

    @Test
    void a_grant_of_a_request_with_claims_that_its_rule_lists_is_not_accused() throws Exception {
        forge(
                REQUEST.formatted("'https://sso.example.com', 'dev:eve', NULL, NULL, NULL")
                        .replace("{\"groups\": \"dev\"}", "{\"groups\": [\"dev\", \"ops\"]}"),
                VOTE.formatted("'sso', issuer, 'lead:bob'"),
                GRANT);
        assertFound();
    }

    @Test
    void an_approval_of_other_revisions_is_found() throws Exception {
        asked.asks("dev:eve", "deploy", 600);
        forge(
                VOTE.replace("subject)", "subject, revisions)")
                        .formatted("'sso', issuer, 'lead:bob', '{\"rule\": 1}'"));
        assertFound(": it names revision 1 of the rule, which had revision ");
    }

    private void requestWithProgram() {
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, program) VALUES (1, 'console', 'lead:bot', true)");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
    }

    @Test
    void the_vote_of_a_program_whose_row_awaits_approval_is_not_of_a_person() throws Exception {
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, program) VALUES (1, 'console', 'lead:bot', true)");
        asked.asks("dev:eve", "deploy", 600);
        forge(BY_PROGRAM, GRANT);
        assertFound("had 0 of 1 approvals of people before this change");
    }

    @Test
    void the_vote_of_a_program_whose_row_one_admin_removed_is_not_of_a_person() throws Exception {
        requestWithProgram();
        forge();
        database.admin("DELETE FROM broker.access_approver WHERE subject = 'lead:bot'");
        forge(
                REQUEST.formatted("'https://sso.example.com', 'dev:eve', NULL, NULL, NULL"),
                BY_PROGRAM,
                GRANT);
        assertFound("had 0 of 1 approvals of people before this change");
    }

    /** The removed row names the login of the program, which votes as a subject. */
    @Test
    void the_vote_of_a_program_whose_other_name_one_admin_removed_is_not_of_a_person()
            throws Exception {
        database.admin(
                "DELETE FROM broker.access_approver WHERE rule = 1 AND role_name = 'test_admin';"
                        + "INSERT INTO broker.access_approver (rule, role_name, program) VALUES (1, 'test_admin', true)");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
        forge();
        database.admin("DELETE FROM broker.access_approver WHERE program");
        forge(
                REQUEST.formatted("'https://sso.example.com', 'dev:eve', NULL, NULL, NULL"),
                BY_PROGRAM.replace("lead:bot", "lead:ann"),
                GRANT);
        assertFound("had 0 of 1 approvals of people before this change");
    }

    @Test
    void a_vote_before_the_row_of_its_program_was_removed_is_not_of_a_person() throws Exception {
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, program) VALUES (1, 'console', 'lead:bot', true)");
        asked.asks("dev:eve", "deploy", 600);
        forge(BY_PROGRAM);
        database.admin("DELETE FROM broker.access_approver WHERE subject = 'lead:bot'");
        forge(GRANT);
        assertFound("had 0 of 1 approvals of people before this change");
    }

    @Test
    void a_program_that_two_admins_made_a_person_is_not_accused() throws Exception {
        requestWithProgram();
        database.admin("DELETE FROM broker.access_approver WHERE subject = 'lead:bot'");
        database.run(
                Who.TENANT_ADMIN,
                database.value(
                        "SELECT statement FROM broker.pending_approval WHERE table_name = 'access_rule'"));
        String request = asked.asks("dev:eve", "deploy", 600);
        assertEquals("granted", asked.decides("sso", "lead:bot", request, "approve"));
        assertFound();
    }

    /** Its rule keeps its approval, since nobody is named by both. */
    @Test
    void a_program_by_a_glob_that_was_removed_beside_a_disjoint_one_accuses_nobody()
            throws Exception {
        database.admin(
                """
                DELETE FROM broker.access_approver WHERE rule = 1 AND subject = 'lead:*';
                INSERT INTO broker.access_approver (rule, idp, subject, match, program) VALUES (1, 'sso', 'bot:*', 'glob', true);
                INSERT INTO broker.access_approver (rule, idp, subject, match) VALUES (1, 'sso', 'lead:b*', 'glob');
                """);
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
        database.admin("DELETE FROM broker.access_approver WHERE program");
        String request = asked.asks("dev:eve", "deploy", 600);
        assertEquals("granted", asked.decides("sso", "lead:bob", request, "approve"));
        assertFound();
    }

    @Test
    void a_rule_with_fewer_steps_than_its_approvers_is_found() throws Exception {
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, step) VALUES (1, 'test_admin', 2)");
        forge("UPDATE broker.access_rule SET steps = '{1}' WHERE id = 1");
        String request = asked.asks("dev:eve", "deploy", 600);
        asked.decides("sso", "lead:bob", request, "approve");
        forge(GRANT);
        assertFound("was not allowed by access rule 1");
    }

    private static final String BY_PROGRAM =
            VOTE.replace("subject)", "subject, note)")
                    .formatted("'sso', issuer, 'lead:bot', 'INC-7'");

    /** Its approval would be the only trace of a second admin. */
    @Test
    void an_approval_by_the_login_of_the_service_is_found() throws Exception {
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
        database.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'sso', 'ci', 'deploy')");
        asked.asks("dev:eve", "deploy", 600);
        String service = database.value("SELECT created_by FROM broker.access_request");
        forge(
                "GRANT USAGE ON SCHEMA broker TO PUBLIC; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA internal TO PUBLIC; GRANT SELECT, UPDATE ON broker.subject_grant TO PUBLIC; ALTER TABLE broker.subject_grant DISABLE ROW LEVEL SECURITY");
        database.run(
                Who.APP,
                "UPDATE broker.subject_grant SET approved_by = session_user, approved_at = now() WHERE subject = 'ci'");
        assertFound("login '%s', which wrote it, also wrote configuration".formatted(service));
    }

    @ParameterizedTest
    @ValueSource(strings = {"'lead:joe of sso'", "NULL", "'lead:bob of sso (program)'"})
    void other_approvers_than_those_of_the_request_are_found(String named) throws Exception {
        asked.asks("dev:eve", "deploy", 600);
        forge(VOTE.formatted("'sso', issuer, 'lead:bob'"), GRANT_BY.formatted(named));
        assertFound(", but the approvers were 'lead:bob of sso'");
    }

    @Test
    void a_second_grant_of_a_request_is_found() throws Exception {
        asked.asks("dev:eve", "deploy", 600);
        forge(
                "DROP INDEX broker.a_request_leads_to_one_grant",
                VOTE.formatted("'sso', issuer, 'lead:bob'"),
                GRANT,
                GRANT);
        assertFound(" was not pending before this change");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    SELECT internal.append_change('globex', 'subject_grant', 'INSERT', NULL, '{"id": 7, "tenant": "acme", "idp": "sso", "subject": "mal", "key": "deploy", "enabled": true}') | forged_subject_grant of tenant globex at change 2: its row belongs to tenant acme
                    SELECT internal.append_change('acme', 'grant_review', 'INSERT', NULL, '{"id": 7, "tenant": "globex"}')                                                                    | its row belongs to tenant globex
                    SELECT internal.append_change(NULL, 'blocked_subject', 'INSERT', NULL, '{"id": 7, "tenant": "acme", "enabled": true}')                                                     | forged_blocked_subject of the tables without tenant at change
                    """)
    void a_row_in_the_history_of_another_tenant_is_found(String attack, String finding)
            throws Exception {
        database.admin("INSERT INTO broker.tenant (name) VALUES ('globex')");
        forge(attack);
        assertOneIs(finding);
    }

    @Test
    void a_row_that_gets_another_id_is_found() throws Exception {
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'dev:mal', 'INC-1')");
        forge(
                """
                SELECT internal.append_change('acme', 'blocked_subject', 'UPDATE', to_jsonb(b), to_jsonb(b) || '{"id": 4711}')
                  FROM broker.blocked_subject AS b
                """);
        assertOneIs(
                ": its row was blocked_subject 1 before, but the number of a row never changes");
    }

    /** Rows of the platform are of no tenant, and a key may get another name. */
    @Test
    void rows_of_the_platform_and_other_names_are_not_accused() throws Exception {
        database.admin(
                """
                INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES (NULL, 'dev:mal', 'INC-1');
                UPDATE broker.blocked_subject SET until = now() + interval '1 day';
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings, owner)
                VALUES ('acme', 'old', 'own', 600, '{"audience": "https://old.example.com"}', 'team');
                UPDATE broker.key SET name = 'new' WHERE name = 'old'
                """);
        assertFound();
    }

    /** Both verifiers find it, among what else the attack broke. */
    private void assertOneIs(String finding) throws Exception {
        Seals.seal(database);
        Script script = new Script(directory, database);
        script.status(List.of());
        List<String> wrong = Seals.wrong(database);
        assertTrue(wrong.stream().anyMatch(it -> it.contains(finding)), wrong.toString());
        assertTrue(script.output().contains(finding), script.output());
    }
}
