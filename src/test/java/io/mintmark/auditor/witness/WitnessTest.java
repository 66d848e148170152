package io.mintmark.auditor.witness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.note.Base64Text;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.base.output.CommandFailed;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;

class WitnessTest {
    private static final String ORIGIN = "mintmark.example.com/audit/1";
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    @TempDir private Path directory;
    private final TestLog log = new TestLog(ORIGIN).grow("a", "b", "c");

    private WitnessPolicy policy() {
        return WitnessPolicy.of("log %s\nquorum none\n".formatted(log.key().text()));
    }

    private Witness witness() throws IOException {
        return new Witness(
                policy(),
                directory.resolve("state"),
                "witness.example/1",
                InstantSource.fixed(NOW));
    }

    private static void refused(int status, Witness.Answer answer) {
        assertEquals(status, answer.status(), answer::toString);
        assertTrue(!answer.body().contains("\u2014"), "no cosignature");
    }

    /** The cosignature of an answer is what c2sp.org/tlog-cosignature describes. */
    private static void cosigned(NoteKey key, String text, Witness.Answer answer) {
        assertEquals(200, answer.status(), answer::toString);
        String prefix = "\u2014 witness.example/1 ";
        assertTrue(answer.body().startsWith(prefix) && answer.body().endsWith("\n"));
        ByteBuffer bytes =
                ByteBuffer.wrap(Base64Text.bytes(answer.body().substring(prefix.length()).strip()));
        assertEquals(key.id(), bytes.getInt());
        assertEquals(NOW.getEpochSecond(), bytes.getLong());
        byte[] message =
                "cosignature/v1\ntime %d\n%s"
                        .formatted(NOW.getEpochSecond(), text)
                        .getBytes(StandardCharsets.UTF_8);
        byte[] signature = Arrays.copyOfRange(bytes.array(), bytes.position(), bytes.capacity());
        assertTrue(key.verifies(message, signature));
    }

    @Test
    void a_log_that_grows_gets_a_cosignature_each_time() throws Exception {
        try (Witness witness = witness()) {
            cosigned(witness.key(), log.text(), witness.addCheckpoint(log.submission(0)));
            log.grow("d", "e");
            cosigned(witness.key(), log.text(), witness.addCheckpoint(log.submission(3)));
            cosigned(witness.key(), log.text(), witness.addCheckpoint(log.submission(5)));
        }
    }

    @Test
    void a_second_history_is_never_cosigned_not_even_after_a_restart() throws Exception {
        TestLog other = log.fork(2).grow("x");
        NoteKey key;
        try (Witness witness = witness()) {
            key = witness.key();
            cosigned(key, log.text(), witness.addCheckpoint(log.submission(0)));
            refused(409, witness.addCheckpoint(other.submission(3)));
        }
        try (Witness again = witness()) {
            assertEquals(key, again.key());
            refused(409, again.addCheckpoint(other.submission(3)));
            Witness.Answer conflict = again.addCheckpoint(other.submission(0));
            refused(409, conflict);
            assertEquals("3\n", conflict.body());
            assertEquals("text/x.tlog.size", conflict.type());
            other.grow("y", "z");
            refused(422, again.addCheckpoint(other.submission(3)));
            refused(409, again.addCheckpoint(other.submission(2)));
            log.grow("d");
            cosigned(key, log.text(), again.addCheckpoint(log.submission(3)));
        }
    }

    @Test
    void a_smaller_tree_and_one_without_proof_are_refused() throws Exception {
        try (Witness witness = witness()) {
            TestLog before = log.fork(2);
            cosigned(witness.key(), log.text(), witness.addCheckpoint(log.submission(0)));
            refused(400, witness.addCheckpoint("old 3\n\n" + before.checkpoint()));
            log.grow("d");
            refused(422, witness.addCheckpoint("old 3\n\n" + log.checkpoint()));
        }
    }

    @Test
    void other_logs_and_signatures_are_refused() throws Exception {
        try (Witness witness = witness()) {
            refused(404, witness.addCheckpoint(new TestLog("other").submission(0)));
            refused(403, witness.addCheckpoint(new TestLog(ORIGIN).submission(0)));
            refused(403, witness.addCheckpoint(log.submission(0).replace("\n3\n", "\n4\n")));
        }
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            textBlock =
                    """
                    old 0
                    old 00
                    new 0
                    old x
                    old -1
                    """)
    void what_is_no_submission_is_refused(String first) throws Exception {
        try (Witness witness = witness()) {
            String whole = log.submission(0);
            String changed =
                    first.equals("old 0")
                            ? "old 0\n" + "AAAA\n".repeat(64) + whole.substring("old 0\n".length())
                            : whole.replaceFirst("old 0", first);
            refused(400, witness.addCheckpoint(changed));
            refused(400, witness.addCheckpoint(""));
            refused(400, witness.addCheckpoint("old 0\n\n<html></html>"));
        }
    }

    @Test
    void one_process_uses_a_state_and_a_broken_one_stops_the_start() throws Exception {
        try (Witness witness = witness()) {
            cosigned(witness.key(), log.text(), witness.addCheckpoint(log.submission(0)));
            String why = assertThrows(CommandFailed.class, this::witness).getMessage();
            assertTrue(String.valueOf(why).contains("another witness is using"), why);
        }
        Files.writeString(directory.resolve("state/heads"), "3 x\n");
        String why = assertThrows(CommandFailed.class, this::witness).getMessage();
        assertTrue(String.valueOf(why).contains("didn't write"), why);
    }

    @Test
    void a_state_that_cannot_be_written_cosigns_nothing() throws Exception {
        try (Witness witness = witness()) {
            Files.createDirectories(directory.resolve("state/heads.partial/in the way"));
            assertThrows(IOException.class, () -> witness.addCheckpoint(log.submission(0)));
        }
    }

    @Test
    void it_answers_by_http() throws Exception {
        try (Witness witness = witness();
                WitnessServer server =
                        new WitnessServer(
                                witness,
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                HttpClient client = HttpClient.newHttpClient()) {
            URI at = URI.create("http://localhost:%d/add-checkpoint".formatted(server.port()));
            HttpResponse<String> answer = post(client, at, log.submission(0));
            cosigned(
                    witness.key(),
                    log.text(),
                    new Witness.Answer(answer.statusCode(), "", answer.body()));
            HttpResponse<String> conflict = post(client, at, log.fork(1).submission(0));
            assertEquals(409, conflict.statusCode());
            assertEquals(
                    "text/x.tlog.size",
                    conflict.headers().firstValue("Content-Type").orElseThrow());
            assertEquals(413, post(client, at, "x".repeat(70_000)).statusCode());
            assertEquals(404, post(client, at.resolve("/other"), "").statusCode());
            assertEquals(
                    405,
                    client.send(HttpRequest.newBuilder(at).build(), BodyHandlers.ofString())
                            .statusCode());
        }
    }

    @Test
    void only_its_own_program_is_limited() throws Exception {
        String before = System.getProperty("jdk.httpserver.maxConnections");
        try (Witness witness = witness();
                WitnessServer _ =
                        new WitnessServer(
                                witness,
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            assertEquals(before, System.getProperty("jdk.httpserver.maxConnections"));
        }
    }

    private static HttpResponse<String> post(HttpClient client, URI at, String body)
            throws Exception {
        return client.send(
                HttpRequest.newBuilder(at).POST(BodyPublishers.ofString(body)).build(),
                BodyHandlers.ofString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    quorum none                           | no log to witness
                    log KEY                               | exactly one line
                    log KEY~quorum none~quorum none       | exactly one line
                    log KEY~log KEY~quorum none           | line 2: the key is already on an earlier line
                    log KEY http://a b~quorum none        | line 1: a log must be
                    log none~quorum none                  | line 1: is not a key
                    logs KEY~quorum none                  | line 1: a line must begin with log, witness, group or quorum, not 'logs'
                    log KEY~quorum w                      | line 2: 'w' isn't defined on an earlier line
                    log KEY~witness w KEY~quorum w        | line 2: is not an Ed25519 key of type 4
                    log KEY~witness none COKEY~quorum w   | line 2: the name 'none' is already used
                    log KEY~witness w COKEY~group g 2 w~quorum g | line 3: a group requires more members than it has
                    log KEY~witness w COKEY~group g some w~quorum g | line 3: a group must require all, any or a number of its members
                    log KEY~group g any w~quorum g        | line 2: 'w' isn't defined on an earlier line
                    log KEY~witness w COKEY~group g all w~group h all w~quorum h | line 4: 'w' is already in a group
                    """)
    void a_policy_that_cannot_be_met_gets_a_sentence(String policy, String why) {
        String message =
                assertThrows(IllegalArgumentException.class, () -> WitnessPolicy.of(with(policy)))
                        .getMessage();
        assertTrue(String.valueOf(message).contains(why), message);
    }

    private String with(String policy) {
        NoteKey cosigner = new NoteKey("w", NoteKey.Type.COSIGNATURE, log.key().raw());
        return policy.replace("COKEY", cosigner.text())
                .replace("KEY", log.key().text())
                .replace('~', '\n');
    }

    @Test
    void a_policy_with_groups_and_comments_is_read() {
        WitnessPolicy policy =
                WitnessPolicy.of(
                        with(
                                "# logs~~ log\tKEY https://mintmark.example.com ~witness w COKEY~group g any"
                                        + " w~group h all g~quorum h~"));
        assertEquals(1, policy.keys(ORIGIN).size());
        NoteKey second = new NoteKey("x/audit/2", NoteKey.Type.NOTE, log.key().raw());
        String both = "log KEY~log %s~quorum none".formatted(second.text());
        assertEquals(1, WitnessPolicy.of(with(both)).keys("x/audit/2").size());
        assertEquals(0, policy.keys("other").size());
    }
}
