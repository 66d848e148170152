package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.audit.log.PostgresSeals;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.auditor.witness.TestWitness;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditCommand.Ran;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code audit verify --policy} and the same option of docs/verify.py, on the database and on an
 * export, come to one verdict.
 */
class WitnessedLogTest {
    private static final String MISSING =
            "heckpoints have lacked the policy's quorum since number ";
    private static final String STOPPED = "brokers are stopped, or the end of the log was removed";
    private static final String OTHER_LOG =
            new NoteKey("other.example/audit/1", NoteKey.Type.NOTE, Seals.NOTES.published()).text();
    private static final String BOTH = "group both all one two\nquorum both\n";

    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    private Path policy = Path.of("");
    private Instant start = Instant.EPOCH;

    @AutoClose private TestWitness one;
    @AutoClose private TestWitness two;

    @BeforeEach
    void begin() throws Exception {
        one = new TestWitness(directory, "one");
        two = new TestWitness(directory, "two");
        policy = directory.resolve("policy");
        start = Instant.now().minus(Duration.ofHours(5));
        GrantedMints.since(database, start.minus(Duration.ofHours(1)), "repo:acme/app");
        demand(BOTH);
    }

    private void demand(String quorum) throws Exception {
        Files.writeString(policy, TestWitness.log() + one.line() + two.line() + quorum);
    }

    /** A checkpoint of so many minutes after the start, which is in the past. */
    private void seal(int minutes) {
        Seals.notedAt(database, at(minutes));
    }

    private Instant at(int minutes) {
        return start.plus(Duration.ofMinutes(minutes));
    }

    private void cosigned(int minutes, TestWitness... witnesses) {
        for (TestWitness witness : witnesses) {
            assertEquals(200, witness.ask(database, at(minutes)));
        }
    }

    private void attack(String sql) {
        database.runAsSuperuser(
                "ALTER TABLE log.cosignature DISABLE TRIGGER is_append_only; " + sql);
    }

    private List<String> verify(int status, Path... exports) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("--policy", policy.toString()));
        if (exports.length > 0) {
            arguments.addAll(List.of("--export", exports[0].toString()));
        }
        List<String> command = new ArrayList<>(List.of("verify", "--no-record"));
        command.addAll(arguments);
        Ran ran =
                new AuditCommand(database, directory, Who.AUDITOR)
                        .run(command.toArray(String[]::new));
        assertEquals(status, ran.status(), () -> ran.output() + ran.errors());
        Script script = new Script(directory, database);
        assertEquals(status, script.status(arguments), script::output);
        return List.of(ran.output() + ran.errors(), script.output());
    }

    private void found(int status, String expected) throws Exception {
        for (String said : verify(status)) {
            assertTrue(said.contains(expected), said);
        }
        Path export = directory.resolve("export-%d.jsonl".formatted(System.nanoTime()));
        assertEquals(
                0,
                new AuditCommand(database, directory, Who.AUDITOR)
                        .run(
                                "export",
                                "--all",
                                "--state",
                                export + ".state",
                                "--output",
                                export.toString())
                        .status());
        for (String said : verify(status == 3 ? 0 : status, export)) {
            assertTrue(status == 3 || said.contains(expected), said);
        }
    }

    @Test
    void a_log_that_the_quorum_cosigned_is_proven() throws Exception {
        Seals.noted(database);
        Seals.noted(database);
        assertEquals(200, one.ask(database));
        assertEquals(200, two.ask(database));
        found(0, "with the size 2, cosigned at ");
    }

    @Test
    void a_later_cosignature_of_one_witness_counts_for_what_the_other_cosigned() throws Exception {
        seal(0);
        cosigned(0, one);
        Seals.noted(database);
        assertEquals(200, two.ask(database));
        found(3, "number 1, with the size 1, cosigned at ");
    }

    @Test
    void a_quorum_that_is_missing_for_over_an_hour_is_a_finding() throws Exception {
        seal(0);
        cosigned(0, one, two);
        seal(10);
        cosigned(10, one);
        seal(70);
        cosigned(70, one);
        found(3, STOPPED);
        seal(71);
        found(1, MISSING + "2, sealed at ");
        demand("group any any one two\nquorum any\n");
        found(3, "number 3, with the size 3");
        demand("quorum two\n");
        found(1, MISSING + "2, sealed at ");
        demand("group most 2 one two\nquorum most\n");
        found(1, MISSING + "2, sealed at ");
        demand("quorum none\n");
        found(0, "he policy requires no witness");
    }

    @Test
    void a_log_without_any_quorum_is_not_proven_however_young_it_is() throws Exception {
        Seals.noted(database);
        assertEquals(200, one.ask(database));
        found(
                1,
                "o checkpoint has the cosignatures that the policy requires; the first checkpoint that must have them is number 1, sealed at ");
    }

    @Test
    void a_log_whose_brokers_stopped_is_doubtful_until_that_is_accepted() throws Exception {
        seal(0);
        cosigned(0, one, two);
        for (String said : verify(3)) {
            assertTrue(said.contains(STOPPED), said);
        }
    }

    @Test
    void the_time_of_a_row_or_checkpoint_after_a_cosignature_is_wrong() throws Exception {
        seal(0);
        cosigned(0, one, two);
        try (Database connections = new Database(database.login(Who.APP))) {
            new PostgresEventStore(connections, "here/1")
                    .append(new GrantedMints(database).of(AuditRows.mint("repo:acme/app", "{}")));
        }
        seal(1);
        cosigned(1, one, two);
        found(1, "heckpoint 2 was cosigned at ");
    }

    @Test
    void a_checkpoint_of_after_its_cosignature_is_wrong() throws Exception {
        seal(0);
        cosigned(-4, one);
        cosigned(-6, two);
        found(1, "heckpoint 1 was cosigned by two at ");
        for (String said : verify(1)) {
            assertFalse(said.contains("was cosigned by one"), said);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    UPDATE log.cosignature SET size = 9 WHERE size = 1 AND witness LIKE 'one%' | he log has cosignatures for tree 1 with 9 checkpoints, but no note of that tree
                    UPDATE log.cosignature SET tree = 7 WHERE witness LIKE 'one%'              | he log has cosignatures for tree 7 with 1 checkpoints, but no note of that tree
                    UPDATE log.cosignature SET size = 2 WHERE size = 3 AND witness LIKE 'two%' | heckpoint 2 has an invalid cosignature of two
                    DELETE FROM log.cosignature WHERE witness LIKE 'two%'                      | o checkpoint has the cosignatures
                    UPDATE log.cosignature SET line = concat(left(line, -4), 'AAAA') | heckpoint 1 has a cosignature that can't be read
                    """)
    void cosignatures_that_were_changed_are_found(String attack, String expected) throws Exception {
        for (int i = 0; i < 3; i++) {
            Seals.noted(database);
            if (i != 1) {
                assertEquals(200, one.ask(database));
                assertEquals(200, two.ask(database));
            }
        }
        attack(attack);
        found(1, expected);
    }

    @Test
    void a_log_that_the_policy_lacks_and_keys_that_it_lacks_do_not_count() throws Exception {
        Seals.noted(database);
        assertEquals(200, one.ask(database));
        Files.writeString(
                policy,
                TestWitness.log().replace(Seals.NOTES.key(1).text(), OTHER_LOG)
                        + two.line()
                        + "quorum two\n");
        found(
                1,
                "heckpoint 1 has a note of a log that the policy doesn't list: log "
                        + Seals.NOTES.key(1).text());
        Files.writeString(policy, TestWitness.log() + two.line() + "quorum two\n");
        found(1, "1 cosignatures were made by keys that the policy doesn't list");
    }

    @Test
    void after_a_declared_loss_the_next_tree_is_cosigned() throws Exception {
        Seals.noted(database);
        Seals.noted(database);
        assertEquals(200, one.ask(database));
        declare();
        Seals.noted(database);
        for (String said : verify(1)) {
            assertTrue(said.contains("o checkpoint has the cosignatures"), said);
        }
        one.follow(2);
        two.follow(2);
        assertEquals(200, one.ask(database));
        assertEquals(200, two.ask(database));
        for (String said : verify(3)) {
            assertTrue(said.contains("number 4, with the size 2"), said);
        }
    }

    private void declare() {
        Checkpoint.Declaration lost =
                new Checkpoint.Declaration("lost", List.of(), List.of(), List.of());
        SealingKeys keys = new SealingKeys(List.of(Seals.KEY)).with(Seals.NOTES);
        try (Database connections = new Database(database.login(Who.APP))) {
            var _ =
                    new PostgresSeals(connections, "test")
                            .seal(
                                    true,
                                    unsealed ->
                                            Optional.of(keys.declare(unsealed, "operator", lost)))
                            .orElseThrow();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "quorum both\n",
                "quorum one\nquorum two\n",
                "group both 3 one two\nquorum both\n",
                "group both some one two\nquorum both\n",
                "group both all one one\nquorum both\n",
                "group none all one\nquorum none\n",
                "witness three x+00000000+BA==\nquorum one\n",
                "quorum one\n\u0001"
            })
    void a_policy_that_cannot_be_met_is_refused(String quorum) throws Exception {
        demand(quorum);
        for (String said : verify(1)) {
            assertTrue(said.contains("--policy: '" + policy + "': "), said);
        }
    }

    @Test
    void a_part_of_a_log_cannot_show_a_quorum() throws Exception {
        Seals.noted(database);
        assertEquals(200, one.ask(database));
        Seals.noted(database);
        Path part = directory.resolve("part.jsonl");
        Ran ran =
                new AuditCommand(database, directory, Who.AUDITOR)
                        .run(
                                "export",
                                "--all",
                                "--from",
                                Instant.now().minus(Duration.ofDays(1)).toString(),
                                "--output",
                                part.toString());
        assertEquals(0, ran.status(), ran.errors());
        for (String said : verify(1, part)) {
            assertTrue(said.contains("art of a log lacks the earlier checkpoints"), said);
        }
    }
}
