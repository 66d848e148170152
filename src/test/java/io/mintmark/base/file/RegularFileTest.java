package io.mintmark.base.file;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

@EnabledOnOs(OS.LINUX)
@Timeout(Eventually.SECONDS)
class RegularFileTest {
    private static final String IRREGULAR = "is not a regular file";

    @TempDir private Path directory;

    private static String refusal(Path file) {
        return assertThrows(RegularFile.Unfit.class, () -> RegularFile.read(file, 100))
                .getMessage();
    }

    @Test
    void a_regular_file_is_read_itself_and_through_a_link() throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[100]);
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);

        assertArrayEquals(new byte[100], RegularFile.read(file, 100));
        assertArrayEquals(new byte[100], RegularFile.read(link, 100));
    }

    @Test
    void pipes_devices_sockets_and_directories_are_not_even_opened() throws Exception {
        Path pipe = directory.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        Path socket = directory.resolve("socket");

        assertEquals(IRREGULAR, refusal(pipe));
        assertEquals(
                IRREGULAR, refusal(Files.createSymbolicLink(directory.resolve("to-pipe"), pipe)));
        assertEquals(IRREGULAR, refusal(Path.of("/dev/zero")));
        assertEquals(
                IRREGULAR,
                refusal(
                        Files.createSymbolicLink(
                                directory.resolve("to-device"), Path.of("/dev/random"))));
        assertEquals(IRREGULAR, refusal(directory));
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            assertEquals(IRREGULAR, refusal(socket));
        }
    }

    @Test
    void a_file_that_is_too_long_or_is_no_text_says_so() throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[101]);
        assertEquals("is larger than 100 bytes", refusal(file));

        Files.write(file, new byte[] {(byte) 0xff});
        assertEquals(
                "isn't text in UTF-8",
                assertThrows(RegularFile.Unfit.class, () -> RegularFile.text(file, 100))
                        .getMessage());
    }

    @Test
    void a_file_or_link_that_leads_nowhere_does_not_exist() throws Exception {
        Path gone = directory.resolve("gone");
        Path link = Files.createSymbolicLink(directory.resolve("link"), gone);

        assertThrows(NoSuchFileException.class, () -> RegularFile.read(gone, 100));
        assertThrows(NoSuchFileException.class, () -> RegularFile.read(link, 100));
    }
}
