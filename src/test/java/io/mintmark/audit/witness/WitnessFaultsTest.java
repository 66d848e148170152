package io.mintmark.audit.witness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.mintmark.Unchecked;
import io.mintmark.audit.log.PostgresWitnesses;
import io.mintmark.audit.log.SeenHistory;
import io.mintmark.audit.note.Base64Text;
import io.mintmark.audit.note.CosignedNote;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.SignedNote;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.audit.witness.WitnessStandIn.Answering;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** A witness that answers wrongly changes nothing, and is asked again the next minute. */
class WitnessFaultsTest {
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
    static final Keys KEYS = new Keys("w.example/2");

    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    private final Database connections = database.closing(new Database(database.login(Who.APP)));

    /** The key of a witness. */
    record Keys(String name, KeyPair pair) {
        Keys(String name) {
            this(
                    name,
                    Unchecked.call(
                            () -> KeyPairGenerator.getInstance("Ed25519").generateKeyPair()));
        }

        NoteKey key() {
            return NoteKey.of(name, NoteKey.Type.COSIGNATURE, pair.getPublic());
        }

        /** Cosigns the note of a request. */
        Answering cosigning(Instant at, UnaryOperator<String> text) {
            return (exchange, request) -> {
                String note = request.substring(request.indexOf("\n\n") + 2);
                String signed = text.apply(SignedNote.parse(note).text());
                WitnessStandIn.send(exchange, 200, "text/plain", line(signed, at));
            };
        }

        private String line(String text, Instant at) {
            byte[] signature =
                    Unchecked.call(() -> {
                        Signature signing = Signature.getInstance("Ed25519");
                        signing.initSign(pair.getPrivate());
                        signing.update(
                                CosignedNote.message(at, text).getBytes(StandardCharsets.UTF_8));
                        return signing.sign();
                    });
            byte[] bytes =
                    ByteBuffer.allocate(12 + signature.length)
                            .putInt(key().id())
                            .putLong(at.getEpochSecond())
                            .put(signature)
                            .array();
            return "\u2014 %s %s\n".formatted(name, Base64Text.of(bytes));
        }
    }

    private static Map<String, Answering> faults(WitnessStandIn witness) {
        UnaryOperator<String> same = UnaryOperator.identity();
        Map<String, Answering> faults = new TreeMap<>();
        faults.put("HTML", WitnessStandIn.with(200, "text/html", "<html>Welcome</html>"));
        faults.put("10 MB", WitnessStandIn.with(200, "text/plain", "x".repeat(10 << 20)));
        faults.put("nothing", WitnessStandIn.with(200, "text/plain", ""));
        faults.put("no answer", witness.never());
        faults.put(
                "another log's",
                KEYS.cosigning(NOW, text -> text.replace("log.example", "other.example")));
        faults.put("another key's", new Keys("w.example/3").cosigning(NOW, same));
        faults.put("another key of its name", new Keys("w.example/2").cosigning(NOW, same));
        faults.put("an old time", KEYS.cosigning(NOW.minusSeconds(121), same));
        faults.put("a later time", KEYS.cosigning(NOW.plusSeconds(121), same));
        faults.put("an invalid time", KEYS.cosigning(Instant.ofEpochSecond(-1), same));
        faults.put("a redirect", WitnessStandIn.with(302, "text/plain", ""));
        faults.put("a size in HTML", WitnessStandIn.with(409, "text/html", "7"));
        faults.put("no size", WitnessStandIn.with(409, "text/x.tlog.size", "seven"));
        faults.put("the size that it was sent", WitnessStandIn.with(409, "text/x.tlog.size", "0"));
        faults.put("an unknown log", WitnessStandIn.with(404, "text/plain", "no"));
        faults.put("a busy one", WitnessStandIn.with(503, "text/plain", "no"));
        return faults;
    }

    private WitnessSender sender(WitnessStandIn witness, Duration timeout, SeenHistory history) {
        WitnessPolicy policy =
                WitnessPolicy.of(
                        "log %s\nwitness two %s %s\nquorum two\n"
                                .formatted(
                                        Seals.NOTES.key(1).text(),
                                        KEYS.key().text(),
                                        witness.url()));
        return new WitnessSender(
                policy,
                new GuardedHttp(new Destinations(List.of("127.0.0.1"))),
                timeout,
                new PostgresWitnesses(connections),
                history,
                InstantSource.fixed(NOW));
    }

    private void round(WitnessSender sender) {
        database.runAsSuperuser("UPDATE work.sealing SET witnesses_asked_at = NULL");
        assertTrue(sender.round());
    }

    @TestFactory
    Stream<DynamicTest> a_fault_changes_nothing() {
        var _ = Seals.noted(database);
        WitnessStandIn witness = new WitnessStandIn(WitnessStandIn.with(500, "x", ""));
        return faults(witness).entrySet().stream()
                .map(fault ->
                        dynamicTest(
                                fault.getKey(), () -> changesNothing(witness, fault.getValue())))
                .onClose(witness::close);
    }

    private void changesNothing(WitnessStandIn witness, Answering fault) {
        SeenHistory history = new SeenHistory(connections, Optional.empty());
        witness.answers(fault);
        round(sender(witness, Duration.ofMillis(500), history));
        assertEquals(0, history.lost());
        database.assertRows("SELECT count(*) FROM audit.cosignature", "0");
        database.assertRows("SELECT count(*) FROM runtime.witness", "0");
        database.assertRows("SELECT witnessed_at IS NULL FROM runtime.sealing", "t");
    }

    @TestFactory
    Stream<DynamicTest> lines_of_others_and_clocks_two_minutes_off_are_no_fault() {
        UnaryOperator<String> same = UnaryOperator.identity();
        Answering good = KEYS.cosigning(NOW.minusSeconds(119), same);
        Answering among =
                (exchange, request) -> {
                    String note = request.substring(request.indexOf("\n\n") + 2);
                    String text = SignedNote.parse(note).text();
                    WitnessStandIn.send(
                            exchange,
                            200,
                            "text/plain",
                            new Keys("x").line(text, NOW) + KEYS.line(text, NOW));
                };
        return Stream.of(Map.entry("a clock", good), Map.entry("another line", among))
                .map(each ->
                        dynamicTest(
                                each.getKey(),
                                () -> {
                                    long size =
                                            Seals.noted(database).treeHead().orElseThrow().size();
                                    try (WitnessStandIn witness =
                                            new WitnessStandIn(each.getValue())) {
                                        round(
                                                sender(
                                                        witness,
                                                        Duration.ofSeconds(10),
                                                        new SeenHistory(
                                                                connections, Optional.empty())));
                                        assertTrue(
                                                witness.requests
                                                        .getFirst()
                                                        .startsWith(
                                                                size == 1
                                                                        ? "old 0\n\n"
                                                                        : "old 1\n"));
                                    }
                                    database.assertRows(
                                            "SELECT count(*) FROM audit.cosignature WHERE size = "
                                                    + size,
                                            "1");
                                }));
    }
}
