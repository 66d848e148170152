package io.mintmark.http.connection;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.http.RequestException;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ServerConnectionException;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Reads what a client sends, and keeps to the letter of chunked bodies (RFC 9112 section 7.1) where
 * the server doesn't: a chunk's size is a short line of hexadecimal digits, its data end with CRLF.
 * Extensions and trailers are refused. A client that leaves, whenever it does, ends the connection
 * and nothing else.
 */
final class StrictReader extends DataReader {
    private static final Pattern SIZE = Pattern.compile("[0-9A-Fa-f]{1,8}");
    private static final Pattern METHOD = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+ ");
    private static final Pattern ZERO = Pattern.compile("0+");
    private static final int LONGEST_LINE = 10;
    private static final int CRLF = 2;

    /** What comes next in a chunked body. */
    private enum Next {
        SIZE,
        DATA,
        END
    }

    private final Conversation conversation;
    private Next next = Next.SIZE;

    StrictReader(Supplier<byte[]> socket, Conversation conversation) {
        super(() -> receive(socket, conversation));
        this.conversation = conversation;
    }

    private static byte[] receive(Supplier<byte[]> socket, Conversation conversation) {
        conversation.receives();
        byte[] bytes;
        try {
            bytes = conversation.onClient(socket);
        } catch (UncheckedIOException e) {
            throw new ServerConnectionException("the connection broke", e);
        }
        if (bytes == null) {
            throw new CloseConnectionException("the client has left");
        }
        conversation.hasReceived();
        return bytes;
    }

    /** Every request begins with the search for the end of its line. */
    @Override
    public int findNewLine(int max) {
        if (conversation.isLast()) {
            throw new CloseConnectionException("the last answer is given");
        }
        return super.findNewLine(max);
    }

    /** A request's line is read in bytes. The server chokes on one whose method is none. */
    @Override
    public byte[] readBytes(int length) {
        byte[] bytes = super.readBytes(length);
        if (conversation.awaitsLine()
                && !METHOD.matcher(new String(bytes, StandardCharsets.ISO_8859_1)).lookingAt()) {
            throw broken("no method");
        }
        return bytes;
    }

    /** Lines are what separates chunks. */
    @Override
    public String readLine() {
        if (next == Next.DATA) {
            throw broken("a chunk that wasn't wanted"); // and what follows isn't a line
        }
        String line = readShortLine();
        next = next == Next.END ? afterEnd(line) : afterSize(line);
        return line;
    }

    private Next afterSize(String line) {
        if (!SIZE.matcher(line).matches()) {
            throw broken("not a chunk's size");
        }
        return ZERO.matcher(line).matches() ? Next.END : Next.DATA;
    }

    private Next afterEnd(String line) {
        if (!line.isEmpty()) {
            throw broken("a trailer");
        }
        conversation.body().lastChunkTaken();
        return Next.SIZE;
    }

    private String readShortLine() {
        try {
            int end = findNewLine(LONGEST_LINE);
            if (end == LONGEST_LINE) {
                throw broken("a chunk's size in too many digits");
            }
            String line = readAsciiString(end);
            skip(CRLF);
            return line;
        } catch (IncorrectNewLineException e) {
            throw broken("half a line end after a chunk's size");
        }
    }

    /** Buffers are what bodies are read in. */
    @Override
    public BufferData readBuffer(int length) {
        BufferData data = getBuffer(length);
        super.skip(length);
        conversation.body().taken(length);
        next = Next.SIZE;
        return data;
    }

    /** Two bytes are only ever skipped where a line end stands. */
    @Override
    public void skip(int length) {
        if (length == CRLF && !startsWithNewLine()) {
            throw broken("no line end after a chunk");
        }
        super.skip(length);
    }

    /**
     * Meant for messages; the server's own waits for more data to show, and shows what is secret.
     */
    @Override
    public String debugDataHex() {
        return "";
    }

    private RequestException broken(String why) {
        return BadFraming.in(conversation.request(), why);
    }
}
