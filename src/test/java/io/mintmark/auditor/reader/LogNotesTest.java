package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.LogTree;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.log.PostgresSeals;
import io.mintmark.audit.note.Base64Text;
import io.mintmark.audit.note.NoteSigner;
import io.mintmark.audit.note.SignedNote;
import io.mintmark.audit.note.TreeHead;
import io.mintmark.audit.tree.ConsistencyProof;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditCommand.Ran;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The notes beside the checkpoints, and the tree that they are about. */
class LogNotesTest {
    private static final SealingKeys KEYS = new SealingKeys(List.of(Seals.KEY)).with(Seals.NOTES);

    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.migrated();

    private static KeyPair pair() {
        return Unchecked.call(() -> KeyPairGenerator.getInstance("Ed25519").generateKeyPair());
    }

    private SignedCheckpoint seal() {
        return Seals.noted(database);
    }

    private SignedCheckpoint declare() {
        Checkpoint.Declaration lost =
                new Checkpoint.Declaration("lost", List.of(), List.of(), List.of());
        try (Database connections = new Database(database.login(Who.APP))) {
            return new PostgresSeals(connections, "test")
                    .seal(true, unsealed -> Optional.of(KEYS.declare(unsealed, "operator", lost)))
                    .orElseThrow();
        }
    }

    private static TreeHead head(SignedCheckpoint signed) {
        SignedNote note = SignedNote.parse(signed.note().orElseThrow());
        assertTrue(note.isSignedBy(signed.noteKey().orElseThrow()));
        return TreeHead.parse(note.text());
    }

    /** The tree over these checkpoints, computed anew. */
    private static String root(int number, SignedCheckpoint... leaves) {
        LogTree tree = new LogTree();
        for (SignedCheckpoint leaf : leaves) {
            tree = tree.with(leaf);
        }
        assertEquals(number, tree.number());
        return Base64Text.of(tree.leaves().root());
    }

    private void attack(String sql) {
        database.runAsSuperuser(
                "ALTER TABLE log.checkpoint DISABLE TRIGGER is_append_only; " + sql);
    }

    private void wrong(String expected) throws Exception {
        List<String> wrong = Seals.wrong(database);
        assertEquals(
                1, wrong.stream().filter(it -> it.contains(expected)).count(), wrong::toString);
        Script script = new Script(directory, database);
        assertEquals(1, script.status(List.of()));
        assertTrue(script.output().contains(expected), script::output);
    }

    @Test
    void a_note_stands_beside_each_checkpoint_and_is_of_one_growing_tree() throws Exception {
        SignedCheckpoint one = seal();
        SignedCheckpoint two = Seals.seal(database); // by a command without the key of notes
        SignedCheckpoint three = seal();
        assertEquals(new TreeHead("log.example/audit/1", 1, root(1, one)), head(one));
        assertEquals(Optional.empty(), two.note());
        assertEquals(new TreeHead("log.example/audit/1", 3, root(1, one, two, three)), head(three));
        assertEquals(List.of(), Seals.wrong(database));
        assertEquals(
                List.of(),
                Seals.foundInExport(
                                database, directory.resolve("export"), List.of(Seals.KEY), three)
                        .wrong);
    }

    @Test
    void a_declared_loss_begins_the_next_tree_with_the_declaration() throws Exception {
        SignedCheckpoint one = seal();
        SignedCheckpoint declaration = declare();
        SignedCheckpoint three = seal();
        assertEquals(
                new TreeHead("log.example/audit/2", 1, root(2, one, declaration)),
                head(declaration));
        assertEquals(
                new TreeHead("log.example/audit/2", 2, root(2, one, declaration, three)),
                head(three));
        assertEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void a_note_that_was_removed_changed_or_moved_is_found() throws Exception {
        SignedCheckpoint one = seal();
        SignedCheckpoint two = seal();
        attack("UPDATE log.checkpoint SET note = NULL WHERE number = 2");
        wrong("heckpoint 2 lacks its note");
        attack("UPDATE log.checkpoint SET note = '%s' WHERE number = 2".formatted(text(one)));
        wrong("heckpoint 2 has a note whose tree doesn't match the log's checkpoints");
        attack(
                "UPDATE log.checkpoint SET note = replace('%s', '/audit/1', '/audit/2') WHERE number = 2"
                        .formatted(text(two)));
        wrong("but the name must end with /audit/1");
        attack("UPDATE log.checkpoint SET note = 'x' WHERE number = 2");
        wrong("heckpoint 2 has a note that can't be read");
        attack(
                "UPDATE log.checkpoint SET note = '%s' WHERE number = 2"
                        .formatted(
                                new NoteSigner("log.example", pair())
                                        .sign(1, 2, Base64Text.bytes(head(two).base64()))));
        wrong("heckpoint 2 has a note with an invalid signature");
    }

    private static String text(SignedCheckpoint signed) {
        return signed.note().orElseThrow();
    }

    @Test
    void a_note_that_the_payload_does_not_announce_is_found() throws Exception {
        SignedCheckpoint one = seal();
        Seals.seal(database);
        attack("UPDATE log.checkpoint SET note = '%s' WHERE number = 2".formatted(text(one)));
        wrong("heckpoint 2 has a note, but doesn't name the note's key");
    }

    @Test
    void a_forged_checkpoint_is_a_leaf_too_and_the_next_note_has_it() {
        SignedCheckpoint one = seal();
        database.run(
                Who.APP,
                "INSERT INTO audit.checkpoint (number, sealed_at, jws) VALUES (2, now(), 'a.b.c')");
        SignedCheckpoint three = seal();
        SignedCheckpoint forged =
                new SignedCheckpoint(2, one.sealedAt(), "a.b.c", Optional.empty());
        assertEquals(root(1, one, forged, three), head(three).base64());
    }

    @Test
    void checkpoints_that_were_cut_off_are_not_in_the_next_tree_which_is_smaller() {
        SignedCheckpoint one = seal();
        seal();
        seal();
        attack("DELETE FROM log.checkpoint WHERE number > 1");
        SignedCheckpoint two = seal();
        assertEquals(new TreeHead("log.example/audit/1", 2, root(1, one, two)), head(two));
    }

    private Ran consistency(long from, long to) throws Exception {
        return new AuditCommand(database, directory, Who.AUDITOR)
                .run("consistency", Long.toString(from), Long.toString(to));
    }

    @Test
    void the_growth_between_any_two_sizes_can_be_proven() throws Exception {
        SignedCheckpoint first = declare();
        List<SignedCheckpoint> sealed = new ArrayList<>(List.of(first));
        for (int i = 0; i < 6; i++) {
            sealed.add(seal());
        }
        for (int from = 1; from <= 7; from++) {
            for (int to = from; to <= 7; to++) {
                Ran ran = consistency(from, to);
                assertEquals(0, ran.status(), ran.errors());
                List<String> lines = ran.output().lines().toList();
                assertEquals("old " + from, lines.getFirst());
                int blank = lines.indexOf("");
                assertTrue(ran.output().endsWith("\n\n" + text(sealed.get(to - 1))));
                assertTrue(
                        ConsistencyProof.holds(
                                head(sealed.get(from - 1)),
                                head(sealed.get(to - 1)),
                                lines.subList(1, blank).stream().map(Base64Text::bytes).toList()));
            }
        }
    }

    @Test
    void sizes_that_the_tree_does_not_have_are_refused() throws Exception {
        seal();
        Seals.seal(database);
        assertTrue(consistency(0, 1).output().startsWith("old 0\n\nlog.example/audit/1\n1\n"));
        assertTrue(
                consistency(2, 1)
                        .errors()
                        .contains("in ascending order; the tree has 2 checkpoints"));
        assertEquals(1, consistency(1, 3).status());
        assertTrue(consistency(1, 2).errors().contains("choose another TO"));
    }
}
