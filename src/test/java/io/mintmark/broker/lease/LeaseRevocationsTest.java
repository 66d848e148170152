package io.mintmark.broker.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.audit.Event;
import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Credential;
import io.mintmark.audit.Event.GrantReference;
import io.mintmark.audit.Event.Subject;
import io.mintmark.audit.MintEvents;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.LeaseRevocation;
import io.mintmark.provider.LeaseRevoker.RevocationOrder;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/** What mints leave behind is ended, by whichever replica is there, and is on record once. */
@Tag("every-postgres")
@Execution(ExecutionMode.CONCURRENT)
class LeaseRevocationsTest {
    private static final MintIds IDS = new MintIds(InstantSource.system(), new Random());
    private static final String OPEN =
            "SELECT concat_ws(' ', outcome, tries, last_reason, early) FROM runtime.ending ORDER BY"
                    + " mint_id";
    private static final String ENDED =
            "SELECT concat_ws(' ', reason, detail, broker) FROM audit.event WHERE kind = 'ended'"
                    + " ORDER BY mint_id";

    private static final String TENANTS =
            """
            INSERT INTO broker.tenant (name) VALUES ('acme'), ('other');
            INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
            INSERT INTO broker.access_provider (tenant, name, type, settings)
            VALUES ('acme', 'app', 'webhook', '{"endpoint": "https://app.example.com", "fields": ["PASSWORD"]}'),
                   ('acme', 'second', 'webhook', '{"endpoint": "https://two.example.com", "fields": ["PASSWORD"]}');
            """;

    private final TestDatabase database = TestDatabase.filled(TENANTS);
    private final FarSide target = new FarSide();
    private final List<LeaseReplica> replicas = new ArrayList<>();

    /** How far the replicas' clocks are ahead. */
    private volatile Duration ahead = Duration.ZERO;

    private final CountDownLatch released = new CountDownLatch(1);

    @AfterEach
    void close() {
        released.countDown();
        replicas.forEach(LeaseReplica::close);
        database.close();
    }

    private LeaseReplica replica(String name) {
        LeaseReplica replica =
                new LeaseReplica(database, name, target, () -> Instant.now().plus(ahead));
        replicas.add(replica);
        return replica;
    }

    private static MintEvents mint(String provider, String type) {
        return new MintEvents(
                IDS.next(),
                new Caller("request", InetAddress.getLoopbackAddress(), Optional.empty()),
                new Subject(
                        Optional.of(new TenantName("acme")),
                        Optional.of(new IdpName("ci")),
                        "https://ci.example.com",
                        Optional.of("ci:main"),
                        Optional.empty(),
                        "ab".repeat(32),
                        Optional.empty()),
                new KeyName("app"),
                Optional.of(
                        new GrantReference(
                                new ProviderName(provider), type, 1, 1, 1, "cd".repeat(32))));
    }

    private static MintEvents mint() {
        return mint("app", "webhook");
    }

    private static Event requested(MintEvents mint) {
        return mint.requested(Instant.now(), Instant.now().plusSeconds(700));
    }

    private static Credential credential(Duration left, boolean endsByItself) {
        Instant now = Instant.now();
        return new Credential(Optional.of("id"), Optional.of(now), now.plus(left), endsByItself);
    }

    private static Event issued(MintEvents mint, Duration left) {
        return mint.issued(Instant.now(), credential(left, false));
    }

    private MintEvents issued(LeaseReplica by, Duration left) {
        MintEvents mint = mint();
        by.record(requested(mint));
        target.make(mint.mintId(), "app");
        by.record(issued(mint, left));
        return mint;
    }

    /** Time passes in the database: all that is open becomes due, all claims end, pauses too. */
    private void timePasses() {
        database.runAsSuperuser(
                "UPDATE runtime.ending SET due = now(), next_try = now(), claimed_until = now()");
        pausesPass();
    }

    /** Time passes at the replicas: none leaves an access provider alone any longer. */
    private void pausesPass() {
        ahead = ahead.plusSeconds(16);
    }

    private void assertEnded(String... how) {
        Eventually.holds(() -> database.column("SELECT mint_id FROM runtime.ending").isEmpty());
        database.assertRows(ENDED, how);
        assertEquals(List.of(), List.copyOf(target.left()));
        database.assertRows("SELECT mint_id FROM audit.unended");
    }

    @Test
    void a_request_opens_an_ending_that_its_outcome_moves_or_closes() {
        LeaseReplica one = replica("one");
        List<MintEvents> mints = List.of(mint(), mint(), mint(), mint(), mint());
        mints.forEach(mint -> one.record(requested(mint)));
        String due =
                "SELECT concat_ws(' ', outcome, round(extract(epoch FROM due - now()) / 100)) FROM"
                        + " runtime.ending ORDER BY mint_id";
        database.assertRows(due, "1", "1", "1", "1", "1");

        one.record(issued(mints.get(0), Duration.ofMinutes(10)));
        one.record(
                mints.get(1)
                        .withheld(
                                Instant.now(),
                                "other_key_failed",
                                "",
                                credential(Duration.ofMinutes(10), false)));
        one.record(mints.get(2).failed(Instant.now(), "provider_timeout", ""));
        one.record(mints.get(3).failed(Instant.now(), "provider_rejected", ""));
        one.record(mints.get(4).failed(Instant.now(), "tenant_busy", ""));
        database.assertRows(due, "issued 6", "withheld 0", "failed 0");
    }

    @Test
    void a_type_that_leaves_nothing_behind_opens_no_ending() {
        LeaseReplica one = replica("one");
        MintEvents token = mint("own", "jwt");
        one.record(requested(token), requested(mint()));
        one.record(issued(token, Duration.ofMinutes(10)));
        database.assertRows("SELECT provider_type FROM runtime.ending", "webhook");
    }

    @Test
    void what_expires_is_ended_and_on_record_once() {
        LeaseReplica one = replica("one").start();
        MintEvents mint = issued(one, Duration.ofSeconds(2));
        replica("two").start();
        Eventually.holds(() -> !database.column(ENDED).isEmpty());
        assertEquals(1, target.orders().size());
        RevocationOrder order = target.orders().getFirst();
        assertEquals(mint.mintId(), order.mintId());
        assertEquals("https://app.example.com", order.place().settings().path("endpoint").asText());
        database.assertRows(
                "SELECT concat_ws(' ', tenant, key, provider, provider_type, credential_id) FROM"
                        + " audit.event WHERE kind = 'ended'",
                "acme app app webhook id");
        assertTrue(
                List.of("over dropped one", "over dropped two")
                        .containsAll(database.column(ENDED)));
    }

    @Test
    void what_ends_by_itself_is_on_record_without_a_call_unless_it_was_never_handed_out() {
        LeaseReplica one = replica("one");
        MintEvents handedOut = mint();
        MintEvents dropped = mint();
        one.record(requested(handedOut), requested(dropped));
        one.record(
                handedOut.issued(Instant.now(), credential(Duration.ofSeconds(1), true)),
                dropped.withheld(
                        Instant.now(),
                        "other_key_failed",
                        "",
                        credential(Duration.ofMinutes(9), true)));
        one.start();
        assertEnded("over by itself one", "undone dropped one");
        assertEquals(
                List.of(dropped.mintId()),
                target.orders().stream().map(RevocationOrder::mintId).toList());
    }

    @Test
    void a_replica_that_dies_before_the_call_leaves_a_mint_that_another_ends() {
        replica("one").record(requested(mint()));
        LeaseReplica two = replica("two").start();
        timePasses();
        assertEnded("undone dropped two");
        assertEquals(List.of("webhook GONE"), two.results());
    }

    @Test
    void a_replica_that_dies_after_the_call_leaves_a_credential_that_another_ends() {
        MintEvents mint = mint();
        replica("one").record(requested(mint));
        target.make(mint.mintId(), "app");
        replica("two").start();
        timePasses();
        assertEnded("undone dropped two");
    }

    @Test
    void a_replica_that_stops_while_it_ends_a_mint_is_replaced_and_its_late_row_is_none() {
        CountDownLatch begun = new CountDownLatch(1);
        target.answer(order -> {
            begun.countDown();
            Unchecked.await(released);
            return new LeaseRevocation.Gone("late");
        });
        LeaseReplica one = replica("one");
        issued(one, Duration.ofSeconds(1));
        one.start();
        Unchecked.await(begun);
        target.comeBack();
        replica("two").start();
        timePasses();
        assertEnded("over dropped two");
        released.countDown();
        Eventually.holds(() -> one.results().contains("webhook GONE"));
        // the row is refused, and nothing else is
        Eventually.holds(() -> recorded(one));
        database.assertRows(ENDED, "over dropped two");
    }

    private boolean recorded(LeaseReplica by) {
        MintEvents other = mint("own", "jwt");
        by.record(requested(other));
        return true;
    }

    @Test
    void a_target_that_is_down_is_tried_again_for_ever_and_delays_no_other() {
        LeaseReplica one = replica("one");
        issued(one, Duration.ofMillis(10));
        MintEvents elsewhere = mint("second", "webhook");
        one.record(requested(elsewhere));
        one.record(issued(elsewhere, Duration.ofMillis(10)));
        target.answer(order ->
                order.place().provider().value().equals("app")
                        ? new LeaseRevocation.NotYet(
                                Reason.PROVIDER_UNREACHABLE, "connection refused")
                        : new LeaseRevocation.Gone("dropped"));
        one.start();
        Eventually.holds(() -> database.column(ENDED).size() == 1);
        assertTried("issued 1 provider_unreachable f");
        timePasses();
        assertTried("issued 2 provider_unreachable f");
        // an hour, in which it was tried again and again
        database.runAsSuperuser("UPDATE runtime.ending SET tries = 60, next_try = now()");
        pausesPass();
        assertTried("issued 61 provider_unreachable f");
        database.assertRows(
                "SELECT next_try - now() BETWEEN interval '7 minutes' AND interval '15 minutes'"
                        + " FROM runtime.ending",
                "t");
        database.assertRows(
                Who.TENANT_ADMIN,
                "SELECT concat_ws(' ', outcome, tries, last_failure) FROM audit.unended",
                "issued 61 provider_unreachable: connection refused");
        target.comeBack();
        timePasses();
        assertEnded("over dropped one", "over dropped one");
    }

    private void assertTried(String open) {
        Eventually.holds(() -> database.column(OPEN).equals(List.of(open)));
    }

    @Test
    void a_mint_that_is_stuck_delays_no_other_and_comes_after_those_that_were_not_tried() {
        LeaseReplica one = replica("one");
        MintEvents stuck = issued(one, Duration.ofMillis(10));
        target.answer(order ->
                order.mintId().equals(stuck.mintId())
                        ? new LeaseRevocation.Stuck(
                                Reason.PROVIDER_TIMEOUT, "a session did not end")
                        : new LeaseRevocation.Gone("dropped"));
        database.runAsSuperuser(
                "UPDATE runtime.ending SET tries = 20, next_try = now() - interval '1 hour'");
        issued(one, Duration.ZERO);
        one.start();
        Eventually.holds(() -> target.orders().size() == 2);
        assertEquals(stuck.mintId(), target.orders().getLast().mintId());

        issued(one, Duration.ofMillis(10));
        Eventually.holds(() -> database.column(ENDED).size() == 2);
        database.assertRows(OPEN, "issued 21 provider_timeout f");
    }

    @Test
    void at_one_access_provider_one_mint_is_ended_at_a_time() {
        LeaseReplica one = replica("one");
        for (int i = 0; i < 20; i++) {
            issued(one, Duration.ofMillis(10));
        }
        one.start();
        Eventually.holds(() -> database.column(ENDED).size() == 20);
        assertEquals(1, target.mostAtOnce());
    }

    @Test
    void an_access_provider_is_found_however_many_mints_are_due_at_another() {
        for (int due : List.of(1, 1_100)) {
            database.runAsSuperuser(
                    """
                    INSERT INTO runtime.ending (mint_id, tenant, provider, provider_type, due, next_try)
                    SELECT gen_random_uuid(), 'acme', 'app', 'webhook', now() - interval '1 hour', now() - interval '1 hour'
                      FROM generate_series(1, %d)
                    UNION ALL SELECT gen_random_uuid(), 'acme', 'second', 'webhook', now(), now()
                    """
                            .formatted(due));
            assertEquals(
                    Set.of("app", "second"),
                    store().due(Set.of("webhook")).stream()
                            .map(found -> found.provider().name().value())
                            .collect(Collectors.toSet()));
        }
    }

    private LeaseStore store() {
        return new PostgresLeases(
                database.closing(new Database(database.login(Who.APP))), "looking");
    }

    @Test
    void a_sweep_is_due_for_new_access_providers_and_not_for_deleted_ones() {
        LeaseStore store = store();
        Set<String> types = Set.of("webhook");
        assertEquals(List.of(), store.due(types));
        store.noteProviders();
        assertEquals(2, store.due(types).stream().filter(LeaseStore.Due::sweep).count());
        database.admin("DELETE FROM broker.access_provider WHERE name = 'second'");
        store.noteProviders();
        assertEquals(List.of("app"), database.column("SELECT provider FROM runtime.sweep"));
        assertEquals(List.of(), store.due(Set.of("postgres")));
    }

    @Test
    void two_replicas_end_each_mint_once() {
        // a sweep may list a mint that the other replica is just ending, and end it again
        database.runAsSuperuser(
                "INSERT INTO runtime.sweep VALUES ('acme', 'app', now() + interval '1 hour')");
        LeaseReplica one = replica("one");
        for (int i = 0; i < 60; i++) {
            issued(one, Duration.ofMillis(10));
        }
        one.start();
        replica("two").start();
        Eventually.holds(() -> database.column("SELECT mint_id FROM runtime.ending").isEmpty());
        assertEquals(60, database.column(ENDED).size());
        assertEquals(60, target.orders().size());
    }

    @Test
    void what_is_left_is_on_record() {
        target.answer(_ -> new LeaseRevocation.Disarmed("it owns 1 table"));
        LeaseReplica one = replica("one");
        one.record(requested(mint()));
        one.start();
        timePasses();
        assertEnded("disarmed it owns 1 table one");
        assertEquals(List.of("webhook DISARMED"), one.results());
    }

    @Test
    void an_admin_ends_a_credential_before_its_time() {
        LeaseReplica one = replica("one").start();
        MintEvents mint = issued(one, Duration.ofMinutes(10));
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.ended_credential (mint_id, reason) VALUES ('%s', 'INC-7')"
                        .formatted(mint.mintId()));
        assertEnded("asked_for dropped one");
    }

    @Test
    void a_mint_that_is_in_flight_when_it_is_ended_is_ended_once_it_is_issued() {
        LeaseReplica one = replica("one").start();
        MintEvents mint = mint();
        one.record(requested(mint));
        database.admin(
                "INSERT INTO broker.ended_credential (mint_id, reason) VALUES ('%s', 'INC-7')"
                        .formatted(mint.mintId()));
        Eventually.holds(() -> database.column(OPEN).equals(List.of("0 t")));
        target.make(mint.mintId(), "app");
        one.record(issued(mint, Duration.ofMinutes(10)));
        assertEnded("asked_for dropped one");
    }

    @Test
    void an_admins_open_transaction_holds_up_no_mint() throws Exception {
        LeaseReplica one = replica("one").start();
        MintEvents mint = mint();
        one.record(requested(mint));
        try (var admin = database.connect(Who.ADMIN);
                var statement = admin.createStatement()) {
            admin.setAutoCommit(false);
            statement.execute(
                    "INSERT INTO broker.ended_credential (mint_id, reason) VALUES ('%s', 'INC-7')"
                            .formatted(mint.mintId()));
            statement.execute("DELETE FROM broker.access_provider WHERE name = 'second'");
            one.record(issued(mint, Duration.ofMinutes(10)));
            MintEvents other = mint("second", "webhook");
            one.record(requested(other));
            one.record(other.failed(Instant.now(), "decided_again", ""));
            admin.rollback();
        }
        database.assertRows(OPEN, "issued 0 f");
    }

    @Test
    void a_database_that_was_set_back_learns_from_the_provider_what_is_left() {
        LeaseReplica one = replica("one");
        MintEvents known = issued(one, Duration.ofMinutes(10));
        MintEvents ended = issued(one, Duration.ofMinutes(10));
        MintEvents unknown = mint();
        target.make(unknown.mintId(), "app");
        one.record(end(ended));
        database.runAsSuperuser("DELETE FROM runtime.ending");
        one.start();
        Eventually.holds(() -> target.left().isEmpty());
        Eventually.holds(() -> database.column("SELECT mint_id FROM runtime.ending").isEmpty());
        database.assertRows(
                "SELECT concat_ws(' ', reason, detail, broker) FROM audit.event WHERE kind = 'ended' AND mint_id = '%s'"
                        .formatted(known.mintId()),
                "swept dropped one");
        assertEquals(2, database.column(ENDED).size());
    }

    private static Event end(MintEvents mint) {
        return mint.undone(Instant.now(), "id");
    }

    @Test
    void a_provider_is_swept_by_one_replica_and_leaves_the_others_mints_alone() {
        LeaseReplica one = replica("one");
        MintEvents alive = issued(one, Duration.ofMinutes(10));
        // of another tenant, which this provider can't end in the log
        database.runAsSuperuser(
                "INSERT INTO broker.access_provider (tenant, name, type, settings) SELECT 'other',"
                        + " 'app', type, settings FROM broker.access_provider WHERE tenant = 'acme' AND"
                        + " name = 'app'");
        one.start();
        replica("two").start();
        Eventually.holds(() ->
                database.column("SELECT provider FROM runtime.sweep WHERE next_sweep > now()")
                                .size()
                        == 3);
        database.assertRows(
                "SELECT tries FROM runtime.ending WHERE mint_id = '%s'".formatted(alive.mintId()),
                "0");
        database.assertRows(ENDED);
        database.assertRows(
                "SELECT next_sweep - now() BETWEEN interval '14 minutes' AND interval '15 minutes'"
                        + " FROM runtime.sweep",
                "t",
                "t",
                "t");
    }

    @Test
    void an_access_provider_with_open_endings_stays_and_may_be_disabled() {
        LeaseReplica one = replica("one");
        issued(one, Duration.ofMinutes(10));
        for (String edit :
                List.of(
                        "DELETE FROM broker.access_provider WHERE name = 'app'",
                        "UPDATE broker.access_provider SET name = 'new' WHERE name = 'app'")) {
            String why =
                    String.valueOf(
                            assertThrows(IllegalStateException.class, () -> database.admin(edit))
                                    .getCause());
            assertTrue(
                    why.contains(
                            "A credential of access provider \"app\" of tenant \"acme\" is not revoked yet"),
                    why);
        }
        database.admin("UPDATE broker.access_provider SET enabled = false WHERE name = 'app'");
        database.admin("UPDATE broker.tenant SET enabled = false WHERE name = 'acme'");
        one.start();
        timePasses();
        assertEnded("over dropped one");
        database.admin("DELETE FROM broker.access_provider WHERE name = 'app'");
    }

    @Test
    void an_end_that_another_replica_recorded_meanwhile_is_not_recorded_again() {
        LeaseReplica one = replica("one");
        MintEvents mint = issued(one, Duration.ofMinutes(10));
        database.runAsSuperuser("CREATE TABLE runtime.kept AS SELECT * FROM runtime.ending");
        one.record(end(mint));
        database.runAsSuperuser(
                "INSERT INTO runtime.ending SELECT * FROM runtime.kept; UPDATE runtime.ending SET"
                        + " due = now(), next_try = now()");
        one.start();
        assertEnded("undone one");
    }
}
