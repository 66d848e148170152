package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.Event;
import io.mintmark.audit.Event.How;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditCommand.Ran;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A database is restored to what it was some checkpoints ago, and the log says so. */
@Tag("heavy")
class DeclaredGapTest {
    @TempDir private Path directory;
    @AutoClose private final TestDatabase original = TestDatabase.migrated();
    private final List<SignedCheckpoint> kept = new ArrayList<>();
    @AutoClose private TestDatabase restored = original;
    private Path file = Path.of("");
    private List<Event> lost = List.of();

    @BeforeEach
    void loseTheEnd() throws Exception {
        file = directory.resolve("kept.jsonl");
        original.admin("INSERT INTO broker.tenant (name) VALUES ('acme'), ('other')");
        try (Database connections = new Database(original.login(Who.APP))) {
            PostgresEventStore store = new PostgresEventStore(connections, "here/1");
            store.append(new GrantedMints(original).of(AuditRows.mint("one", "{}")));
            kept.add(Seals.seal(original));
            store.append(new GrantedMints(original).of(AuditRows.mint("two", "{}")));
        }
        kept.add(Seals.seal(original));
        restored = original.copy();
        lost = new GrantedMints(original).of(AuditRows.mint("three", "{}"));
        original.admin("UPDATE broker.tenant SET display_name = 'lost' WHERE name = 'acme'");
        try (Database connections = new Database(original.login(Who.APP))) {
            PostgresEventStore store = new PostgresEventStore(connections, "here/2");
            store.append(lost);
            kept.add(Seals.seal(original));
            store.append(new GrantedMints(original).of(AuditRows.mint("four", "{}")));
        }
        kept.add(Seals.seal(original));
        keep(kept);
    }

    private void keep(List<SignedCheckpoint> checkpoints) throws Exception {
        Files.write(file, checkpoints.stream().map(SignedCheckpoint::line).toList());
    }

    private Ran run(Who who, String... arguments) throws Exception {
        return new AuditCommand(restored, directory, who).run(arguments);
    }

    /** What the command says of the database; of an export the same, and the script of both. */
    private Ran verify(String... further) throws Exception {
        List<String> arguments =
                new ArrayList<>(List.of("verify", "--checkpoints", file.toString()));
        arguments.addAll(Arrays.asList(further));
        Ran ran = run(Who.AUDITOR, arguments.toArray(String[]::new));
        Path log = directory.resolve("log");
        Seals.foundInExport(restored, log, List.of(Seals.KEY));
        arguments.addAll(List.of("--export", log.toString()));
        Ran ofExport = run(Who.AUDITOR, arguments.toArray(String[]::new));
        assertEquals(ran.status(), ofExport.status(), ofExport.output());
        Script script = new Script(directory, restored);
        List<String> shared = new ArrayList<>(List.of(file.toString()));
        shared.addAll(Arrays.asList(further));
        assertEquals(ran.status(), script.status(shared), () -> ran.output() + script.output());
        shared.addAll(List.of("--export", log.toString()));
        assertEquals(ran.status(), script.status(shared), script::output);
        return ran;
    }

    private SignedCheckpoint declare() throws Exception {
        Ran declared =
                run(
                        Who.APP,
                        "declare-gap",
                        "--checkpoints",
                        file.toString(),
                        "--reason",
                        "the disk broke");
        assertEquals(0, declared.status(), declared.output());
        return SignedCheckpoint.in(declared.output()).orElseThrow();
    }

    @Test
    void an_end_whose_request_was_lost_is_wrong_until_the_loss_is_declared() throws Exception {
        AuditRows.append(restored, "here/3", List.of(AuditRows.ended(lost, How.SWEPT)));
        kept.add(Seals.seal(restored));
        String sentence = "ended but was never requested";
        Ran before = verify();
        assertEquals(1, before.status());
        assertTrue(before.output().contains(sentence), before.output());
        declare();
        Ran declared = verify();
        assertEquals(3, declared.status(), declared.output());
        assertTrue(
                declared.output().contains(sentence + "; rows were declared lost"),
                declared.output());
    }

    @Test
    void a_restore_that_lost_the_end_is_wrong_until_it_is_declared_and_then_waits_for_acceptance()
            throws Exception {
        assertEquals(1, verify().status());
        SignedCheckpoint declaration = declare();
        Ran declared = verify();
        assertEquals(3, declared.status(), declared.output());
        assertTrue(declared.output().contains("the disk broke"), declared.output());
        assertTrue(declared.output().contains("Declared lost: rows 1 to 4 of chain"));
        assertTrue(declared.output().contains("of the changes of tenant acme"));
        Ran accepted = verify("--accept-gap", declaration.hash());
        assertEquals(0, accepted.status(), accepted.output());
        assertEquals(3, verify("--accept-gap", "ab".repeat(32)).status());
        assertEquals(3, run(Who.AUDITOR, "verify").status());
    }

    @Test
    void what_is_written_after_the_restore_is_proven_like_any_other_and_declared_nothing_twice()
            throws Exception {
        SignedCheckpoint declaration = declare();
        restored.admin("UPDATE broker.tenant SET display_name = 'new' WHERE name = 'acme'");
        AuditRows.append(
                restored, "here/3", new GrantedMints(restored).of(AuditRows.mint("five", "{}")));
        Seals.seal(restored);
        Ran accepted = verify("--accept-gap", declaration.hash());
        assertEquals(0, accepted.status(), accepted.output());
        keep(kept.subList(0, 2));
        Ran nothing =
                run(Who.APP, "declare-gap", "--checkpoints", file.toString(), "--reason", "again");
        assertEquals(1, nothing.status());
        restored.runAsSuperuser(disarmed("DELETE FROM audit.event WHERE subject = 'five'"));
        assertEquals(1, verify("--accept-gap", declaration.hash()).status());
    }

    /** A replica that only alerts ran through the restore. */
    @Test
    void a_gap_in_a_chain_that_went_on_behind_the_lost_rows_is_declared_too() throws Exception {
        TestDatabase away = restored;
        try (away;
                Database connections = new Database(original.login(Who.APP))) {
            PostgresEventStore store = new PostgresEventStore(connections, "here/4");
            store.append(new GrantedMints(original).of(AuditRows.mint("six", "{}")));
            kept.add(Seals.seal(original));
            store.append(new GrantedMints(original).of(AuditRows.mint("seven", "{}")));
            keep(kept);
            original.replaceBy(restored);
            restored = original;
            Eventually.holds(() -> answers(store));
            store.append(new GrantedMints(restored).of(AuditRows.mint("eight", "{}")));
            assertEquals(1, store.removed());
            Seals.seal(restored);
            Ran before = verify();
            assertEquals(1, before.status());
            assertTrue(before.output().contains("lacks rows 1 to 4"), before.output());
            SignedCheckpoint declaration = declare();
            Ran declared = verify();
            assertEquals(3, declared.status(), declared.output());
            assertTrue(declared.output().contains("Declared lost: rows 1 to 4 of chain"));
            store.append(new GrantedMints(restored).of(AuditRows.mint("nine", "{}")));
            Seals.seal(restored);
            Ran accepted = verify("--accept-gap", declaration.hash());
            assertEquals(0, accepted.status(), accepted.output());
        }
    }

    /** Its connections to the other database are gone. */
    private static boolean answers(PostgresEventStore store) {
        try {
            return store.known(List.of()).isEmpty();
        } catch (StoreUnreachable e) {
            return false;
        }
    }

    @Test
    void a_deletion_from_what_the_restored_log_had_sealed_can_not_be_declared_away()
            throws Exception {
        restored.runAsSuperuser(disarmed("DELETE FROM audit.event WHERE subject = 'two'"));
        SignedCheckpoint declaration = declare();
        Ran accepted = verify("--accept-gap", declaration.hash());
        assertEquals(1, accepted.status(), accepted.output());
        assertTrue(accepted.output().contains("was truncated after row 2"), accepted.output());
    }

    @Test
    void rows_that_were_lost_beyond_what_was_declared_are_missing() throws Exception {
        keep(kept.subList(0, 3));
        SignedCheckpoint declaration = declare();
        keep(kept);
        Ran verified = verify("--accept-gap", declaration.hash());
        assertEquals(1, verified.status(), verified.output());
    }

    @Test
    void a_forged_checkpoint_is_disowned_and_a_brokers_can_not_be() throws Exception {
        keep(kept.subList(0, 2));
        restored.run(
                Who.APP,
                "INSERT INTO audit.checkpoint (number, sealed_at, jws) VALUES (3, now(), 'a.b.c')");
        assertEquals(1, verify().status());
        Ran disowned = run(Who.APP, "disown-checkpoint", "3", "--reason", "a stolen password");
        assertEquals(0, disowned.status(), disowned.output());
        Ran verified = verify();
        assertEquals(3, verified.status(), verified.output());
        assertTrue(verified.output().contains("a stolen password"), verified.output());
        String hash = SignedCheckpoint.in(disowned.output()).orElseThrow().hash();
        assertEquals(0, verify("--accept-gap", hash).status());
        assertEquals(1, run(Who.APP, "disown-checkpoint", "2", "--reason", "mine").status());
        assertEquals(1, run(Who.APP, "disown-checkpoint", "9", "--reason", "none").status());
    }

    private static String disarmed(String attack) {
        return """
        DO $$
        DECLARE
            armed regclass;
        BEGIN
            FOR armed IN SELECT tgrelid FROM pg_trigger WHERE tgname = 'is_append_only' LOOP
                EXECUTE format('ALTER TABLE %%s DISABLE TRIGGER is_append_only', armed);
            END LOOP;
        END $$;
        %s
        """
                .formatted(attack);
    }
}
