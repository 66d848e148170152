package io.mintmark.auditor.witness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.note.NoteKey;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** {@code mintmark audit witness} as a process, which is killed while it works. */
@Tag("heavy")
class KilledWitnessTest {
    private static final int KILLS = 3;
    private static final int ANSWERS = 40;

    @TempDir private Path directory;
    private final TestLog log = new TestLog("mintmark.example.com/audit/1").grow("first");
    private final HttpClient client = HttpClient.newHttpClient();

    /** A running witness. */
    private record Running(Process process, NoteKey key, URI address) {}

    private record Posted(int status, String body) {}

    private Process start(String name) throws IOException {
        Files.writeString(
                directory.resolve("policy"), "log " + log.key().text() + "\nquorum none\n");
        ProcessBuilder builder =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "io.mintmark.Main",
                                "audit",
                                "witness",
                                "--listen",
                                "127.0.0.1:0",
                                "--policy",
                                directory.resolve("policy").toString(),
                                "--state",
                                directory.resolve("state").toString(),
                                "--name",
                                name)
                        .redirectErrorStream(true);
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        return builder.start();
    }

    private Running running() throws IOException {
        Process process = start("witness.example/1");
        BufferedReader lines = process.inputReader();
        String key = lines.readLine();
        String listens = lines.readLine();
        assertTrue(listens.contains("witness witness.example/1 listens on port "), listens);
        String port = listens.substring(listens.lastIndexOf(' ') + 1);
        return new Running(
                process,
                NoteKey.parse(key, NoteKey.Type.COSIGNATURE),
                URI.create("http://127.0.0.1:%s/add-checkpoint".formatted(port)));
    }

    private Posted post(Running to, String body) throws Exception {
        var answer =
                client.send(
                        HttpRequest.newBuilder(to.address())
                                .POST(BodyPublishers.ofString(body))
                                .build(),
                        BodyHandlers.ofString());
        return new Posted(answer.statusCode(), answer.body());
    }

    /** Grows the log until the witness is gone; returns the last size that it cosigned. */
    private int cosigned(Running to, int from) throws Exception {
        int last = from;
        try {
            while (true) {
                Posted posted = post(to, log.submission(last));
                assertEquals(200, posted.status(), posted::toString);
                last = size();
                log.grow("leaf " + last);
                if (last % ANSWERS == 0) {
                    var _ = to.process().destroyForcibly();
                }
            }
        } catch (IOException e) {
            return last; // its answer may have been lost
        }
    }

    private int size() {
        return Integer.parseInt(log.text().lines().toList().get(1));
    }

    @Test
    void what_it_cosigned_is_known_to_it_after_it_was_killed() throws Exception {
        int last = 0;
        Set<NoteKey> keys = new HashSet<>();
        for (int kill = 0; kill < KILLS; kill++) {
            Running witness = running();
            keys.add(witness.key());
            if (last > 0) {
                TestLog other = log.fork(last - 1).grow("another history");
                Posted conflict = post(witness, other.submission(last));
                assertNotEquals(200, conflict.status(), conflict::toString);
                Posted known = post(witness, log.submission(0));
                assertEquals(409, known.status());
                int size = Integer.parseInt(known.body().strip());
                assertTrue(last <= size && size <= last + 1, known::toString);
                last = size;
            }
            int before = last;
            last = cosigned(witness, last);
            assertTrue(last > before);
            assertTrue(witness.process().waitFor(Eventually.SECONDS, TimeUnit.SECONDS));
        }
        assertEquals(1, keys.size(), "the key stays");
    }

    @Test
    void a_connection_beyond_its_hundred_is_closed_at_once() throws Exception {
        Running witness = running();
        InetSocketAddress at =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), witness.address().getPort());
        List<SocketChannel> idle = new ArrayList<>();
        try {
            for (int i = 0; i < 100; i++) {
                idle.add(SocketChannel.open(at));
            }
            try (Socket more = new Socket(at.getAddress(), at.getPort())) {
                more.setSoTimeout(9_000); // an idle one is closed after 10 s
                assertEquals(-1, more.getInputStream().read());
            }
        } finally {
            for (SocketChannel channel : idle) {
                channel.close();
            }
            witness.process().destroy();
        }
    }

    @Test
    void a_second_process_and_a_name_with_a_space_are_refused() throws Exception {
        Running witness = running();
        Process second = start("witness.example/1");
        assertTrue(second.waitFor(Eventually.SECONDS, TimeUnit.SECONDS));
        assertEquals(1, second.exitValue());
        String said = new String(second.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(said.contains("another witness is using"), said);
        witness.process().destroy();
        assertTrue(
                witness.process().waitFor(Eventually.SECONDS, TimeUnit.SECONDS),
                "it stops when told to");

        Process odd = start("two words");
        assertTrue(odd.waitFor(Eventually.SECONDS, TimeUnit.SECONDS));
        assertEquals(1, odd.exitValue());
    }
}
