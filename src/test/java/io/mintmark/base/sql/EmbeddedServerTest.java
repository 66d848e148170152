package io.mintmark.base.sql;

import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.UncheckedIOException;
import java.nio.file.Path;

class EmbeddedServerTest {
    @Test
    void no_test_meets_the_server_of_another(@TempDir Path directory) {
        int taken = TestServer.address().port();

        assertThrows(
                UncheckedIOException.class,
                () ->
                        EmbeddedServer.start(
                                EmbeddedServer.builder(), directory.resolve("data"), taken));
    }
}
