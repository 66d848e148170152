package io.mintmark.base.file;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;

/**
 * Reads files that settings name. Only regular ones are opened: opening a named pipe waits for a
 * writer, and what is read from a device or a socket may have no end.
 */
public final class RegularFile {
    private RegularFile() {}

    /**
     * A file isn't a regular file, or is too large. The message is the end of a sentence about the
     * file.
     */
    public static final class Unfit extends IOException {
        private static final long serialVersionUID = 1L;

        private final String message;

        private Unfit(String message) {
            super(message);
            this.message = message;
        }

        @Override
        public String getMessage() {
            return message;
        }
    }

    /**
     * Reads a file of limited size.
     *
     * @param most bytes that the file may have
     * @throws Unfit if the file isn't a regular file, with links followed, or has more bytes
     */
    public static byte[] read(Path file, int most, OpenOption... options) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new Unfit("is not a regular file");
        }
        try (InputStream in = Files.newInputStream(file, options)) {
            byte[] bytes = in.readNBytes(most + 1);
            if (bytes.length > most) {
                throw new Unfit("is larger than %d bytes".formatted(most));
            }
            return bytes;
        }
    }

    /** Reads a regular file as UTF-8, and refuses anything else. */
    public static String text(Path file, int most) throws IOException {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(read(file, most)))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new Unfit("isn't text in UTF-8");
        }
    }
}
