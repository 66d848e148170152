package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Objects;

/** In a tenant that requires a second admin, a block is lifted, shortened or narrowed by two. */
class BlocksLiftedByTwoTest {
    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);

    @BeforeEach
    void requireSecondAdmin() {
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
    }

    private String refused(Who who, String sql) {
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> database.run(who, sql));
        return String.valueOf(Objects.requireNonNull(refusal.getCause()).getMessage());
    }

    @Test
    void a_block_stays_until_another_login_approves_that_it_is_lifted() {
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'dev:eve', 'INC-1')");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.blocked_subject SET enabled = false");
        database.assertRows(
                "SELECT concat_ws('|', enabled, proposed) FROM broker.blocked_subject",
                "t|{\"enabled\": false}");
        database.assertRows(
                "SELECT concat_ws('|', table_name, subject, reason) FROM broker.pending_approval",
                "blocked_subject|dev:eve|INC-1; proposed: {\"enabled\": false}");
        String lift = database.value("SELECT statement FROM broker.pending_approval");
        assertTrue(refused(Who.TENANT_ADMIN, lift).contains("cannot approve it"));
        database.admin(lift);
        database.assertRows(
                "SELECT concat_ws('|', enabled, proposed) FROM broker.blocked_subject", "f");
        assertTrue(refused(Who.ADMIN, lift).contains("No change of block 1 awaits approval."));
        database.run(Who.TENANT_ADMIN, "DELETE FROM broker.blocked_subject");
    }

    @Test
    void a_block_is_shortened_or_narrowed_by_two_and_extended_by_one() {
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', 'dev:eve', 'INC-1', now() + interval '1 day')");
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.blocked_subject SET claims = '{\"azp\": \"x\"}', until = until - interval '1 hour'");
        database.assertRows(
                "SELECT concat_ws('|', claims, until > now() + interval '23.5 hours', proposed ?& '{claims,until}') FROM broker.blocked_subject",
                "{}|t|t");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.blocked_subject SET until = NULL");
        database.assertRows(
                "SELECT until IS NULL AND proposed IS NULL FROM broker.blocked_subject", "t");
        database.assertRows("SELECT count(*) FROM broker.pending_approval", "0");
        assertTrue(
                refused(Who.TENANT_ADMIN, "DELETE FROM broker.blocked_subject")
                        .contains("requires a second admin to lift it"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "enabled = NULL",
                "subject = NULL",
                "subject = '**'",
                "until = '-infinity'",
                "idp = 'nobody'",
                "reason = ''"
            })
    void a_change_of_a_block_that_could_not_be_approved_is_refused_at_once(String invalid) {
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'dev:eve', 'INC-1')");
        refused(
                Who.TENANT_ADMIN,
                "UPDATE broker.blocked_subject SET claims = '{\"a\": \"b\"}', " + invalid);
        database.assertRows("SELECT count(*) FROM broker.pending_approval", "0");
    }

    @Test
    void an_update_that_changes_nothing_keeps_what_is_proposed() {
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'dev:eve', 'INC-1')");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.blocked_subject SET enabled = false");
        database.admin("UPDATE broker.blocked_subject SET reason = reason");
        database.assertRows("SELECT proposed FROM broker.blocked_subject", "{\"enabled\": false}");
        database.admin("UPDATE broker.blocked_subject SET reason = 'INC-2'");
        database.assertRows("SELECT proposed IS NULL FROM broker.blocked_subject", "t");
    }
}
