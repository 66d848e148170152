package io.mintmark.admin.subject;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.util.PSQLException;

import java.io.IOException;
import java.util.List;
import java.util.Objects;

/** Tenant admins write no more history in a day than broker.tenant.max_changes. */
@Tag("every-postgres")
class ChangesOfADayTest {
    private static final int MOST = 5;
    private static final String COUNTED =
            "SELECT changes FROM runtime.changes_of_day WHERE tenant = 'acme'";

    @AutoClose private TestDatabase database;

    @BeforeEach
    void create() throws IOException {
        database = TestDatabase.migrated();
        database.admin(SqlCase.script("refusals", "setup"));
        database.admin(
                """
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', '%1$s'), ('other', '%1$s');
                UPDATE broker.tenant SET max_changes = %2$d WHERE name = 'acme'
                """
                        .formatted(Who.TENANT_ADMIN.login(), MOST));
    }

    private void change(String sql) {
        database.run(Who.TENANT_ADMIN, sql);
    }

    private static String grants(int number) {
        return """
        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
        SELECT 'acme', 'ci', gen_random_uuid(), 'api' FROM generate_series(1, %d)
        """
                .formatted(number);
    }

    private void assertRefused(int would, int most, String sql) {
        Throwable cause = assertThrows(IllegalStateException.class, () -> change(sql)).getCause();
        var refusal = assertInstanceOf(PSQLException.class, cause);
        var words = Objects.requireNonNull(refusal.getServerErrorMessage());
        assertEquals(
                "Tenant \"acme\" would have %d changes today (UTC); the maximum is %d."
                        .formatted(would, most),
                words.getMessage());
        assertEquals("a_tenant_has_no_more_than_max_changes_a_day", words.getConstraint());
    }

    @Test
    void as_many_changes_as_the_bound_pass_and_one_more_does_not() {
        change(grants(MOST - 1));
        assertRefused(MOST + 1, MOST, grants(2));
        change("UPDATE broker.key SET description = 'x' WHERE tenant = 'acme' AND name = 'api'");
        assertRefused(MOST + 1, MOST, grants(1));
        database.assertRows(COUNTED, "5");
    }

    @Test
    void platform_admins_changes_do_not_count() {
        database.admin(grants(MOST + 1));
        database.assertRows(COUNTED);
        change(grants(MOST));
        database.admin(grants(1));
        database.admin("UPDATE broker.tenant SET max_changes = 6 WHERE name = 'acme'");
        change(grants(1));
    }

    @Test
    void changes_of_another_tenant_and_of_yesterday_do_not_count() {
        change(grants(MOST));
        change("UPDATE broker.key SET description = 'x' WHERE tenant = 'other'");
        database.runAsSuperuser("UPDATE runtime.changes_of_day SET day = day - 1");
        change(grants(MOST));
        assertRefused(MOST + 1, MOST, grants(1));
    }

    @Test
    void access_can_be_reduced_up_to_twice_as_often() {
        change(
                """
                INSERT INTO broker.blocked_subject (tenant, subject, reason, until)
                VALUES ('acme', 'again', 'x', now() + interval '1 millisecond')
                """);
        change(grants(MOST - 1));
        assertRefused(MOST + 1, MOST, grants(1));
        change("UPDATE broker.key SET enabled = false WHERE tenant = 'acme' AND name = 'api'");
        change("DELETE FROM broker.subject_grant WHERE tenant = 'acme' AND key = 'deploy'");
        change(
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme',"
                        + " 'again', 'x')");
        assertRefused(
                10,
                MOST,
                "UPDATE broker.key SET enabled = true WHERE tenant = 'acme' AND name = 'api'");
        assertRefused(
                10, MOST, "UPDATE broker.blocked_subject SET enabled = false WHERE until IS NULL");
        assertRefused(14, 2 * MOST, "DELETE FROM broker.subject_grant WHERE tenant = 'acme'");
    }

    @Test
    void an_edit_of_a_row_that_stays_as_restrictive_does_not_reduce_access() {
        database.admin(
                """
                UPDATE broker.key SET enabled = false WHERE tenant = 'acme' AND name = 'api';
                INSERT INTO broker.blocked_subject (tenant, subject, reason, until)
                VALUES ('acme', 'blocked', 'x', NULL), ('acme', 'ended', 'x', now() + interval '1 millisecond')
                """);
        change(grants(MOST));
        for (String row :
                List.of(
                        "key SET description = 'x' WHERE tenant = 'acme' AND name = 'api'",
                        "blocked_subject SET reason = 'y' WHERE subject = 'blocked'",
                        "blocked_subject SET reason = 'y' WHERE subject = 'ended'")) {
            assertRefused(MOST + 1, MOST, "UPDATE broker." + row);
        }
        change("UPDATE broker.blocked_subject SET enabled = false WHERE subject = 'ended'");
        change(
                "UPDATE broker.subject_grant SET enabled = false WHERE tenant = 'acme' AND key ="
                        + " 'deploy'");
    }

    @Test
    void large_rows_count_by_their_size() {
        change(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'large', 'own', 600,
                        jsonb_build_object('audience', 'x', 'claims', jsonb_build_object('c', repeat('x', 12000))))
                """);
        database.assertRows(COUNTED, "4");
        assertRefused(4 + 7, MOST, "UPDATE broker.key SET description = 'x' WHERE name = 'large'");
    }

    @Test
    void an_update_that_changes_nothing_does_not_count() {
        change("UPDATE broker.key SET enabled = true WHERE tenant = 'acme'");
        change("BEGIN; " + grants(1) + "; ROLLBACK");
        database.assertRows(COUNTED);
    }

    /** Members may have triggers on tables of their own. */
    @Test
    void changes_by_a_trigger_of_a_member_count() {
        change("UPDATE broker.tenant SET require_second_admin = true WHERE name = 'acme'");
        assertRefused(
                MOST + 1,
                MOST,
                """
                CREATE TEMP TABLE t (n int);
                CREATE FUNCTION pg_temp.f() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    UPDATE broker.key SET description = NEW.n::text WHERE tenant = 'acme' AND name = 'api';
                    RETURN NULL;
                END $$;
                CREATE TRIGGER x AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION pg_temp.f();
                INSERT INTO t SELECT generate_series(1, 20)
                """);
    }

    /** They are recorded, since a reader of the history keeps 100 and 100.0 apart. */
    @Test
    void another_spelling_of_a_number_counts() {
        database.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'spelled', 'api', '{\"pid\": 100}')");
        for (int n = 1; n <= MOST; n++) {
            change(
                    "UPDATE broker.subject_grant SET claims = '{\"pid\": 100.%s}' WHERE subject = 'spelled'"
                            .formatted("0".repeat(n)));
        }
        database.assertRows(COUNTED, "5");
    }
}
