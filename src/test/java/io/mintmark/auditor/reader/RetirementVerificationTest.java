package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.audit.log.PostgresRetirement;
import io.mintmark.auditor.verify.RetirementVerification;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A retirement verifies the rows that it retires and those beside them. The chain here/1 has rows 1
 * to 4 and 7 to 8 in January, 5 to 6 and 9 to 12 in February, and 13 to 14 in this month.
 */
@Tag("every-postgres")
class RetirementVerificationTest {
    private static final Instant JANUARY = Instant.parse("2026-01-31T23:59:59Z");
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
            PostgresEventStore store = new PostgresEventStore(connections, "here/1");
            store.append(AuditRows.mintAt(JANUARY, "one"));
            store.append(AuditRows.mintAt(JANUARY, "two"));
            store.append(AuditRows.mintAt(FEBRUARY, "three"));
            Seals.sealAt(database, FEBRUARY);
            store.append(AuditRows.mintAt(JANUARY, "four"));
            store.append(AuditRows.mintAt(FEBRUARY, "five"));
            store.append(AuditRows.mintAt(FEBRUARY, "six"));
            new PostgresEventStore(connections, "here/2")
                    .append(AuditRows.mintAt(JANUARY, "other"));
            Seals.sealAt(database, FEBRUARY.plusSeconds(60));
            store.append(AuditRows.mint("seven", "{}"));
        }
        Seals.seal(database);
        database.runAsSuperuser(
                """
                DO $$
                DECLARE
                    t regclass;
                    c name;
                BEGIN
                    FOR t IN SELECT tgrelid FROM pg_trigger WHERE tgname = 'is_append_only' LOOP
                        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER is_append_only', t);
                    END LOOP;
                    FOR c IN SELECT conname FROM pg_constraint
                              WHERE conrelid = 'log.event'::regclass AND contype = 'c' LOOP
                        EXECUTE format('ALTER TABLE log.event DROP CONSTRAINT %I', c);
                    END LOOP;
                END $$
                """);
    }

    private Seals.Found found(String before, long rows) {
        Seals.Found found = new Seals.Found();
        try (PostgresLog log = new PostgresLog(database.login(Who.OWNER), TestDatabase.ROLES)) {
            TrustedKeys keys = new TrustedKeys(List.of(Seals.KEY));
            RetirementVerification months =
                    new RetirementVerification(log.before(YearMonth.parse(before)), keys, found);
            assertEquals(rows, months.run());
        }
        return found;
    }

    @Test
    void a_log_as_it_was_written_has_no_finding_and_only_the_months_and_the_rows_beside_are_read() {
        assertEquals(List.of(), found("2026-01", 0).wrong);
        assertEquals(List.of(), found("2026-02", 11).wrong);
        assertEquals(List.of(), found("2026-03", 15).wrong);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    UPDATE audit.event SET user_agent = 'another' WHERE subject = 'two' AND step = 2   | 11 | (row 4 of chain
                    UPDATE audit.event SET user_agent = 'another' WHERE subject = 'other' AND step = 2 | 11 | (row 2 of chain
                    DELETE FROM audit.event WHERE subject = 'one' AND step = 2                         | 10 | lacks row 2
                    DELETE FROM audit.event WHERE subject = 'two' AND step = 2                         |  9 | lacks row 4
                    DELETE FROM audit.event WHERE subject = 'four' AND step = 2                        |  9 | was truncated after row 7
                    UPDATE audit.event SET prev_hash = hash WHERE subject = 'three' AND step = 1       | 11 | (row 5 of chain
                    UPDATE audit.event SET hash = prev_hash WHERE subject = 'three' AND step = 2       | 11 | (row 6 of chain
                    UPDATE audit.event SET chain = NULL WHERE subject = 'one' AND step = 2             | 11 | belongs to no chain
                    UPDATE audit.event SET kind = 'withheld' WHERE subject = 'two' AND step = 1        | 11 | no broker writes kind withheld
                    """)
    void a_damaged_row_of_the_months_or_beside_them_is_found(
            String sql, long rows, String finding) {
        database.runAsSuperuser(sql);
        List<String> wrong = found("2026-02", rows).wrong;
        assertTrue(wrong.stream().anyMatch(each -> each.contains(finding)), wrong.toString());
    }

    @Test
    void a_damaged_row_of_another_month_is_not_read() throws Exception {
        database.runAsSuperuser(
                "UPDATE audit.event SET user_agent = 'another' WHERE subject IN ('six', 'seven')");
        assertFalse(Seals.wrong(database).isEmpty());
        assertEquals(List.of(), found("2026-02", 11).wrong);
        var retired = command().run("retire", "--before", "2026-02");
        assertEquals(0, retired.status(), retired.errors());
        database.assertRows(
                "SELECT DISTINCT subject FROM audit.event ORDER BY subject",
                "five",
                "seven",
                "six",
                "three");
    }

    @Test
    void a_damaged_row_of_the_months_stops_the_retirement() throws Exception {
        database.runAsSuperuser(
                "UPDATE audit.event SET user_agent = 'another' WHERE subject = 'two'");
        var retired = command().run("retire", "--before", "2026-02");
        assertEquals(1, retired.status());
        assertEquals("", retired.output());
        assertTrue(
                retired.errors()
                        .contains(
                                "nothing was retired, because the verification of these"
                                        + " months has findings"),
                retired.errors());
        database.assertRows("SELECT count(*) FROM audit.checkpoint", "3");
        database.assertRows("SELECT count(*) FROM audit.event WHERE subject = 'one'", "2");
    }

    private AuditCommand command() throws Exception {
        return new AuditCommand(database, directory, Who.OWNER);
    }

    @Test
    void a_month_after_a_retired_one_must_follow_its_last_row() {
        assertTrue(retire("2026-02").isPresent());
        assertEquals(List.of(), found("2026-03", 7).wrong);
        database.runAsSuperuser(
                "UPDATE audit.event SET prev_hash = hash WHERE subject = 'five' AND step = 1");
        List<String> wrong = found("2026-03", 7).wrong;
        assertTrue(wrong.getFirst().contains("(row 9 of chain"), wrong.toString());
    }

    private Optional<SignedCheckpoint> retire(String before) {
        return new PostgresRetirement(database.login(Who.OWNER), Duration.ofMinutes(1))
                .retire(
                        YearMonth.parse(before),
                        (unsealed, months) ->
                                new SealingKeys(List.of(Seals.KEY)).seal(unsealed, "test", months));
    }

    @Test
    void checkpoints_go_on_while_a_retirement_waits_for_a_reader() throws Exception {
        try (Connection reader = database.connect(Who.AUDITOR);
                Statement statement = reader.createStatement()) {
            reader.setAutoCommit(false);
            statement.execute("SELECT count(*) FROM audit.event");
            var retired = CompletableFuture.supplyAsync(() -> retire("2026-02"));
            Eventually.holds(this::retirementWaits);
            for (int more = 1; more <= 5; more++) {
                AuditRows.append(database, "here/3", AuditRows.mint("meanwhile", "{}"));
                assertEquals(3 + more, Seals.seal(database).number());
            }
            assertFalse(retired.isDone());
            reader.commit();
            assertEquals(9, retired.get().orElseThrow().number());
        }
        assertEquals(List.of(), Seals.wrong(database));
    }

    private boolean retirementWaits() {
        return !database.column(
                        """
                        SELECT pid FROM pg_locks
                         WHERE relation::regclass::text = 'log.event' AND NOT granted
                           AND mode = 'AccessExclusiveLock'
                        """)
                .isEmpty();
    }
}
