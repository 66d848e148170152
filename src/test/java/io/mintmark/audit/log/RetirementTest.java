package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.checkpoint.Checkpoint.RetiredMonth;
import io.mintmark.audit.checkpoint.SealStore;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.auditor.reader.ForeignVerifierTest;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

@Tag("every-postgres")
class RetirementTest {
    private static final Instant JANUARY = Instant.parse("2026-01-31T23:59:59Z");
    private static final Duration TIMEOUT = Eventually.PATIENCE;
    private static final Instant FEBRUARY = Instant.parse("2026-02-01T00:00:01Z");

    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.migrated();

    @BeforeEach
    void log() {
        database.run(
                Who.OWNER,
                "SELECT audit.create_partition('2026-01-01'),"
                        + " audit.create_partition('2026-02-01')");
        try (Database connections = new Database(database.login(Who.APP))) {
            GrantedMints granted =
                    GrantedMints.since(
                            database,
                            JANUARY.minusSeconds(3600),
                            "one",
                            "two",
                            "three",
                            "four",
                            "five",
                            "six",
                            "seven");
            PostgresEventStore store = new PostgresEventStore(connections, "here/1");
            store.append(granted.of(AuditRows.mintAt(JANUARY, "one")));
            store.append(granted.of(AuditRows.mintAt(JANUARY, "two")));
            store.append(granted.of(AuditRows.mintAt(FEBRUARY, "three")));
            Seals.sealAt(database, FEBRUARY);
            store.append(granted.of(AuditRows.mintAt(JANUARY, "four")));
            store.append(granted.of(AuditRows.mintAt(FEBRUARY, "five")));
            PostgresEventStore other = new PostgresEventStore(connections, "here/2");
            other.append(granted.of(AuditRows.mintAt(JANUARY, "six")));
            Seals.sealAt(database, FEBRUARY.plusSeconds(60));
            store.append(granted.of(AuditRows.mint("seven", "{}")));
        }
        Seals.seal(database);
    }

    private Optional<SignedCheckpoint> retire(String before) {
        return new PostgresRetirement(database.login(Who.OWNER), TIMEOUT)
                .retire(YearMonth.parse(before), this::signed);
    }

    private SignedCheckpoint signed(SealStore.Unsealed unsealed, List<RetiredMonth> months) {
        return new SealingKeys(List.of(Seals.KEY)).seal(unsealed, "test", months);
    }

    @Test
    void a_retired_month_leaves_a_gap_that_is_told_and_nothing_wrong() {
        assertTrue(retire("2026-02").isPresent());
        database.assertRows(
                "SELECT subject FROM audit.mint ORDER BY subject", "five", "seven", "three");
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(List.of(), found.wrong);
        assertEquals(
                List.of("2026-01 was retired by checkpoint 4: 8 rows are no longer in the log"),
                found.told);
        database.assertRows(
                "SELECT oid::regclass FROM pg_class WHERE relname = 'event_2026_01'",
                "log.event_2026_01");
        assertEquals(Optional.empty(), retire("2026-02"));
        assertTrue(retire("2026-03").isPresent());
        assertEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void a_script_that_knows_only_the_documentation_agrees() throws Exception {
        Script.assumeItRuns();
        SignedCheckpoint kept = retire("2026-02").orElseThrow();
        List<String> output = ForeignVerifierTest.verify(directory, database, kept);
        assertEquals("", ForeignVerifierTest.lines(output));
    }

    @Test
    void what_is_removed_besides_a_retired_month_is_found() {
        retire("2026-02");
        database.runAsSuperuser(
                """
                ALTER TABLE log.event DISABLE TRIGGER is_append_only;
                ALTER TABLE log.event_2026_02 DISABLE TRIGGER is_append_only;
                DELETE FROM audit.event WHERE subject = 'five' AND step = 1;
                """);
        List<String> wrong = Seals.wrong(database);
        assertEquals(2, wrong.size(), wrong.toString());
        assertTrue(wrong.getFirst().contains("lacks row 9"), wrong.toString());
        assertTrue(wrong.getLast().contains("was never requested"), wrong.toString());
    }

    @Test
    void a_single_row_that_is_removed_next_to_a_retired_month_is_found() {
        retire("2026-02");
        database.runAsSuperuser(
                """
                ALTER TABLE log.event DISABLE TRIGGER is_append_only;
                ALTER TABLE log.event_2026_02 DISABLE TRIGGER is_append_only;
                DELETE FROM audit.event WHERE subject = 'three' AND step = 2;
                """);
        assertTrue(
                Seals.wrong(database).stream().anyMatch(w -> w.contains("lacks row 6")),
                Seals.wrong(database).toString());
    }

    @Test
    void a_mint_that_was_never_resolved_goes_with_its_month_and_others_stay() {
        try (Database connections = new Database(database.login(Who.APP))) {
            PostgresEventStore store = new PostgresEventStore(connections, "here/3");
            store.append(AuditRows.mintAt(JANUARY, "lost").subList(0, 1));
            store.append(AuditRows.mintAt(FEBRUARY, "open").subList(0, 1));
        }
        Seals.sealAt(database, FEBRUARY.plusSeconds(120));
        assertTrue(retire("2026-02").isPresent());
        database.assertRows("SELECT subject FROM audit.unresolved", "open");
        database.assertRows("SELECT count(*) FROM audit.open_mint", "1");
        assertEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void a_month_that_was_only_detached_is_missing() {
        database.run(Who.OWNER, "ALTER TABLE log.event DETACH PARTITION log.event_2026_01");
        assertTrue(!Seals.wrong(database).isEmpty());
    }

    @Test
    void a_month_with_a_credential_that_lives_stays() {
        try (Database connections = new Database(database.login(Who.APP))) {
            MintIds january = new MintIds(InstantSource.fixed(JANUARY), new Random());
            new PostgresEventStore(connections, "here/3")
                    .append(AuditRows.mint(january, "eight", Instant.now()));
        }
        assertTrue(refusal("2026-02").contains("credentials that are still valid"));
        database.assertRows("SELECT count(*) FROM audit.mint", "8");
    }

    @Test
    void a_month_that_is_not_over_stays_and_so_do_those_before_it() {
        YearMonth next = YearMonth.now(ZoneOffset.UTC).plusMonths(1);
        assertTrue(refusal(next.toString()).contains("only past months can be retired"));
        assertTrue(refusal("2999-01").contains("only past months can be retired"));
        database.assertRows("SELECT count(*) FROM audit.mint", "7");
    }

    @Test
    void a_month_stays_until_what_its_mints_left_behind_is_ended() {
        database.runAsSuperuser(
                """
                INSERT INTO runtime.ending
                       (mint_id, tenant, provider, provider_type, key, due, next_try)
                SELECT mint_id, tenant, provider, provider_type, key, now(), now()
                  FROM audit.event WHERE step = 1 AND subject = 'five'
                """);
        assertTrue(
                refusal("2026-03")
                        .contains("the credentials of 1 mints before 2026-03 are not yet revoked"));
        assertTrue(retire("2026-02").isPresent());
        database.runAsSuperuser("DELETE FROM runtime.ending");
        assertTrue(retire("2026-03").isPresent());
    }

    private String refusal(String before) {
        return String.valueOf(
                assertThrows(StoreUnreachable.class, () -> retire(before)).getMessage());
    }

    @Test
    void while_somebody_reads_the_log_it_is_written_on_and_the_month_goes_when_he_is_done()
            throws Exception {
        try (Database connections = new Database(database.login(Who.APP));
                Connection reader = database.connect(Who.AUDITOR);
                Statement statement = reader.createStatement()) {
            PostgresEventStore store = new PostgresEventStore(connections, "here/3");
            reader.setAutoCommit(false);
            statement.execute("SELECT count(*) FROM audit.event");
            var retired = CompletableFuture.supplyAsync(() -> retire("2026-02"));
            Eventually.holds(this::someoneWaitsForTheLog);
            List<Long> taken = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                long began = System.nanoTime();
                store.append(AuditRows.mint("meanwhile", "{}"));
                taken.add(System.nanoTime() - began);
                LockSupport.parkNanos(Duration.ofMillis(60).toNanos());
            }
            // a loaded machine delays a few, and a lock that is waited for all
            assertTrue(taken.stream().sorted().toList().get(25) < 2_000_000_000L, taken::toString);
            assertFalse(retired.isDone());
            reader.commit();
            assertTrue(retired.get().isPresent());
        }
        Seals.seal(database);
        assertEquals(List.of(), Seals.wrong(database));
    }

    private boolean someoneWaitsForTheLog() {
        return !database.column(
                        """
                        SELECT pid FROM pg_locks
                         WHERE relation::regclass::text = 'log.event' AND NOT granted
                           AND mode = 'AccessExclusiveLock'
                        """)
                .isEmpty();
    }

    @Test
    void a_reader_that_never_ends_is_named_and_nothing_is_retired() throws Exception {
        try (Connection reader = database.connect(Who.AUDITOR);
                Statement statement = reader.createStatement()) {
            reader.setAutoCommit(false);
            statement.execute("SELECT count(*) FROM audit.event");
            StoreUnreachable refused =
                    assertThrows(
                            StoreUnreachable.class,
                            () ->
                                    new PostgresRetirement(database.login(Who.OWNER), Duration.ZERO)
                                            .retire(YearMonth.parse("2026-02"), this::signed));
            assertTrue(String.valueOf(refused.getMessage()).contains("of test_auditor"));
        }
        database.assertRows("SELECT count(*) FROM audit.checkpoint", "3");
    }

    @Test
    void a_partition_that_somebody_detached_is_attached_again_with_its_rows() {
        String part = "log.event_" + YearMonth.now(ZoneOffset.UTC).toString().replace('-', '_');
        database.run(Who.OWNER, "ALTER TABLE log.event DETACH PARTITION " + part);
        AuditRows.append(database, "here/3", AuditRows.mint("eight", "{}"));
        database.assertRows(
                "SELECT subject FROM audit.mint WHERE subject IN ('seven', 'eight')"
                        + " ORDER BY subject",
                "eight",
                "seven");
        assertEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void the_service_can_not_retire_anything() {
        assertThrows(
                StoreUnreachable.class,
                () ->
                        new PostgresRetirement(database.login(Who.APP), TIMEOUT)
                                .retire(
                                        YearMonth.parse("2026-02"),
                                        (_, _) -> {
                                            throw new AssertionError("not asked to sign");
                                        }));
    }
}
