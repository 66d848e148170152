package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.util.Objects.requireNonNull;

import com.nimbusds.jose.util.Base64URL;

import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;

/**
 * An attacker who owns the database, and so gets past the triggers, against an auditor who has the
 * public key. The log is put back after each attack.
 */
@Tag("every-postgres")
class TamperingTest {
    @TempDir private static Path directory;
    @AutoClose private static TestDatabase database;
    private static String mint;
    private static SignedCheckpoint last;

    @BeforeAll
    static void keepALog() {
        database = TestDatabase.migrated();
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme'), ('other');
                UPDATE broker.tenant SET display_name = 'one' WHERE name = 'acme';
                UPDATE broker.tenant SET display_name = 'two' WHERE name = 'acme';
                """);
        Seals.seal(database);
        try (Database connections = new Database(database.login(Who.APP))) {
            PostgresEventStore mints = new PostgresEventStore(connections, "here/1");
            PostgresEventStore rejections = new PostgresEventStore(connections, "here/1");
            Instant before = Instant.now().minusSeconds(1_200);
            for (String subject : List.of("one", "two", "three", "four")) {
                mints.append(AuditRows.mint(subject, "{\"ref\":\"main\"}", "10.0.0.1", before));
            }
            rejections.append(List.of(AuditRows.rejected()));
            rejections.append(List.of(AuditRows.rejected()));
        }
        Seals.seal(database);
        last = Seals.seal(database);
        mint = database.value("SELECT DISTINCT mint_id FROM audit.event WHERE subject = 'two'");
        database.runAsSuperuser(
                """
                CREATE SCHEMA safe;
                CREATE TABLE safe.event AS SELECT * FROM audit.event;
                CREATE TABLE safe.config_change AS SELECT * FROM audit.config_change;
                CREATE TABLE safe.checkpoint AS SELECT * FROM audit.checkpoint;
                """);
        disarm();
    }

    private static void disarm() {
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
                    FOR c IN SELECT conname FROM pg_constraint
                              WHERE conrelid = 'log.config_change'::regclass
                                AND contype IN ('c', 'u') LOOP
                        EXECUTE format('ALTER TABLE log.config_change DROP CONSTRAINT %I', c);
                    END LOOP;
                END $$
                """);
    }

    @AfterEach
    void restore() {
        database.runAsSuperuser(
                """
                TRUNCATE log.event, log.config_change, log.checkpoint;
                INSERT INTO audit.event SELECT * FROM safe.event;
                INSERT INTO audit.config_change SELECT * FROM safe.config_change;
                INSERT INTO audit.checkpoint SELECT * FROM safe.checkpoint;
                """);
        assertEquals(List.of(), Seals.wrong(database, last));
    }

    private static void attack(String sql, String... finds) {
        database.runAsSuperuser(sql);
        List<String> wrong = Seals.wrong(database);
        for (String find : finds) {
            assertTrue(wrong.stream().anyMatch(w -> w.contains(find)), wrong.toString());
        }
        // a history that was changed isn't that of the tables any more, which is told too
        long ofTheLog = wrong.stream().filter(w -> !w.startsWith("broker.")).count();
        assertTrue(ofTheLog >= 1 && ofTheLog <= 5, wrong.toString());
        if (!sql.contains("INSERT INTO audit.event (mint_id, step, kind, occurred_at, broker)")) {
            assertAnExportTellsTheSame(wrong);
        }
    }

    /** But for what it can't hold: rows without chain, and the tables beside the log. */
    private static void assertAnExportTellsTheSame(List<String> wrong) {
        assertEquals(
                wrong.stream()
                        .filter(w -> !w.startsWith("broker.") && !w.startsWith("audit.unresolved"))
                        .toList(),
                Seals.foundInExport(database, directory.resolve("log"), List.of(Seals.KEY)).wrong);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    step           | 3
                    kind           | 'failed'
                    occurred_at    | occurred_at + interval '1 microsecond'
                    request_id     | 'other'
                    tenant         | 'other'
                    idp            | 'other'
                    issuer         | 'https://other.example.com'
                    subject        | 'owt'
                    key            | 'other'
                    provider       | 'other'
                    provider_type  | 'other'
                    grant_id       | 8
                    grant_revision | 13
                    reason         | ''
                    detail         | 'words'
                    credential_id  | NULL
                    issued_at      | issued_at + interval '1 microsecond'
                    expires_at     | 'infinity'
                    token_id       | 'id'
                    token_hash     | '\\x00'
                    claims         | '{"ref": "other"}'
                    client_address | '10.0.0.1/8'
                    user_agent     | NULL
                    broker         | 'elsewhere'
                    chain          | 'another'
                    seq            | 100
                    prev_hash      | '\\x00'
                    hash           | sha256(hash)
                    """)
    void a_changed_column_is_found(String column, String value) {
        attack(
                "UPDATE audit.event SET %s = %s WHERE mint_id = '%s' AND step = 2"
                        .formatted(column, value, mint),
                column.equals("chain") || column.equals("seq") ? "4" : mint);
    }

    @Test
    void a_changed_mint_id_is_found() {
        attack(
                "UPDATE audit.event SET mint_id = overlay(mint_id::text PLACING 'ffff' FROM 20)::uuid WHERE mint_id = '%s' AND step = 2"
                        .formatted(mint),
                mint.substring(0, 18) + "-ffff");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tenant = 'other'",
                "revision = 7",
                "table_name = 'key'",
                "operation = 'INSERT'",
                "before = NULL",
                "after = after || '{\"enabled\": false}'",
                "changed_by = 'nobody'",
                "changed_at = changed_at + interval '1 microsecond'",
                "transaction_id = 1",
                "prev_hash = sha256(hash)",
                "hash = sha256(hash)"
            })
    void a_changed_column_of_the_history_is_found(String assignment) {
        attack(
                "UPDATE audit.config_change SET %s WHERE tenant = 'acme' AND revision = 2"
                        .formatted(assignment),
                "acme");
    }

    @Test
    void a_removed_row_is_found() {
        attack(
                "DELETE FROM audit.event WHERE mint_id = '%s' AND step = 1".formatted(mint),
                "lacks row 3");
    }

    @Test
    void a_row_without_chain_is_found() {
        attack(
                "INSERT INTO audit.event (mint_id, step, kind, occurred_at, broker) VALUES ('%sffffffffffff', 2, 'rejected', now(), 'x')"
                        .formatted(mint.substring(0, 24)),
                "belongs to no chain");
    }

    @ParameterizedTest
    @ValueSource(strings = {"infinity", "-infinity", "294276-12-31", "4713-01-01 BC"})
    void a_row_of_no_time_that_is_one_stops_no_verification(String time) {
        attack(
                """
                INSERT INTO audit.event
                       (mint_id, step, kind, occurred_at, broker, chain, seq, prev_hash, hash)
                SELECT mint_id, 9, kind, '%s', broker, '1.new', 1, prev_hash, hash
                  FROM audit.event WHERE mint_id = '%s' AND step = 1
                """
                        .formatted(time, mint),
                "(row 1 of chain 1.new) was changed");
    }

    /** An export has both rows in the order of their hashes, and can't tell which came first. */
    @Test
    void a_row_inserted_into_a_chain_is_found() {
        database.runAsSuperuser(
                """
                INSERT INTO audit.event
                       (mint_id, step, kind, occurred_at, broker, chain, seq, prev_hash, hash)
                SELECT mint_id, 9, kind, occurred_at, broker, chain, seq, prev_hash, hash
                  FROM audit.event WHERE mint_id = '%s' AND step = 1
                """
                        .formatted(mint));
        List<String> wrong = Seals.wrong(database);
        assertTrue(wrong.getFirst().contains("has row 3 already"), wrong.toString());
        List<String> exported =
                Seals.foundInExport(database, directory.resolve("log"), List.of(Seals.KEY)).wrong;
        assertTrue(
                exported.stream()
                        .anyMatch(it ->
                                it.contains("has row 3 already") || it.contains("(row 3 of ")),
                exported.toString());
        assertTrue(exported.stream().allMatch(it -> it.contains(mint)), exported.toString());
    }

    @Test
    void a_row_hung_on_the_end_of_a_chain_later_is_found() {
        attack(
                """
                INSERT INTO audit.event
                SELECT (jsonb_populate_record(e, jsonb_build_object(
                           'step', 9, 'seq', seq + 1, 'prev_hash', hash))).*
                  FROM audit.event AS e WHERE subject = 'four' AND step = 2
                """,
                "row 9 of");
    }

    @Test
    void rows_that_changed_places_are_found() {
        attack(
                "UPDATE audit.event SET seq = 7 - seq WHERE mint_id = '%s'".formatted(mint),
                "row 3 of",
                "row 4 of");
    }

    @Test
    void a_tail_that_was_cut_off_is_found() {
        attack("DELETE FROM audit.event WHERE subject = 'four'", "was truncated after row 6");
    }

    @Test
    void a_missing_chain_is_found() {
        attack(
                "DELETE FROM audit.event WHERE kind = 'rejected'",
                "is missing: checkpoints sealed 2 rows");
    }

    @Test
    void a_missing_history_is_found() {
        attack("DELETE FROM audit.config_change WHERE tenant = 'other'", "tenant other is missing");
    }

    @Test
    void a_history_that_was_cut_off_is_found() {
        attack(
                "DELETE FROM audit.config_change WHERE tenant = 'acme' AND revision = 3",
                "was truncated after row 2");
    }

    @Test
    void a_rewritten_history_is_found_though_its_hashes_fit() {
        attack(
                """
                UPDATE audit.config_change SET changed_by = 'nobody'
                 WHERE tenant = 'acme' AND revision = 2;
                UPDATE audit.config_change AS c SET hash = audit.change_hash(c)
                 WHERE tenant = 'acme' AND revision = 2;
                UPDATE audit.config_change AS c
                   SET prev_hash = (SELECT hash FROM audit.config_change
                                     WHERE tenant = 'acme' AND revision = 2)
                 WHERE tenant = 'acme' AND revision = 3;
                UPDATE audit.config_change AS c SET hash = audit.change_hash(c)
                 WHERE tenant = 'acme' AND revision = 3;
                """,
                "sealed a different hash for row 3 of the changes of tenant acme");
    }

    @Test
    void a_row_that_hangs_on_another_than_the_one_before_is_found_though_its_own_hash_fits() {
        attack(
                """
                UPDATE audit.config_change SET prev_hash = sha256(prev_hash)
                 WHERE tenant = 'acme' AND revision = 3;
                UPDATE audit.config_change AS c SET hash = audit.change_hash(c)
                 WHERE tenant = 'acme' AND revision = 3;
                """,
                "doesn't follow the row before it");
    }

    @Test
    void rows_that_name_a_time_of_before_the_last_checkpoint_are_told_and_accuse_nobody() {
        try (Database connections = new Database(database.login(Who.APP))) {
            PostgresEventStore late = new PostgresEventStore(connections, "elsewhere");
            late.append(AuditRows.mint("now", "{}"));
            assertEquals(List.of(), Seals.found(database, List.of(Seals.KEY)).told);
            Instant then = Instant.now().minusSeconds(1_200);
            late.append(AuditRows.mint("then", "{}", "10.0.0.1", then));
        }
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(List.of(), found.wrong);
        assertEquals(1, found.told.size(), found.told.toString());
        assertTrue(found.told.getFirst().startsWith("2 rows that no checkpoint covers"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE runtime.sealed_chain SET position = 1000000",
                "UPDATE runtime.sealed_chain SET position = 0",
                "UPDATE runtime.sealed_chain SET position = position + 2 WHERE kind = 'event'",
                "INSERT INTO runtime.sealed_chain VALUES ('event', '1.new', 1)"
            })
    void the_service_can_not_mark_as_sealed_what_no_checkpoint_seals(String attack)
            throws SQLException {
        try (Database connections = new Database(database.login(Who.APP));
                Connection service = database.connect(Who.APP);
                Statement statement = service.createStatement()) {
            new PostgresEventStore(connections, "elsewhere").append(AuditRows.mint("now", "{}"));
            SQLException refusal =
                    assertThrows(SQLException.class, () -> statement.execute(attack));
            assertTrue(
                    String.valueOf(refusal.getMessage())
                            .contains("The last checkpoint doesn't seal"),
                    refusal::getMessage);
        }
        Seals.seal(database);
        var summary = requireNonNull(Seals.found(database, List.of(Seals.KEY)).summary);
        assertEquals(0, summary.unsealed());
    }

    @Test
    void a_mark_that_hides_rows_takes_a_checkpoint_that_no_broker_made_and_that_is_told() {
        AuditRows.append(database, "elsewhere", AuditRows.mint("now", "{}"));
        String chain =
                database.value("SELECT DISTINCT chain FROM audit.event WHERE subject = 'now'");
        String payload =
                "{\"events\":[{\"chain\":\"%s\",\"seq\":2}],\"changes\":[]}".formatted(chain);
        database.run(
                Who.APP,
                """
                INSERT INTO audit.checkpoint (number, sealed_at, jws) VALUES (4, now(), 'a.%s.c');
                INSERT INTO runtime.sealed_chain VALUES ('event', '%s', 2)
                """
                        .formatted(Base64URL.encode(payload), chain));
        Seals.seal(database);
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(1, found.foreign.size(), found.foreign.toString());
        assertEquals(2, requireNonNull(found.summary).unsealed());
    }

    @ParameterizedTest
    @CsvSource({
        "9223372036854775807, a.b.c, is out of order",
        "2, a.b.c, is out of order",
        "4, garbage, has no signature"
    })
    void a_checkpoint_out_of_order_or_without_signature_is_refused(
            String number, String jws, String why) throws SQLException {
        try (Connection service = database.connect(Who.APP);
                Statement statement = service.createStatement()) {
            SQLException refusal =
                    assertThrows(
                            SQLException.class,
                            () ->
                                    statement.execute(
                                            "INSERT INTO audit.checkpoint (number, sealed_at, jws) VALUES (%s, now(), '%s')"
                                                    .formatted(number, jws)));
            assertEquals("23514", refusal.getSQLState());
            assertTrue(String.valueOf(refusal.getMessage()).contains(why), refusal::getMessage);
        }
    }

    @Test
    void a_missing_checkpoint_is_found() {
        attack("DELETE FROM audit.checkpoint WHERE number = 2", "Checkpoint 2 is missing");
    }

    @Test
    void a_checkpoint_in_the_place_of_another_is_found_though_the_key_signed_it() {
        database.runAsSuperuser(
                """
                DELETE FROM audit.checkpoint WHERE number > 1;
                TRUNCATE work.sealed_chain;
                """);
        Seals.seal(database);
        database.runAsSuperuser(
                "INSERT INTO audit.checkpoint SELECT * FROM safe.checkpoint WHERE number = 3");
        assertEquals(
                List.of("Checkpoint 3 doesn't follow the checkpoint before it"),
                Seals.wrong(database));
    }

    @Test
    void without_any_checkpoint_nothing_is_proven() {
        database.runAsSuperuser("DELETE FROM audit.checkpoint");
        assertEquals(
                List.of("No checkpoint is valid, so nothing is proven"), Seals.wrong(database));
        assertEquals(
                List.of("The export has no checkpoint, so nothing is proven; write it with --all"),
                Seals.foundInExport(database, directory.resolve("log"), List.of(Seals.KEY)).wrong);
    }

    @Test
    void a_changed_checkpoint_is_found() {
        database.runAsSuperuser(
                "UPDATE audit.checkpoint SET jws = (SELECT jws FROM audit.checkpoint WHERE number ="
                        + " 1) WHERE number = 3");
        Seals.Found found = Seals.found(database, List.of(Seals.KEY), last);
        assertEquals(1, found.wrong.size(), found.wrong.toString());
        assertTrue(found.wrong.getFirst().contains("another checkpoint has its number"));
        assertEquals(1, found.foreign.size());
        assertTrue(
                found.foreign
                        .getFirst()
                        .startsWith("Checkpoint 3 has another number in its signed content: 1"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sealed_at = sealed_at + interval '1 microsecond'",
                "announced_by = 'a.b.c'",
                "announced_by = jws",
                "announced_by = (SELECT jws FROM audit.checkpoint WHERE number = 1)"
            })
    void a_changed_column_of_a_checkpoint_is_found_and_what_it_sealed_holds(String assignment) {
        attack(
                "UPDATE audit.checkpoint SET %s WHERE number = 2".formatted(assignment),
                "Checkpoint 2");
        assertEquals(List.of(), Seals.found(database, List.of(Seals.KEY)).foreign);
    }

    @Test
    void a_checkpoint_that_no_broker_made_is_told_and_hides_nothing() {
        database.run(
                Who.APP,
                "INSERT INTO audit.checkpoint (number, sealed_at, jws, inserted_by)"
                        + " VALUES (4, now(), 'a.b.c', 'somebody else')");
        AuditRows.append(database, "here/2", AuditRows.mint("five", "{}"));
        Seals.seal(database);
        Seals.Found found = Seals.found(database, List.of(Seals.KEY), last);
        assertEquals(List.of(), found.wrong);
        assertEquals(1, found.foreign.size(), found.foreign.toString());
        String told = found.foreign.getFirst();
        assertTrue(
                told.startsWith("Checkpoint 4 isn't a JWS. Login 'test_app' wrote the checkpoint"),
                told);
        assertEquals(0, requireNonNull(found.summary).unsealed());
        database.runAsSuperuser("DELETE FROM audit.event WHERE subject = 'five'");
        assertEquals(1, Seals.wrong(database).size(), Seals.wrong(database).toString());
    }

    @Test
    void a_deleted_checkpoint_is_not_counted_and_what_it_alone_sealed_is_not_said_to_be_new() {
        database.runAsSuperuser("DELETE FROM audit.checkpoint WHERE number = 2");
        var summary = requireNonNull(Seals.found(database, List.of(Seals.KEY)).summary);
        assertEquals(2, summary.checkpoints());
        assertFalse(summary.whole());
        assertEquals(10, summary.unsealed());
    }

    @Test
    void a_log_cut_off_with_its_checkpoints_is_found_by_whoever_kept_one() {
        database.runAsSuperuser(
                """
                DELETE FROM audit.checkpoint WHERE number > 1;
                DELETE FROM audit.event;
                """);
        List<String> wrong = Seals.wrong(database, last);
        assertEquals(1, wrong.size(), wrong.toString());
        assertTrue(wrong.getFirst().contains("Checkpoint 3"), wrong.toString());
    }

    @Test
    void a_checkpoint_of_another_key_is_found() {
        database.runAsSuperuser("DELETE FROM audit.checkpoint WHERE number = 3");
        Seals.seal(database, Seals.key());
        List<String> foreign = Seals.found(database, List.of(Seals.KEY)).foreign;
        assertEquals(1, foreign.size(), foreign.toString());
        assertTrue(foreign.getFirst().startsWith("Checkpoint 3 is signed by key"));
    }

    @Test
    void a_key_that_the_one_before_announced_is_trusted() {
        var next = Seals.key();
        Seals.seal(database, Seals.KEY, next);
        Seals.seal(database, Seals.KEY, next);
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(List.of(), found.wrong);
        assertEquals(List.of(), found.told);
    }

    @Test
    void a_trusted_key_that_was_never_announced_is_told() {
        var next = Seals.key();
        Seals.seal(database, next);
        Seals.Found found = Seals.found(database, List.of(Seals.KEY, next));
        assertEquals(List.of(), found.wrong);
        assertEquals(1, found.told.size());
        assertTrue(found.told.getFirst().contains("did not announce"));
    }
}
