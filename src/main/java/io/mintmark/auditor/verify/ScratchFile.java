package io.mintmark.auditor.verify;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A temporary file without a name: it is deleted as soon as it is open, so that nothing of the log
 * stays behind, even if the process is killed. It needs space until it is closed.
 */
public final class ScratchFile implements AutoCloseable {
    private static final int BUFFER = 32 * 1024;

    private final FileChannel channel;

    public ScratchFile() throws IOException {
        Path path = Files.createTempFile("mintmark-", ".scratch");
        try {
            // on Unix, the name is gone when this returns
            this.channel =
                    FileChannel.open(
                            path,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE,
                            StandardOpenOption.DELETE_ON_CLOSE);
        } catch (IOException e) {
            Files.deleteIfExists(path);
            throw e;
        }
    }

    /** A stream that appends to the file. Closing the stream only flushes it. */
    public OutputStream output() {
        return new BufferedOutputStream(new Appended(), BUFFER);
    }

    /** Reads from a position on, whatever else reads. */
    public InputStream input(long from, int buffer) {
        return new BufferedInputStream(new Positioned(from), buffer);
    }

    public InputStream input() {
        return input(0, BUFFER);
    }

    /** Reads bytes at a position, as many as there are room and bytes for. */
    public void read(ByteBuffer into, long from) throws IOException {
        var _ = channel.read(into, from);
    }

    public long size() throws IOException {
        return channel.size();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private final class Appended extends OutputStream {
        private final OutputStream out = Channels.newOutputStream(channel);

        @Override
        public void write(int one) throws IOException {
            out.write(one);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            out.write(bytes, from, length);
        }
    }

    private final class Positioned extends InputStream {
        private long at;

        Positioned(long from) {
            this.at = from;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int from, int length) throws IOException {
            int read = channel.read(ByteBuffer.wrap(into, from, length), at);
            at += Math.max(0, read);
            return read;
        }

        @Override
        public long skip(long bytes) {
            at += bytes;
            return bytes;
        }
    }
}
