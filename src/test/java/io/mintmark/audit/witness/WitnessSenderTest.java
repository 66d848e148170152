package io.mintmark.audit.witness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.LossStop;
import io.mintmark.audit.log.LostRow;
import io.mintmark.audit.log.LostRows;
import io.mintmark.audit.log.PostgresWitnesses;
import io.mintmark.audit.log.SeenHistory;
import io.mintmark.audit.note.CosignedNote;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.SignedNote;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.auditor.witness.Witness;
import io.mintmark.auditor.witness.WitnessServer;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/** The broker's side, against the witness of {@code mintmark audit witness} in this process. */
@Tag("every-postgres")
class WitnessSenderTest {
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
    private static final String LOG = "log %s\n".formatted(Seals.NOTES.key(1).text());

    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    private final Database connections = database.closing(new Database(database.login(Who.APP)));
    @AutoClose private Witness witness;
    @AutoClose private WitnessServer server;

    @BeforeEach
    void open() throws IOException {
        begin("state");
    }

    private void begin(String state) throws IOException {
        witness =
                new Witness(
                        WitnessPolicy.of(LOG + "quorum none\n"),
                        directory.resolve(state),
                        "w.example/1",
                        InstantSource.fixed(NOW));
        server =
                new WitnessServer(
                        witness, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    private String line(String name) {
        return "witness %s %s http://127.0.0.1:%d/\n"
                .formatted(name, witness.key().text(), server.port());
    }

    private WitnessPolicy policy() {
        return WitnessPolicy.of(LOG + line("one") + "quorum one\n");
    }

    private static GuardedHttp http() {
        return new GuardedHttp(new Destinations(List.of("127.0.0.1")));
    }

    private WitnessSender sender(Database of, WitnessPolicy policy, SeenHistory history) {
        return new WitnessSender(
                policy,
                http(),
                Duration.ofSeconds(10),
                new PostgresWitnesses(of),
                history,
                InstantSource.fixed(NOW));
    }

    private WitnessSender sender() {
        return sender(connections, policy(), new SeenHistory(connections, Optional.empty()));
    }

    /** A round of the next minute. */
    private static void round(TestDatabase of, WitnessSender sender) {
        of.runAsSuperuser("UPDATE work.sealing SET witnesses_asked_at = NULL");
        assertTrue(sender.round());
    }

    private List<String> cosigned() {
        return database.column(
                "SELECT concat_ws(' ', tree, size, witness) FROM audit.cosignature ORDER BY number");
    }

    @Test
    void a_sealed_checkpoint_is_cosigned_and_kept() {
        String note = Seals.noted(database).note().orElseThrow();
        assertTrue(sender().round());
        assertEquals(List.of("1 1 w.example/1"), cosigned());
        CosignedNote kept =
                CosignedNote.parse(database.value("SELECT line FROM audit.cosignature"));
        assertTrue(kept.holds(witness.key(), SignedNote.parse(note).text()));
        assertEquals(NOW, kept.at());
        database.assertRows(
                "SELECT witnessed_at = (SELECT max(sealed_at) FROM audit.checkpoint) FROM runtime.sealing",
                "t");
    }

    @Test
    void only_the_newest_is_sent_with_a_proof_of_what_grew_since_the_last() {
        WitnessSender sender = sender();
        for (int more : new int[] {1, 1, 1, 2, 3, 1, 8}) {
            for (int i = 0; i < more; i++) {
                var _ = Seals.noted(database);
            }
            round(database, sender);
        }
        assertEquals(
                List.of(1, 2, 3, 5, 8, 9, 17).stream().map("1 %d w.example/1"::formatted).toList(),
                cosigned());
    }

    @Test
    void of_all_replicas_one_asks_in_a_minute() {
        WitnessSender one = sender();
        WitnessSender other = sender();
        var _ = Seals.noted(database);
        assertTrue(one.round());
        var _ = Seals.noted(database);
        assertTrue(!other.round() && !one.round());
        assertEquals(List.of("1 1 w.example/1"), cosigned());
        round(database, other);
        assertEquals(List.of("1 1 w.example/1", "1 2 w.example/1"), cosigned());
    }

    @Test
    void a_witness_that_forgot_begins_anew() throws Exception {
        var _ = Seals.noted(database);
        round(database, sender());
        var _ = Seals.noted(database);
        server.close();
        witness.close();
        begin("another");
        round(database, sender());
        assertEquals(List.of("1 1 w.example/1", "1 2 w.example/1"), cosigned());
    }

    /** As when a job of the operator asked it. */
    @Test
    void what_a_witness_cosigned_for_others_is_looked_up_once_an_hour() {
        WitnessSender sender = sender();
        for (int i = 0; i < 3; i++) {
            var _ = Seals.noted(database);
        }
        round(database, sender);
        for (int i = 0; i < 2; i++) {
            database.runAsSuperuser("DELETE FROM work.witness");
            var _ = Seals.noted(database);
            round(database, sender);
        }
        assertEquals(List.of("1 3 w.example/1", "1 4 w.example/1"), cosigned());
    }

    @Test
    void without_a_quorum_nothing_counts_as_witnessed() {
        try (WitnessStandIn away = new WitnessStandIn(WitnessStandIn.with(500, "x", "no"))) {
            NoteKey key = WitnessFaultsTest.KEYS.key();
            WitnessPolicy both =
                    WitnessPolicy.of(
                            LOG
                                    + line("one")
                                    + "witness two %s %s\ngroup both all one two\nquorum both\n"
                                            .formatted(key.text(), away.url()));
            var _ = Seals.noted(database);
            round(
                    database,
                    sender(connections, both, new SeenHistory(connections, Optional.empty())));
        }
        assertEquals(List.of("1 1 w.example/1"), cosigned());
        database.assertRows("SELECT witnessed_at IS NULL FROM runtime.sealing", "t");
    }

    /** The restored database has other checkpoints than those that the witness knows. */
    @Test
    void a_history_that_is_not_the_witness_s_is_a_lost_one() throws Exception {
        for (int i = 0; i < 3; i++) {
            var _ = Seals.noted(database);
        }
        round(database, sender());
        for (int sealed : new int[] {1, 3, 5}) {
            try (TestDatabase restored = TestDatabase.migrated();
                    Database of = new Database(restored.login(Who.APP))) {
                for (int i = 0; i < sealed; i++) {
                    var _ = Seals.noted(restored);
                }
                TrustedKeys keys = new TrustedKeys(List.of(Seals.KEY));
                SeenHistory history = new SeenHistory(of, Optional.of(new LossStop(of, keys)));
                WitnessSender sender = sender(of, policy(), history);
                round(restored, sender);
                round(restored, sender);
                assertEquals(1, history.lost(), "sealed " + sealed);
                assertEquals(
                        List.of(new LostRow(LostRow.Kind.TREE, "log.example/audit/1", 3, "")),
                        new LostRows(of, keys).unacknowledged());
                restored.assertRows("SELECT count(*) FROM audit.cosignature", "0");
            }
        }
    }

    @Test
    void a_loss_that_stops_nothing_is_counted_once() throws Exception {
        for (int i = 0; i < 2; i++) {
            var _ = Seals.noted(database);
        }
        round(database, sender());
        try (TestDatabase restored = TestDatabase.migrated();
                Database of = new Database(restored.login(Who.APP))) {
            SeenHistory history = new SeenHistory(of, Optional.empty());
            WitnessSender sender = sender(of, policy(), history);
            var _ = Seals.noted(restored);
            round(restored, sender);
            round(restored, sender);
            assertEquals(1, history.lost());
            restored.assertRows("SELECT count(*) FROM runtime.lost_row", "0");
        }
    }
}
