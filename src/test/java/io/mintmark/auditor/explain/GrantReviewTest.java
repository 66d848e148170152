package io.mintmark.auditor.explain;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Owners of grants, and what auditors see of reviews. */
@Tag("every-postgres")
class GrantReviewTest {
    private static final String GRANT =
            """
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, owner)
            VALUES ('acme', 'ci', '%s', 'api', 'OPS-1', %s)
            """;
    private static final String REVIEW =
            """
            INSERT INTO broker.grant_review (grant_id, verdict, note)
            SELECT id, '%s', 'looked at' FROM broker.subject_grant WHERE subject = '%s'
            """;
    private static final String REVIEWED =
            "SELECT concat_ws(' ', subject, owner, due, last_reviewed_by) FROM audit.grant_review"
                    + " WHERE subject LIKE 's%' ORDER BY 1";

    private static final String WAITING =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND"
                    + " wait_event_type = 'Lock'";

    @AutoClose private TestDatabase database;

    @BeforeEach
    void setUp() throws IOException {
        database = TestDatabase.filled(SqlCase.script("refusals", "setup"));
    }

    private void admin(String sql) {
        database.admin(sql);
    }

    /** As if everything of the tenant had been written so long ago. */
    private void age(String interval) {
        database.runAsSuperuser(
                """
                SET session_replication_role = replica;
                ALTER TABLE broker.subject_grant DISABLE TRIGGER ALL;
                ALTER TABLE broker.grant_review DISABLE TRIGGER ALL;
                UPDATE broker.subject_grant SET created_at = created_at - interval '%1$s';
                UPDATE broker.grant_review SET created_at = created_at - interval '%1$s';
                """
                        .formatted(interval));
        database.runAsSuperuser(
                """
                ALTER TABLE broker.subject_grant ENABLE TRIGGER ALL;
                ALTER TABLE broker.grant_review ENABLE TRIGGER ALL;
                """);
    }

    @Test
    void a_grant_is_due_after_review_days_and_a_review_resets_that() {
        admin(GRANT.formatted("s1", "'team-a'"));
        database.assertRows(Who.AUDITOR, REVIEWED, "s1 team-a f");
        age("91 days");
        database.assertRows(Who.AUDITOR, REVIEWED, "s1 team-a t");
        admin(REVIEW.formatted("keep", "s1"));
        database.assertRows(Who.AUDITOR, REVIEWED, "s1 team-a f test_admin");
        age("8 days");
        admin("UPDATE broker.tenant SET review_days = 7 WHERE name = 'acme'");
        database.assertRows(Who.AUDITOR, REVIEWED, "s1 team-a t test_admin");
    }

    @Test
    void the_verdict_remove_disables_the_grant_in_the_same_transaction() {
        admin(GRANT.formatted("s1", "NULL") + ";" + GRANT.formatted("s2", "NULL"));
        admin(REVIEW.formatted("remove", "s1"));
        database.assertRows(
                "SELECT subject || ' ' || CASE WHEN enabled THEN 't' ELSE 'f' END"
                        + " FROM broker.subject_grant WHERE subject LIKE 's%' ORDER BY 1",
                "s1 f", "s2 t");
        database.assertRows(
                """
                SELECT table_name || ' ' || changed_by FROM audit.config_change
                 WHERE transaction_id = (SELECT max(transaction_id) FROM audit.config_change
                                          WHERE table_name = 'grant_review') ORDER BY revision
                """,
                "grant_review test_admin",
                "subject_grant test_admin");
    }

    @Test
    void a_review_cannot_be_changed_or_removed() {
        admin(GRANT.formatted("s1", "NULL") + ";" + REVIEW.formatted("keep", "s1"));
        for (String sql :
                List.of(
                        "UPDATE broker.grant_review SET note = 'x'",
                        "DELETE FROM broker.grant_review",
                        "TRUNCATE broker.grant_review")) {
            assertThrows(IllegalStateException.class, () -> admin(sql), sql);
            assertThrows(
                    IllegalStateException.class,
                    () -> database.run(Who.OWNER, "SET ROLE mintmark_owner; " + sql),
                    sql);
        }
    }

    @Test
    void tenant_admins_review_the_grants_of_their_tenants_and_see_no_others() {
        admin(
                """
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('other', 'elsewhere', 's9', 'api', 'x')
                """);
        admin(GRANT.formatted("s1", "NULL"));
        database.assertRows(Who.TENANT_ADMIN, REVIEWED, "s1 f");
        database.run(Who.TENANT_ADMIN, REVIEW.formatted("remove", "s1"));
        database.assertRows(Who.TENANT_ADMIN, REVIEWED, "s1 f test_tenant_admin");
        String other =
                "INSERT INTO broker.grant_review (grant_id, verdict) VALUES (%s, 'remove')"
                        .formatted(
                                database.value(
                                        "SELECT id FROM broker.subject_grant WHERE subject ="
                                                + " 's9'"));
        IllegalStateException refused =
                assertThrows(
                        IllegalStateException.class, () -> database.run(Who.TENANT_ADMIN, other));
        assertShows(String.valueOf(refused.getCause()), "that you may see.");
        assertThrows(
                IllegalStateException.class,
                () -> database.run(Who.AUDITOR, REVIEW.formatted("keep", "s1")));
    }

    @Test
    void reviews_by_tenant_admins_count_as_changes_of_the_day() {
        admin(
                """
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
                UPDATE broker.tenant SET max_changes = 1 WHERE name = 'acme';
                """);
        admin(GRANT.formatted("s1", "NULL"));
        database.run(Who.TENANT_ADMIN, REVIEW.formatted("keep", "s1"));
        IllegalStateException refused =
                assertThrows(
                        IllegalStateException.class,
                        () -> database.run(Who.TENANT_ADMIN, REVIEW.formatted("keep", "s1")));
        assertShows(String.valueOf(refused.getCause()), "would have 2 changes today");
    }

    /** An edit locks the grant and waits for the tenant; a review in its way must do so as well. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_review_and_an_edit_of_the_same_grant_wait_for_each_other(boolean reviewFirst)
            throws Exception {
        admin(GRANT.formatted("s1", "NULL"));
        String edit = "UPDATE broker.subject_grant SET reason = 'OPS-2' WHERE subject = 's1'";
        String review = REVIEW.formatted("remove", "s1");
        List<Future<?>> both = new ArrayList<>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                Connection tenant = database.connect(Who.ADMIN)) {
            tenant.setAutoCommit(false);
            try (Statement holds = tenant.createStatement()) {
                holds.execute(
                        "UPDATE broker.key SET description = 'x' WHERE tenant = 'acme' AND name ="
                                + " 'api'");
            }
            for (String sql : reviewFirst ? List.of(review, edit) : List.of(edit, review)) {
                both.add(threads.submit(() -> admin(sql)));
                Eventually.holds(() ->
                        database.column(Who.ADMIN, WAITING).equals(List.of(both.size() + "")));
            }
            tenant.commit();
            for (Future<?> one : both) {
                one.get();
            }
        }
        database.assertRows(
                "SELECT reason || ' ' || CASE WHEN enabled THEN 't' ELSE 'f' END"
                        + " FROM broker.subject_grant WHERE subject = 's1'",
                "OPS-2 f");
    }

    @Test
    void a_grant_without_an_owner_has_that_of_its_key() {
        admin("UPDATE broker.key SET owner = 'team-k' WHERE tenant = 'acme' AND name = 'api'");
        admin(GRANT.formatted("s1", "NULL") + ";" + GRANT.formatted("s2", "'team-g'"));
        database.assertRows(REVIEWED, "s1 team-k f", "s2 team-g f");
    }

    @Test
    void where_the_tenant_requires_an_owner_rows_without_one_can_only_be_disabled() {
        admin(GRANT.formatted("s1", "NULL"));
        admin("UPDATE broker.tenant SET require_owner = true WHERE name = 'acme'");
        assertThrows(
                IllegalStateException.class,
                () -> admin("UPDATE broker.subject_grant SET reason = 'x' WHERE subject = 's1'"));
        admin(REVIEW.formatted("remove", "s1"));
        admin("UPDATE broker.key SET enabled = false WHERE tenant = 'acme' AND name = 'api'");
        assertThrows(
                IllegalStateException.class,
                () -> admin("UPDATE broker.subject_grant SET enabled = true WHERE subject = 's1'"));
        assertThrows(
                IllegalStateException.class,
                () ->
                        admin(
                                "UPDATE broker.subject_grant SET enabled = true, owner = ' ' WHERE"
                                        + " subject = 's1'"));
        admin(
                "UPDATE broker.subject_grant SET enabled = true, owner = 'team-a' WHERE subject ="
                        + " 's1'");
    }

    @Test
    void uses_are_counted_for_ninety_days_and_lint_is_listed() {
        admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 's*', 'api')
                """);
        String id = database.value("SELECT id FROM broker.subject_grant WHERE subject = 's*'");
        for (int minutes : List.of(1, 20)) {
            database.runAsSuperuser(
                    """
                    INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                             provider, provider_type, grant_id, grant_revision, broker, expires_at, token_hash)
                    SELECT overlay(audit.first_mint_id(now() - interval '%1$d minutes')::text PLACING '7' FROM 15 FOR 1)::uuid, 1,
                           'requested', now() - interval '%1$d minutes', 'r', 'acme', 'ci', 'https://ci.example.com', 's*', 'api',
                           'own', 'jwt', %2$s, 1, 'test', now(), sha256('token')
                    """
                            .formatted(minutes, id));
        }
        database.assertRows(
                "SELECT concat_ws(' ', uses_90d, last_used_at > now() - interval '10 minutes',"
                        + " lint) FROM audit.grant_review WHERE grant_id = "
                        + id,
                "2 t glob_sign_in_exact_subject, no_reason");
    }

    @Test
    void a_reviewer_sees_what_a_grant_requires() {
        database.admin(
                """
                UPDATE broker.subject_grant
                   SET claims = '{"ref": "refs/heads/main"}', valid_until = '2199-01-01Z'
                 WHERE id = (SELECT min(id) FROM broker.subject_grant)
                """);
        database.assertRows(
                "SELECT concat_ws(' ', claims, actor_claims, extract(year FROM valid_until))"
                        + " FROM audit.grant_review ORDER BY grant_id LIMIT 1",
                "{\"ref\": \"refs/heads/main\"} {} 2199");
    }
}
