package io.mintmark.provider.postgresql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.RawServer;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.MintResult.Failed;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/** Servers that are no PostgreSQL, or one that means harm. */
class HostilePostgresTest {
    /** Of a mint that ends with it. */
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    /** Any deadline that is not kept, and no pause of a loaded machine. */
    private static final Duration FAR_LATER = Duration.ofMinutes(2);

    @TempDir Path secrets;

    private final ByteArrayOutputStream received = new ByteArrayOutputStream();

    /** What a server does after it was told who connects. */
    private interface Lie {
        void to(OutputStream out, DataInputStream in) throws IOException, InterruptedException;
    }

    /** A server that is found out long before the deadline. */
    private Failed failed(Lie lie) throws Exception {
        return failed(Eventually.PATIENCE, lie);
    }

    private Failed failed(Duration timeout, Lie lie) throws Exception {
        try (RawServer server =
                RawServer.serving(client -> {
                    DataInputStream in = new DataInputStream(client.getInputStream());
                    in.readNBytes(in.readInt() - Integer.BYTES);
                    lie.to(client.getOutputStream(), in);
                    received.writeBytes(in.readAllBytes());
                })) {
            Target target = new Target(server.port(), secrets);
            Instant began = Instant.now();

            Failed failed =
                    Target.failed(
                            target.key("{'role': 'app_rw'}").within(timeout).mint(target.type()));

            Duration taken = Duration.between(began, Instant.now());
            assertTrue(taken.compareTo(FAR_LATER) < 0, taken::toString);
            return failed;
        }
    }

    private static byte[] message(char type, byte[] content) {
        return ByteBuffer.allocate(5 + content.length)
                .put((byte) type)
                .putInt(4 + content.length)
                .put(content)
                .array();
    }

    private static byte[] authentication(int code, String text) {
        byte[] content = text.getBytes(StandardCharsets.US_ASCII);
        return message(
                'R', ByteBuffer.allocate(4 + content.length).putInt(code).put(content).array());
    }

    private static void assertFailed(Reason reason, String detail, Failed failed) {
        assertTrue(failed.detail().contains(detail), failed.detail());
        assertEquals(reason, failed.reason(), failed.detail());
    }

    @Test
    void one_that_says_nothing_has_until_the_deadline() throws Exception {
        assertFailed(
                Reason.PROVIDER_TIMEOUT,
                "didn't respond in time",
                failed(TIMEOUT, (_, in) -> in.readAllBytes()));
    }

    @Test
    void one_that_drips_has_until_the_deadline() throws Exception {
        assertFailed(
                Reason.PROVIDER_TIMEOUT,
                "didn't respond in time",
                failed(
                        TIMEOUT,
                        (out, _) -> {
                            out.write(new byte[] {'E', 0, 0, (byte) 0x80, 0});
                            for (int i = 0; i < 3_000; i++) {
                                out.write('S');
                                out.flush();
                                Thread.sleep(100);
                            }
                        }));
    }

    @Test
    void a_web_server_is_none() throws Exception {
        assertFailed(
                Reason.PROVIDER_UNREACHABLE,
                "announces a message",
                failed((out, _) ->
                        out.write("HTTP/1.1 400 Bad\r\n\r\n".getBytes(StandardCharsets.US_ASCII))));
    }

    @Test
    void a_message_of_two_gigabytes_is_not_read() throws Exception {
        assertFailed(
                Reason.PROVIDER_UNREACHABLE,
                "announces a message of 2147483647 bytes",
                failed((out, _) -> out.write(new byte[] {'E', 127, -1, -1, -1})));
    }

    @Test
    void notices_without_end_have_one() throws Exception {
        byte[] notice = message('N', "SNOTICE\0Mhello\0\0".getBytes(StandardCharsets.US_ASCII));
        Failed failed =
                failed((out, _) -> {
                    for (int i = 0; i < 1_000_000; i++) {
                        out.write(notice);
                    }
                });

        assertTrue(
                failed.reason() == Reason.PROVIDER_UNREACHABLE
                        || failed.reason() == Reason.PROVIDER_ERROR,
                failed::toString);
    }

    @Test
    void the_password_is_not_sent_to_one_that_asks_for_it() throws Exception {
        for (int code : new int[] {3, 5}) {
            assertFailed(
                    Reason.PROVIDER_MISCONFIGURED,
                    "SQLSTATE 08004",
                    failed((out, _) -> out.write(authentication(code, code == 5 ? "salt" : ""))));
        }
        assertFalse(
                received.toString(StandardCharsets.UTF_8).contains(TargetServer.BROKER_PASSWORD));
    }

    @Test
    void one_that_lets_anybody_in_does_not_know_the_password() throws Exception {
        assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                "SQLSTATE 08004",
                failed((out, _) -> out.write(authentication(0, ""))));
    }

    @Test
    void rounds_of_hashing_without_end_are_refused() throws Exception {
        Failed failed =
                failed((out, in) -> {
                    out.write(authentication(10, "SCRAM-SHA-256\0\0"));
                    in.readByte();
                    String first =
                            new String(
                                    in.readNBytes(in.readInt() - Integer.BYTES),
                                    StandardCharsets.US_ASCII);
                    String nonce = first.substring(first.indexOf("r=") + 2);
                    out.write(
                            authentication(
                                    11,
                                    "r=%sx,s=c2FsdHNhbHRzYWx0c2FsdA==,i=2147483647"
                                            .formatted(nonce)));
                });

        assertFalse(failed.reason() == Reason.PROVIDER_TIMEOUT, failed::toString);
    }
}
