package io.mintmark.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mintmark.audit.SealingKeys;
import io.mintmark.audit.SignedCheckpoint;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.postgres.TestDatabase.Who;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Instant;
import java.time.YearMonth;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

@Tag("every-postgres")
class RetirementTest {
    private static final Instant JANUARY = Instant.parse("2026-01-31T23:59:59Z");
    private static final Instant FEBRUARY = Instant.parse("2026-02-01T00:00:01Z");

    @TempDir private Path directory;
    private final TestDatabase database = TestDatabase.migrated();

    @BeforeEach
    void log() {
        database.run(
                Who.OWNER,
                "SELECT audit.create_partition('2026-01-01'), audit.create_partition('2026-02-01')");
        try (Database connections = new Database(database.login(Who.APP))) {
            PostgresEventStore store = new PostgresEventStore(connections, "here/1");
            store.append(AuditRows.mintAt(JANUARY, "one"));
            store.append(AuditRows.mintAt(JANUARY, "two"));
            store.append(AuditRows.mintAt(FEBRUARY, "three"));
            Seals.seal(database);
            store.append(AuditRows.mintAt(JANUARY, "four"));
            store.append(AuditRows.mintAt(FEBRUARY, "five"));
            PostgresEventStore other = new PostgresEventStore(connections, "here/2");
            other.append(AuditRows.mintAt(JANUARY, "six"));
            store.append(AuditRows.mint("seven", "{}"));
        }
        Seals.seal(database);
    }

    @AfterEach
    void close() {
        database.close();
    }

    private Optional<SignedCheckpoint> retire(String before) {
        SealingKeys keys = new SealingKeys(List.of(Seals.KEY));
        return new PostgresRetirement(database.login(Who.OWNER))
                .retire(
                        YearMonth.parse(before),
                        (unsealed, months) -> keys.seal(unsealed, "test", months));
    }

    @Test
    void a_retired_month_leaves_a_gap_that_is_told_and_nothing_wrong() {
        assertTrue(retire("2026-02").isPresent());
        assertEquals(
                List.of("five", "seven", "three"),
                database.column("SELECT subject FROM audit.mint ORDER BY subject"));
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(List.of(), found.wrong);
        assertEquals(
                List.of("2026-01 was retired by checkpoint 3: 8 rows are not in the log any more"),
                found.told);
        assertEquals(
                List.of("audit.event_2026_01"),
                database.column("SELECT to_regclass('audit.event_2026_01')"));
        assertEquals(Optional.empty(), retire("2026-02"));
        assertTrue(retire("2026-03").isPresent());
        assertEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void a_script_that_knows_only_the_documentation_agrees() throws Exception {
        assumeTrue(Stream.of("python3", "psql", "openssl").allMatch(ForeignVerifierTest::isThere));
        SignedCheckpoint kept = retire("2026-02").orElseThrow();
        List<String> output = ForeignVerifierTest.verify(directory, database, kept);
        assertEquals("", ForeignVerifierTest.lines(output));
    }

    @Test
    void what_is_removed_besides_a_retired_month_is_found() {
        retire("2026-02");
        database.runAsSuperuser(
                """
                ALTER TABLE audit.event DISABLE TRIGGER is_append_only;
                ALTER TABLE audit.event_2026_02 DISABLE TRIGGER is_append_only;
                DELETE FROM audit.event WHERE subject = 'five' AND step = 1;
                """);
        List<String> wrong = Seals.wrong(database);
        assertEquals(1, wrong.size(), wrong.toString());
        assertTrue(wrong.getFirst().contains("lacks its row 9"), wrong.toString());
    }

    @Test
    void a_single_row_that_is_removed_next_to_a_retired_month_is_found() {
        retire("2026-02");
        database.runAsSuperuser(
                """
                ALTER TABLE audit.event DISABLE TRIGGER is_append_only;
                ALTER TABLE audit.event_2026_02 DISABLE TRIGGER is_append_only;
                DELETE FROM audit.event WHERE subject = 'three' AND step = 2;
                """);
        assertTrue(
                Seals.wrong(database).stream().anyMatch(w -> w.contains("lacks its row 6")),
                Seals.wrong(database).toString());
    }

    @Test
    void a_mint_that_was_never_resolved_goes_with_its_month_and_others_stay() {
        try (Database connections = new Database(database.login(Who.APP))) {
            PostgresEventStore store = new PostgresEventStore(connections, "here/3");
            store.append(AuditRows.mintAt(JANUARY, "lost").subList(0, 1));
            store.append(AuditRows.mintAt(FEBRUARY, "open").subList(0, 1));
        }
        Seals.seal(database);
        assertTrue(retire("2026-02").isPresent());
        assertEquals(List.of("open"), database.column("SELECT subject FROM audit.unresolved"));
        assertEquals(List.of("1"), database.column("SELECT count(*) FROM audit.open_mint"));
        assertEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void a_month_that_was_only_detached_is_missing() {
        database.run(Who.OWNER, "ALTER TABLE audit.event DETACH PARTITION audit.event_2026_01");
        assertTrue(!Seals.wrong(database).isEmpty());
    }

    @Test
    void a_month_with_a_credential_that_lives_stays() {
        String thisMonth = YearMonth.now(java.time.ZoneOffset.UTC).plusMonths(1).toString();
        assertThrows(StoreUnreachable.class, () -> retire(thisMonth));
        assertEquals(List.of("7"), database.column("SELECT count(*) FROM audit.mint"));
    }

    @Test
    void the_service_can_not_retire_anything() {
        assertThrows(
                StoreUnreachable.class,
                () ->
                        new PostgresRetirement(database.login(Who.APP))
                                .retire(
                                        YearMonth.parse("2026-02"),
                                        (_, _) -> {
                                            throw new AssertionError("not asked to sign");
                                        }));
    }
}
