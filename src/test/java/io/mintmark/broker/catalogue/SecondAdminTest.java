package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Objects;

/** Tenants that require a second admin for keys and grants. */
class SecondAdminTest {
    private static final TenantName ACME = new TenantName("acme");

    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);
    private final AskedAccess asked = new AskedAccess(database);

    @BeforeEach
    void requireOne() {
        database.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'sso', 'before', 'deploy')");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
    }

    private void grant(Who who) {
        database.run(
                who,
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'sso', 'ci', 'deploy')");
    }

    private String refused(Who who, String sql) {
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> database.run(who, sql));
        return String.valueOf(Objects.requireNonNull(refusal.getCause()).getMessage());
    }

    /** How many grants the broker reads for a subject. */
    private int granted(String subject) {
        try (Database connections = new Database(database.login(Who.APP))) {
            return new PostgresCatalogue(connections)
                    .grants(ACME, new IdpName("sso"), subject, 1_000_000)
                    .grants()
                    .size();
        }
    }

    private int keys() {
        try (Database connections = new Database(database.login(Who.APP))) {
            return new PostgresCatalogue(connections).tenant(ACME, 1_000_000).keys().size();
        }
    }

    private static final String APPROVE =
            "SELECT broker.approve('subject_grant', g.id, internal.row_revision('subject_grant', g.tenant, g.id::text))"
                    + " FROM broker.subject_grant AS g ORDER BY g.id DESC LIMIT 1";

    @Test
    void what_was_there_before_stays_in_force() {
        assertEquals("granted", asked.explained("before", "deploy"));
        assertEquals(1, granted("before"));
        assertEquals(2, keys());
        database.assertRows(
                "SELECT concat_ws('|', approved_by, approved_at IS NOT NULL) FROM broker.subject_grant",
                "t");
        database.assertRows("SELECT count(*) FROM broker.pending_approval", "0");
    }

    @Test
    void a_grant_counts_as_disabled_until_another_login_approves_it() {
        grant(Who.TENANT_ADMIN);
        assertEquals("approval", asked.explained("ci", "deploy"));
        assertEquals(0, granted("ci"));
        database.assertRows("SELECT count(*) FROM broker.who_can_mint WHERE subject = 'ci'", "0");
        database.assertRows(
                "SELECT count(*) FROM audit.who_could_mint('acme', 'deploy', now()) WHERE subject = 'ci'",
                "0");
        database.assertRows(
                "SELECT statement FROM broker.pending_approval",
                "SELECT broker.approve('subject_grant', 2, %s);"
                        .formatted(database.value("SELECT broker.revision('acme')")));
        assertTrue(
                refused(Who.TENANT_ADMIN, APPROVE)
                        .contains("wrote or changed grant 2, and cannot approve it"));
        database.admin(APPROVE);
        assertEquals("granted", asked.explained("ci", "deploy"));
        assertEquals(1, granted("ci"));
        database.assertRows("SELECT count(*) FROM broker.who_can_mint WHERE subject = 'ci'", "1");
        database.assertRows(
                "SELECT count(*) FROM audit.who_could_mint('acme', 'deploy', now()) WHERE subject = 'ci'",
                "1");
        database.assertRows(
                "SELECT approved_by FROM broker.subject_grant WHERE subject = 'ci'", "test_admin");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    owner = 'x', reason = 'y'        | granted
                    max_duration = 300               | approval
                    claims = '{"groups": "dev"}'     | approval
                    enabled = false                  | the grant is enabled
                    approved_by = NULL               | sets the column approved_by
                    approved_by = session_user       | sets the column approved_by
                    approved_at = clock_timestamp()  | sets the column approved_at
                    """)
    void only_a_change_of_what_a_grant_allows_needs_another_approval(
            String change, String outcome) {
        grant(Who.TENANT_ADMIN);
        database.admin(APPROVE);
        String sql = "UPDATE broker.subject_grant SET %s WHERE subject = 'ci'".formatted(change);
        if (outcome.startsWith("sets the column")) {
            assertTrue(refused(Who.TENANT_ADMIN, sql).contains(outcome));
        } else {
            database.run(Who.TENANT_ADMIN, sql);
            assertEquals(outcome, asked.explained("ci", "deploy"));
        }
    }

    @Test
    void switching_a_grant_on_again_needs_another_approval() {
        grant(Who.TENANT_ADMIN);
        database.admin(APPROVE);
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.subject_grant SET enabled = false WHERE subject = 'ci'");
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.subject_grant SET enabled = true WHERE subject = 'ci'");
        assertEquals("approval", asked.explained("ci", "deploy"));
    }

    /** The history knows, although the row's last writer is another by then. */
    @Test
    void a_changer_does_not_approve_after_somebody_touched_the_row() {
        grant(Who.ADMIN);
        database.run(Who.TENANT_ADMIN, APPROVE);
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.subject_grant SET max_duration = 300 WHERE subject = 'ci'");
        database.run(
                Who.OWNER,
                "SET ROLE mintmark_owner; UPDATE broker.subject_grant SET reason = 'x' WHERE subject = 'ci'; RESET ROLE");
        assertTrue(refused(Who.TENANT_ADMIN, APPROVE).contains("cannot approve it"));
    }

    /** An honest edit of the owner hides nobody who changed the row before. */
    @Test
    void all_who_changed_a_row_since_it_was_in_force_are_named() {
        grant(Who.ADMIN);
        database.run(Who.TENANT_ADMIN, APPROVE);
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.subject_grant SET max_duration = 300 WHERE subject = 'ci'");
        database.admin("UPDATE broker.subject_grant SET owner = 'team' WHERE subject = 'ci'");
        database.assertRows(
                "SELECT changed_by FROM broker.pending_approval", "test_admin, test_tenant_admin");
        database.assertRows(
                "SELECT advice LIKE '%written or changed by test_admin, test_tenant_admin and%' FROM broker.lint WHERE rule = 'awaits_approval'",
                "t");
    }

    @Test
    void who_changed_the_approvers_of_a_rule_is_named_with_it() {
        database.run(
                Who.TENANT_ADMIN,
                "DELETE FROM broker.access_approver WHERE rule = 1 AND idp = 'console'");
        database.admin("UPDATE broker.access_rule SET max_access = 7200 WHERE id = 1");
        database.assertRows(
                "SELECT changed_by FROM broker.pending_approval", "test_admin, test_tenant_admin");
    }

    /** What looks like another text, or writes further lines on a terminal, shows its codes. */
    @Test
    void what_awaits_approval_is_shown_in_ascii_and_in_one_line() {
        database.run(
                Who.TENANT_ADMIN,
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason)
                VALUES ('acme', 'sso', E'gr\\u0430ce\\u200b', 'deploy', '{"a": "\\u202e"}', E'OPS-1\\nacme|subject_grant\\x1b[2K')
                """);
        database.assertRows(
                "SELECT concat_ws('|', subject, reason, allows ->> 'claims', allows ->> 'subject' = E'gr\\u0430ce\\u200b') FROM broker.pending_approval",
                "gr\\u0430ce\\u200b|OPS-1 acme|subject_grant [2K|{\"a\": \"\\u202e\"}|t");
    }

    /** A subject that spells a code is another one than the subject that has the character. */
    @Test
    void a_character_and_its_written_code_are_shown_differently() {
        database.run(
                Who.TENANT_ADMIN,
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
                VALUES ('acme', 'sso', E'a\u200b', 'deploy', E'caf\u00e9'),
                       ('acme', 'sso', E'a\\\\u200b', 'deploy', E'caf\\\\u00e9 C:\\\\')
                """);
        database.assertRows(
                "SELECT concat_ws('|', subject, reason) FROM broker.pending_approval ORDER BY name::int",
                "a\\u200b|caf\\u00e9",
                "a\\\\u200b|caf\\\\u00e9 C:\\\\");
        database.assertRows(
                "SELECT allows ->> 'subject' FROM broker.pending_approval ORDER BY name::int",
                "a\u200b",
                "a\\u200b");
    }

    /** Row-level security keeps no index from finding the changes of a row. */
    @Test
    void a_login_reads_the_changes_of_rows_of_its_own_tenants_alone() {
        database.admin("INSERT INTO broker.tenant (name) VALUES ('other')");
        String sql = "SELECT internal.row_revision('tenant', '%s', '%s')";
        database.run(Who.TENANT_ADMIN, sql.formatted("acme", "acme"));
        assertTrue(
                refused(Who.TENANT_ADMIN, sql.formatted("other", "other"))
                        .contains("no tenant \"other\" whose history you may read"));
        assertTrue(refused(Who.CONSOLE, sql.formatted("acme", "acme")).contains("no tenant"));
    }

    @Test
    void a_key_counts_as_absent_until_another_login_approves_it() {
        database.run(
                Who.TENANT_ADMIN, "UPDATE broker.key SET max_duration = 300 WHERE name = 'deploy'");
        assertEquals("approval", asked.explained("before", "deploy"));
        assertEquals(1, keys());
        String approve =
                "SELECT broker.approve('key', 'acme', 'deploy', internal.row_revision('key', 'acme', 'deploy'))";
        assertTrue(refused(Who.TENANT_ADMIN, approve).contains("cannot approve it"));
        database.admin(approve);
        assertEquals("granted", asked.explained("before", "deploy"));
        assertEquals(2, keys());
    }

    @Test
    void only_platform_admins_end_it() {
        assertTrue(
                refused(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = false")
                        .contains("cannot turn that off"));
        grant(Who.TENANT_ADMIN);
        database.admin("UPDATE broker.tenant SET require_second_admin = false");
        assertEquals("granted", asked.explained("ci", "deploy"));
        assertEquals(1, granted("ci"));
    }

    @Test
    void a_tenant_admin_writes_nothing_else_of_a_tenant_and_no_other_tenant() {
        database.admin("INSERT INTO broker.tenant (name) VALUES ('other')");
        assertTrue(
                refused(Who.TENANT_ADMIN, "UPDATE broker.tenant SET max_keys = 9")
                        .contains("permission denied"));
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
        database.assertRows(
                "SELECT require_second_admin FROM broker.tenant WHERE name = 'other'", "f");
    }

    @Test
    void nobody_approves_rows_of_other_tenants() {
        grant(Who.ADMIN);
        database.admin("DELETE FROM broker.tenant_admin");
        assertTrue(
                refused(Who.TENANT_ADMIN, "SELECT broker.approve('subject_grant', 2, 1)")
                        .contains(
                                "Grant 2 does not exist, or you may not write rows of its tenant"));
        assertTrue(
                refused(Who.AUDITOR, "SELECT broker.approve('subject_grant', 2, 1)")
                        .contains("permission denied"));
    }

    @Test
    void turning_it_on_counts_no_changes_of_the_day() {
        database.admin("UPDATE broker.tenant SET require_second_admin = false, max_changes = 1");
        database.admin("UPDATE broker.subject_grant SET max_duration = 300");
        database.admin("UPDATE broker.key SET max_duration = 400");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
        database.assertRows("SELECT count(*) FROM broker.pending_approval", "0");
    }

    /** No limit is more than a limit that is missing. */
    @Test
    void what_awaits_approval_is_shown_with_the_nulls_within_its_settings() {
        database.run(
                Who.TENANT_ADMIN,
                """
                UPDATE broker.key SET settings = '{"audience": "https://api.example.com", "claims": {"limits": {"max": null, "min": 1}}}' WHERE name = 'deploy'
                """);
        database.assertRows(
                "SELECT allows -> 'settings' -> 'claims' FROM broker.pending_approval WHERE table_name = 'key'",
                "{\"limits\": {\"max\": null, \"min\": 1}}");
    }

    @Test
    void what_changed_is_said_alike_in_each_time_zone() {
        grant(Who.TENANT_ADMIN);
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.subject_grant SET valid_until = now() + interval '1 day' WHERE subject = 'ci'");
        String approve =
                "SET TimeZone = 'Asia/Tokyo'; SELECT broker.approve('subject_grant', g.id, internal.row_revision('subject_grant', 'acme', g.id::text)) FROM broker.subject_grant AS g WHERE g.subject = 'ci'"
                        .replace("internal.row_revision", "-1 + internal.row_revision");
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.subject_grant SET max_duration = 300 WHERE subject = 'ci'");
        String refusal = refused(Who.ADMIN, approve);
        assertTrue(refusal.contains(": max_duration."), refusal);
    }

    /** The statement in {@code pending_approval} has the revision of an approver's change. */
    @Test
    void an_approval_by_the_revision_of_an_approver_says_what_changed_since() {
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.access_rule SET max_access = 1800 WHERE id = 1; DELETE FROM broker.access_approver WHERE rule = 1 AND idp = 'console'");
        String approve =
                database.value(
                        "SELECT statement FROM broker.pending_approval WHERE table_name = 'access_rule' AND name = '1'");
        database.run(
                Who.TENANT_ADMIN, "UPDATE broker.access_rule SET max_access = 900 WHERE id = 1");
        String refusal = refused(Who.ADMIN, approve);
        assertTrue(refusal.contains(": max_access"), refusal);
    }
}
