package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.audit.Event;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** What the views say of mints that didn't end well, or didn't end. */
@Tag("every-postgres")
class AuditViewsTest {
    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    private final Database connections = database.closing(new Database(database.login(Who.APP)));
    private final PostgresEventStore store = new PostgresEventStore(connections, "here/1");

    @BeforeEach
    void tenants() {
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme'), ('other');
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('other', 'test_tenant_admin');
                """);
    }

    private List<String> unresolved() {
        return database.column("SELECT subject FROM audit.unresolved ORDER BY subject");
    }

    private List<String> active() {
        return database.column(
                "SELECT concat_ws(' ', subject, outcome, reason, credential_id) FROM"
                        + " audit.active_credential ORDER BY subject");
    }

    private List<String> wrong() {
        Seals.seal(database);
        return Seals.wrong(database);
    }

    @Test
    void a_mint_is_unresolved_from_its_intent_to_its_outcome() {
        List<Event> mint = AuditRows.mint("one", "{}");
        store.append(mint.subList(0, 1));
        assertEquals(List.of("one"), unresolved());
        assertEquals(List.of("one unresolved"), active());
        assertEquals(List.of(), wrong());
        store.append(mint.subList(1, 2));
        assertEquals(List.of(), unresolved());
        assertEquals(List.of("one issued ASIAone"), active());
        database.assertRows("SELECT mint_id FROM audit.open_mint");
        assertEquals(List.of(), wrong());
    }

    @Test
    void rows_of_many_mints_in_one_commit_and_in_any_order_are_told_apart() {
        List<Event> first = AuditRows.mint("first", "{}");
        List<Event> backwards = AuditRows.mint("backwards", "{}").reversed();
        List<Event> early = AuditRows.mint("early", "{}");
        List<Event> open = AuditRows.mint("open", "{}").subList(0, 1);
        store.append(early.subList(1, 2));
        List<Event> batch = new ArrayList<>(first);
        batch.addAll(backwards);
        batch.addAll(open);
        batch.addAll(early.subList(0, 1));
        store.append(batch);
        assertEquals(List.of("open"), unresolved());
        assertEquals(List.of(), wrong());
    }

    @Test
    void a_row_that_comes_late_shows_and_one_whose_time_is_over_is_no_credential() {
        database.run(Who.OWNER, "SELECT audit.create_partition('2026-01-01')");
        Instant january = Instant.parse("2026-01-07T12:00:00Z");
        List<Event> old = AuditRows.mintAt(january, "old");
        store.append(old.subList(0, 1));
        assertEquals(List.of("old"), unresolved());
        assertEquals(List.of(), active());
        database.assertRows(
                "SELECT credential_may_exist_until FROM audit.unresolved",
                "2026-01-07 13:00:00+00");
    }

    @Test
    void a_failure_that_may_have_left_a_credential_counts_as_one_and_a_refusal_does_not() {
        for (String reason :
                List.of(
                        "provider_timeout",
                        "provider_unreachable",
                        "provider_error",
                        "provider_rejected",
                        "provider_throttled",
                        "provider_misconfigured",
                        "broker_identity_rejected",
                        "decided_again",
                        "audit_unavailable")) {
            store.append(AuditRows.failed(reason, reason));
        }
        assertEquals(
                List.of(
                        "provider_timeout failed provider_timeout",
                        "provider_unreachable failed provider_unreachable"),
                active());
        database.assertRows(
                "SELECT DISTINCT a.expires_at = r.expires_at FROM audit.active_credential AS a"
                        + " JOIN audit.event AS r ON r.mint_id = a.mint_id AND r.step = 1",
                "t");
    }

    @Test
    void a_tenants_admins_see_what_is_open_at_their_tenant_alone() {
        store.append(AuditRows.mint("theirs", "{}").subList(0, 1));
        store.append(AuditRows.failed("theirs", "provider_timeout"));
        for (String view :
                List.of("unresolved", "active_credential", "open_mint", "denial", "mint")) {
            assertEquals(
                    List.of(),
                    database.column(Who.TENANT_ADMIN, "SELECT mint_id FROM audit." + view),
                    view);
        }
        database.admin(
                "INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme',"
                        + " 'test_tenant_admin')");
        database.assertRows(Who.TENANT_ADMIN, "SELECT subject FROM audit.unresolved", "theirs");
        database.assertRows(
                Who.TENANT_ADMIN,
                "SELECT outcome FROM audit.active_credential ORDER BY outcome",
                "failed",
                "unresolved");
    }

    @Test
    void who_hides_an_open_mint_from_the_list_is_found_out() {
        store.append(AuditRows.mint("hidden", "{}").subList(0, 1));
        store.append(AuditRows.mint("other", "{}"));
        assertEquals(List.of(), wrong());
        database.runAsSuperuser("DELETE FROM audit.open_mint");
        List<String> wrong = Seals.wrong(database);
        assertEquals(1, wrong.size(), wrong.toString());
        assertEquals(
                "audit.unresolved doesn't list mint %s, which has no outcome"
                        .formatted(
                                database.value(
                                        "SELECT mint_id FROM audit.event WHERE subject ="
                                                + " 'hidden'")),
                wrong.getFirst());
    }

    @Test
    void a_view_that_lists_what_is_not_open_is_found_out() {
        store.append(AuditRows.mint("done", "{}"));
        assertEquals(List.of(), wrong());
        database.runAsSuperuser(
                """
                CREATE OR REPLACE VIEW audit.unresolved AS
                SELECT r.mint_id, r.request_id, r.tenant, r.idp, r.issuer, r.subject, r.key, r.provider,
                       r.provider_type, r.occurred_at AS requested_at,
                       r.expires_at AS credential_may_exist_until, r.grant_id, r.grant_revision,
                       r.token_id, r.token_hash, r.actor_idp, r.actor_issuer, r.actor,
                       r.client_address, r.user_agent, r.broker
                  FROM audit.event AS r WHERE r.step = 1
                """);
        List<String> wrong = Seals.wrong(database);
        assertEquals(1, wrong.size(), wrong.toString());
        assertEquals(
                true, wrong.getFirst().contains("which has an outcome or was never requested"));
    }

    @Test
    void mints_without_outcome_are_told_and_outcomes_without_intent_are_wrong() {
        store.append(AuditRows.mint("open", "{}").subList(0, 1));
        store.append(AuditRows.mint("unasked", "{}").subList(1, 2));
        store.append(List.of(AuditRows.rejected(), AuditRows.denied("stranger")));
        Seals.seal(database);
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(List.of("1 mints have no outcome"), found.told);
        assertEquals(
                List.of(
                        "Mint %s has an outcome but was never requested"
                                .formatted(
                                        database.value(
                                                "SELECT mint_id FROM audit.event WHERE subject ="
                                                        + " 'unasked'"))),
                found.wrong);
    }

    @Test
    void nobody_but_the_trigger_writes_the_list() {
        for (Who who : List.of(Who.APP, Who.ADMIN, Who.TENANT_ADMIN, Who.AUDITOR)) {
            assertThrows(
                    IllegalStateException.class,
                    () -> database.run(who, "DELETE FROM audit.open_mint"));
            assertThrows(
                    IllegalStateException.class,
                    () ->
                            database.run(
                                    who,
                                    "INSERT INTO audit.open_mint VALUES (gen_random_uuid(),"
                                            + " 'acme')"));
        }
    }

    @Test
    void a_grant_is_unused_if_it_was_enabled_and_valid_for_90_days_without_a_mint() {
        database.admin(
                """
                INSERT INTO broker.identity_provider (tenant, name, issuer, audiences)
                VALUES ('acme', 'ci', 'https://ci.example.com', '{mintmark}');
                INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acme', 'tokens', 'jwt');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'api', 'tokens', 900, '{"audience": "https://api.example.com"}');
                INSERT INTO broker.subject_grant (tenant, idp, key, subject, enabled, valid_from, reason)
                VALUES ('acme', 'ci', 'api', 'idle', true, NULL, 'OPS-1'),
                       ('acme', 'ci', 'api', 'disabled', false, NULL, 'OPS-1'),
                       ('acme', 'ci', 'api', 'begins', true, now() - interval '1 day', 'OPS-1'),
                       ('acme', 'ci', 'api', 'made today', true, NULL, 'OPS-1');
                """);
        String unused = "SELECT subject FROM audit.unused_grant";
        database.assertRows(unused);
        database.rewrite(
                "subject_grant",
                "created_at = created_at - interval '91 days' WHERE subject <> 'made today'");
        database.assertRows(unused, "idle");
    }
}
