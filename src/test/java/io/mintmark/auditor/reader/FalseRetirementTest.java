package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.time.temporal.ChronoUnit.SECONDS;

import io.mintmark.audit.checkpoint.Checkpoint.RetiredMonth;
import io.mintmark.audit.checkpoint.Checkpoint.RetiredRows;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.List;

/**
 * An attacker who owns the database and has the signing key deletes rows, and signs that they were
 * retired.
 */
@Tag("heavy")
class FalseRetirementTest {
    private static final YearMonth JANUARY = YearMonth.of(2026, 1);
    private static final YearMonth MARCH = YearMonth.of(2026, 3);

    @TempDir private static Path directory;
    @AutoClose private static TestDatabase database;
    private static GrantedMints granted;
    private static String mainChain = "";

    private String chain = mainChain;

    /** A chain of three days: rows 1 and 2 of January, 3 and 4 of its morrow, 5 to 8 of March. */
    @BeforeAll
    static void keepALog() {
        database = TestDatabase.migrated();
        granted =
                GrantedMints.since(
                        database,
                        Instant.parse("2025-12-01T12:00:00Z"),
                        "one",
                        "two",
                        "three",
                        "four",
                        "five",
                        "late");
        for (YearMonth month : List.of(JANUARY, JANUARY.plusMonths(1), MARCH)) {
            database.run(Who.OWNER, "SELECT audit.create_partition('%s-01')".formatted(month));
        }
        try (Database connections = new Database(database.login(Who.APP))) {
            PostgresEventStore store = new PostgresEventStore(connections, "here/1");
            day(store, "2026-01-31T12:00:00Z", "one");
            day(store, "2026-02-01T12:00:00Z", "two");
            day(store, "2026-03-10T12:00:00Z", "three", "four");
        }
        mainChain = database.value("SELECT DISTINCT chain FROM audit.event");
        disarm();
        database.runAsSuperuser(
                """
                CREATE SCHEMA safe;
                CREATE TABLE safe.event AS SELECT * FROM audit.event;
                CREATE TABLE safe.checkpoint AS SELECT * FROM audit.checkpoint;
                """);
    }

    private static void day(PostgresEventStore store, String noon, String... subjects) {
        for (String subject : subjects) {
            store.append(granted.of(AuditRows.mintAt(Instant.parse(noon), subject)));
        }
        Seals.sealAt(database, Instant.parse(noon));
    }

    private static void disarm() {
        database.runAsSuperuser(
                """
                DO $$
                DECLARE
                    armed regclass;
                BEGIN
                    FOR armed IN SELECT tgrelid FROM pg_trigger WHERE tgname = 'is_append_only' LOOP
                        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER is_append_only', armed);
                    END LOOP;
                END $$
                """);
    }

    @AfterEach
    void restore() {
        database.runAsSuperuser(
                """
                TRUNCATE log.event, log.checkpoint, log.open_mint, work.sealed_chain;
                INSERT INTO audit.event SELECT * FROM safe.event;
                INSERT INTO audit.checkpoint SELECT * FROM safe.checkpoint;
                """);
        assertEquals(List.of(), Seals.wrong(database));
    }

    /** Deletes rows of the chain, and says that they were a month's. */
    private SignedCheckpoint launder(YearMonth month, Instant at, long first, long last) {
        String hash = hashOf(chain, last);
        database.runAsSuperuser(
                "DELETE FROM audit.event WHERE chain = '%s' AND seq BETWEEN %d AND %d"
                        .formatted(chain, first, last));
        return Seals.sealAt(
                database,
                at,
                new RetiredMonth(
                        month,
                        last - first + 1,
                        List.of(new RetiredRows(chain, first, last, hash))));
    }

    private void assertDeclared(SignedCheckpoint launderer) throws Exception {
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(List.of(), found.wrong);
        assertEquals(List.of(launderer.hash()), found.declared);
        assertScript(3);
    }

    private static void assertScript(int status) throws Exception {
        Script script = new Script(directory, database);
        assertEquals(status, script.status(List.of()), script::output);
    }

    private void assertWrong(String finding) throws Exception {
        List<String> wrong = Seals.wrong(database);
        assertEquals(1, wrong.size(), wrong.toString());
        assertTrue(wrong.getFirst().contains(finding), wrong.toString());
        assertScript(1);
    }

    @Test
    void the_rows_of_a_month_that_is_over_and_was_sealed_in_time_are_retired_in_good_faith()
            throws Exception {
        launder(JANUARY, Instant.now(), 1, 2);
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(List.of(), found.wrong);
        assertEquals(List.of(), found.declared);
        assertEquals(1, found.told.size(), found.told.toString());
        assertScript(0);
    }

    @Test
    void rows_of_a_retired_month_that_stand_are_wrong() throws Exception {
        launder(MARCH, Instant.now(), 5, 6);
        assertWrong("the log still has rows of that month or of this retirement: 2 in all, ");
    }

    @Test
    void rows_that_were_retired_and_stand_are_wrong_whatever_month_they_are_of() throws Exception {
        String hash = hashOf(chain, 4);
        Seals.sealAt(
                database,
                Instant.now(),
                new RetiredMonth(
                        YearMonth.of(2026, 2), 1, List.of(new RetiredRows(chain, 4, 4, hash))));
        assertWrong("the log still has rows of that month or of this retirement: 2 in all, ");
    }

    @Test
    void rows_of_another_month_are_declared() throws Exception {
        assertDeclared(launder(YearMonth.of(2025, 12), Instant.now(), 5, 6));
    }

    @Test
    void rows_of_the_day_after_can_not_be_told_from_late_ones() throws Exception {
        launder(JANUARY, Instant.now(), 1, 4);
        assertEquals(List.of(), Seals.found(database, List.of(Seals.KEY)).declared);
    }

    @Test
    void rows_of_a_day_later_are_declared() throws Exception {
        assertDeclared(launder(JANUARY, Instant.now(), 1, 6));
    }

    @Test
    void a_month_that_was_retired_before_its_end_is_declared() throws Exception {
        assertDeclared(launder(MARCH, Instant.parse("2026-03-31T23:59:59Z"), 5, 8));
    }

    @Test
    void a_time_that_was_still_to_come_is_given_away_by_the_next_checkpoint() throws Exception {
        SignedCheckpoint launderer = launder(MARCH, Instant.parse("2026-04-01T00:00:01Z"), 5, 8);
        Seals.sealAt(database, Instant.parse("2026-03-11T12:00:00Z"));
        assertDeclared(launderer);
    }

    @Test
    void a_checkpoint_that_is_dated_back_does_not_make_later_rows_older() throws Exception {
        AuditRows.append(
                database,
                "here/2",
                granted.of(AuditRows.mintAt(Instant.parse("2026-03-11T12:00:00Z"), "five")));
        Seals.sealAt(database, Instant.parse("2026-01-15T12:00:00Z"));
        assertDeclared(launderWithJanuary("five"));
    }

    @Test
    void a_checkpoint_that_is_dated_ahead_does_not_make_later_rows_younger() throws Exception {
        Seals.sealAt(database, Instant.parse("2026-08-31T12:00:00Z"));
        try (Database connections = new Database(database.login(Who.APP))) {
            day(new PostgresEventStore(connections, "here/2"), "2026-03-11T12:00:00Z", "five");
        }
        chain = chainOf("five");
        assertDeclared(launder(YearMonth.of(2026, 8), Instant.parse("2026-09-01T00:01:00Z"), 1, 2));
    }

    @Test
    void a_checkpoint_that_is_dated_ahead_is_told_and_accuses_nobody() throws Exception {
        assertTold("", "2026-03-11T12:00:00Z");
        assertTold("", "2026-03-11T11:30:00Z");
        assertTold("", "2026-09-01T12:00:00Z");
        assertTold("is dated 2026-09-01T12:00:00Z", "2026-03-12T12:00:00Z");
        String ahead = Instant.now().plus(Duration.ofDays(2)).truncatedTo(SECONDS).toString();
        assertTold("is dated " + ahead + ", which is in the future", ahead);
        assertTold("which is in the future", "2026-10-01T12:00:00Z");
    }

    /** What is told of times, by the command and by the script, after one more checkpoint. */
    private void assertTold(String part, String at) throws Exception {
        Seals.sealAt(database, Instant.parse(at));
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(List.of(), found.wrong);
        assertEquals(List.of(), found.declared);
        assertEquals(
                !part.isEmpty(),
                found.told.stream().anyMatch(note -> note.contains(part) && saysWhen(note)),
                found.told::toString);
        Script script = new Script(directory, database);
        assertEquals(0, script.status(List.of()), script::output);
        assertEquals(!part.isEmpty(), saysWhen(script.output()), script.output());
    }

    private static boolean saysWhen(String text) {
        return text.contains("which came later") || text.contains("is dated");
    }

    @Test
    void a_time_that_has_not_come_yet_is_declared() throws Exception {
        assertDeclared(launder(JANUARY, Instant.now().plus(Duration.ofDays(2)), 1, 2));
    }

    /** The two rows of another chain, with those that are really of January. */
    private SignedCheckpoint launderWithJanuary(String subject) {
        chain = chainOf(subject);
        String hash = hashOf(chain, 2);
        String january = hashOf(mainChain, 2);
        database.runAsSuperuser(
                "DELETE FROM audit.event WHERE subject IN ('one', '%s')".formatted(subject));
        return Seals.sealAt(
                database,
                Instant.now(),
                new RetiredMonth(
                        JANUARY,
                        4,
                        List.of(
                                new RetiredRows(mainChain, 1, 2, january),
                                new RetiredRows(chain, 1, 2, hash))));
    }

    private static String chainOf(String subject) {
        return database.value(
                "SELECT DISTINCT chain FROM audit.event WHERE subject = '%s'".formatted(subject));
    }

    private static String hashOf(String of, long seq) {
        return database.value(
                "SELECT encode(hash, 'hex') FROM audit.event WHERE chain = '%s' AND seq = %d"
                        .formatted(of, seq));
    }

    @Test
    void a_month_that_is_retired_twice_is_declared() throws Exception {
        launder(JANUARY, Instant.now(), 1, 2);
        assertDeclared(launder(JANUARY, Instant.now(), 3, 4));
    }

    @Test
    void rows_that_are_retired_twice_and_counts_that_do_not_fit_are_declared() throws Exception {
        String hash = hashOf(chain, 2);
        launder(JANUARY, Instant.now(), 1, 2);
        SignedCheckpoint twice =
                Seals.sealAt(
                        database,
                        Instant.now(),
                        new RetiredMonth(
                                YearMonth.of(2025, 12),
                                3,
                                List.of(new RetiredRows(chain, 2, 2, hash))));
        assertDeclared(twice);
    }

    @Test
    void months_and_rows_that_can_not_be_are_in_no_checkpoint() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new RetiredMonth(YearMonth.of(999_999_999, 12), 0, List.of()));
        assertThrows(IllegalArgumentException.class, () -> new RetiredRows("1.chain", 2, 1, "00"));
        assertThrows(IllegalArgumentException.class, () -> new RetiredRows("1.chain", 0, 1, "00"));
    }

    @Test
    void rows_that_were_never_sealed_before_are_declared() throws Exception {
        AuditRows.append(
                database,
                "here/2",
                granted.of(AuditRows.mintAt(Instant.parse("2026-01-31T13:00:00Z"), "late")));
        assertDeclared(launderWithJanuary("late"));
    }

    @Test
    void the_current_month_without_all_its_rows_is_declared() throws Exception {
        AuditRows.append(database, "here/2", granted.of(AuditRows.mint("now", "{}")));
        Seals.seal(database);
        chain = chainOf("now");
        String hash = hashOf(chain, 2);
        database.runAsSuperuser("DELETE FROM audit.event WHERE subject = 'now'");
        YearMonth now = YearMonth.now(ZoneOffset.UTC);
        assertDeclared(
                Seals.sealAt(
                        database,
                        Instant.now(),
                        new RetiredMonth(now, 2, List.of(new RetiredRows(chain, 1, 2, hash)))));
    }
}
