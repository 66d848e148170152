package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.SealStore;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.audit.log.PostgresSeals;
import io.mintmark.audit.tree.TreeHash;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Checkpoints name the root of the tree over the rows that they seal. */
class SealedTreesTest {
    private static final String OTHER_ROWS =
            "heckpoint 2 has a tree root that does not match the rows that it sealed";

    /** More than the sealer reads at once. */
    private static final int MANY = 5_500;

    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.migrated();

    private void writeOn(String... brokers) {
        try (Database connections = new Database(database.login(Who.APP))) {
            for (String broker : brokers) {
                PostgresEventStore store = new PostgresEventStore(connections, broker);
                store.append(new GrantedMints(database).of(AuditRows.mint("one", "{}")));
                store.append(new GrantedMints(database).of(AuditRows.mint("two", "{}")));
            }
        }
    }

    private Checkpoint opened(SignedCheckpoint signed) {
        return new TrustedKeys(List.of(Seals.KEY)).open(signed).checkpoint();
    }

    /** Seals what another than an honest broker would. */
    private SignedCheckpoint seal(UnaryOperator<SealStore.Heads> changed) {
        SealingKeys keys = new SealingKeys(List.of(Seals.KEY));
        try (Database connections = new Database(database.login(Who.APP))) {
            return new PostgresSeals(connections, "test")
                    .seal(
                            true,
                            unsealed ->
                                    Optional.of(
                                            keys.seal(
                                                    new SealStore.Unsealed(
                                                            unsealed.last(),
                                                            unsealed.announcements(),
                                                            changed.apply(unsealed.heads()),
                                                            unsealed.tree(),
                                                            unsealed.now()),
                                                    "test",
                                                    List.of())))
                    .orElseThrow();
        }
    }

    private record Heads(List<Position> events, List<Position> changes, String root)
            implements SealStore.Heads {}

    private void isFoundByAll(String sentence) throws Exception {
        assertEquals(List.of("C" + sentence), Seals.wrong(database));
        Seals.Found export =
                Seals.foundInExport(database, directory.resolve("log.jsonl"), List.of(Seals.KEY));
        assertEquals(List.of("C" + sentence), export.wrong);
        Script script = new Script(directory, database);
        assertEquals(1, script.status(List.of()), script::output);
        assertTrue(script.output().contains("WRONG: c" + sentence), script::output);
    }

    @Test
    void a_checkpoint_names_the_tree_over_its_rows_and_later_ones_only_what_is_new() {
        database.admin("INSERT INTO broker.tenant (name) VALUES ('acme'), ('other')");
        writeOn("here/1", "here/2");
        Checkpoint first = opened(Seals.seal(database));
        assertEquals(List.of(4L, 4L), first.events().stream().map(Position::rows).toList());

        database.admin("UPDATE broker.tenant SET display_name = 'x' WHERE name = 'acme'");
        Checkpoint second = opened(Seals.seal(database));
        assertEquals(List.of(), second.events());
        Position change = second.changes().getFirst();
        assertEquals(1, change.rows());
        TreeHash tree = new TreeHash();
        tree.add(HexFormat.of().parseHex(change.hash()));
        assertEquals(Optional.of(HexFormat.of().formatHex(tree.root())), second.root());

        assertEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void an_import_of_more_rows_than_are_read_at_once_has_one_tree() {
        database.admin(
                """
                INSERT INTO broker.shared_issuer (issuer, owner_claims)
                SELECT 'https://issuer-' || n || '.example.com', '{owner}'
                  FROM generate_series(1, %d) AS n
                """
                        .formatted(MANY));
        Checkpoint sealed = opened(Seals.seal(database));
        assertTrue(sealed.changes().getFirst().rows() >= MANY);
        assertEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void another_root_is_found() throws Exception {
        Seals.seal(database);
        writeOn("here/1");
        var _ = seal(heads -> new Heads(heads.events(), heads.changes(), "0".repeat(64)));
        isFoundByAll(OTHER_ROWS);
    }

    @Test
    void a_tree_that_leaves_a_row_out_is_found_by_what_it_says_that_it_has() throws Exception {
        Seals.seal(database);
        writeOn("here/1");
        var _ =
                seal(heads -> {
                    List<Position> events = heads.events();
                    List<Position> changes = heads.changes();
                    String root = heads.root();
                    return new Heads(
                            events.stream()
                                    .map(it ->
                                            new Position(
                                                    it.chain(), it.first() + 1, it.at(), it.hash()))
                                    .toList(),
                            changes,
                            root);
                });
        isFoundByAll(OTHER_ROWS);
    }

    @Test
    void a_checkpoint_with_a_root_must_name_the_rows_of_its_tree() {
        writeOn("here/1");
        SignedCheckpoint sealed =
                seal(heads -> {
                    List<Position> changes = heads.changes();
                    return new Heads(
                            heads.events().stream()
                                    .map(it -> new Position(it.chain(), it.at(), it.hash()))
                                    .toList(),
                            changes,
                            heads.root());
                });
        assertEquals(
                "has a tree over rows that the checkpoint does not list",
                assertThrows(IllegalArgumentException.class, () -> opened(sealed)).getMessage());
    }
}
