package io.mintmark.provider.postgresql;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

class ServerMessagesTest {

    private static byte[] message(char type, int length, byte... content) {
        return ByteBuffer.allocate(5 + content.length)
                .put((byte) type)
                .putInt(length)
                .put(content)
                .array();
    }

    private static byte[] read(byte[] sent) throws IOException {
        return new ServerMessages(new ByteArrayInputStream(sent)).readAllBytes();
    }

    private static String refusal(byte[] sent) {
        return String.valueOf(assertThrows(IOException.class, () -> read(sent)).getMessage());
    }

    @Test
    void messages_pass_unchanged() throws IOException {
        byte[] row =
                message(
                        'D',
                        16,
                        (byte) 0,
                        (byte) 2,
                        (byte) 0,
                        (byte) 0,
                        (byte) 0,
                        (byte) 2,
                        (byte) 'a',
                        (byte) 'b',
                        (byte) -1,
                        (byte) -1,
                        (byte) -1,
                        (byte) -1);

        assertArrayEquals(row, read(row));
        assertArrayEquals(message('Z', 5, (byte) 'I'), read(message('Z', 5, (byte) 'I')));
    }

    @Test
    void a_length_that_no_answer_has_is_refused_before_anything_is_read() {
        for (int length : new int[] {-1, 0, 3, ServerMessages.LONGEST + 1, Integer.MAX_VALUE}) {
            assertEquals(
                    "the server announces a message of %d bytes instead of 4 to %d"
                            .formatted(length, ServerMessages.LONGEST),
                    refusal(message('D', length)));
        }
        int length = ServerMessages.LONGEST_ERROR + 1;
        assertEquals(
                "the server announces a message of %d bytes instead of 4 to %d"
                        .formatted(length, ServerMessages.LONGEST_ERROR),
                refusal(message('E', length)));
    }

    @Test
    void of_a_long_error_only_the_beginning_is_kept() throws IOException {
        String fields = "SERROR\0C2BP01\0D" + "ж".repeat(ServerMessages.LONGEST) + "\0\0";
        byte[] sent = fields.getBytes(StandardCharsets.UTF_8);
        byte[] next = message('Z', 5, (byte) 'I');

        ByteBuffer read =
                ByteBuffer.wrap(
                        read(
                                ByteBuffer.allocate(5 + sent.length + next.length)
                                        .put(message('E', 4 + sent.length, sent))
                                        .put(next)
                                        .array()));

        assertEquals('E', read.get());
        assertEquals(ServerMessages.LONGEST, read.getInt());
        byte[] error = new byte[ServerMessages.LONGEST - Integer.BYTES];
        read.get(error);
        assertEquals(0, error[error.length - 1]);
        assertEquals(
                List.of("SERROR", "C2BP01"),
                List.of(new String(error, StandardCharsets.UTF_8).split("\0")).subList(0, 2));
        assertEquals('Z', read.get());
    }

    @Test
    void many_messages_have_a_limit() {
        byte[] half = message('E', ServerMessages.LONGEST, new byte[ServerMessages.LONGEST - 4]);
        ByteBuffer five = ByteBuffer.allocate(5 * half.length);
        for (int i = 0; i < 5; i++) {
            five.put(half);
        }
        assertEquals(
                "the server's messages exceed the limit for a connection", refusal(five.array()));
    }

    @Test
    void a_value_longer_than_its_row_is_refused() {
        for (int length : new int[] {Integer.MAX_VALUE, 3, -2, Integer.MIN_VALUE}) {
            byte[] value = ByteBuffer.allocate(8).putShort((short) 1).putInt(length).array();
            assertEquals(
                    "the server sends a row that is longer than its message",
                    refusal(message('D', 4 + value.length, value)));
        }
    }

    @Test
    void more_columns_than_the_row_has_are_refused() {
        assertEquals(
                "the server sends a row that is longer than its message",
                refusal(message('D', 6, (byte) -1, (byte) -1)));
    }

    @Test
    void half_a_message_is_refused() {
        assertEquals(
                "the server closed the connection in the middle of a message",
                refusal(message('E', 100)));
    }
}
