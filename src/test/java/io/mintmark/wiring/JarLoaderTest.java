package io.mintmark.wiring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

final class JarLoaderTest {
    private static final String CLASS = Inside.class.getName();
    private static final String FILE = CLASS.replace('.', '/') + ".class";

    @TempDir private Path directory;
    private JarLoader loader;

    /** What the jar holds. */
    static final class Inside {}

    @BeforeEach
    void pack() throws IOException {
        Path jar = directory.resolve("inside it.jar");
        try (var out = new ZipOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new ZipEntry(FILE));
            out.write(code());
        }
        loader = new JarLoader(jar);
    }

    private static byte[] code() throws IOException {
        try (InputStream in = Inside.class.getClassLoader().getResourceAsStream(FILE)) {
            return Objects.requireNonNull(in).readAllBytes();
        }
    }

    @Test
    void classes_are_the_jars_own_and_those_of_the_platform() throws Exception {
        Class<?> found = loader.loadClass(CLASS);

        assertSame(loader, found.getClassLoader());
        assertNotSame(Inside.class, found);
        assertSame(Object.class, found.getSuperclass());
        assertSame(found, Class.forName(CLASS, true, loader));
    }

    @Test
    void streams_are_the_jars() throws Exception {
        try (InputStream stream = loader.getResourceAsStream(FILE)) {
            assertArrayEquals(code(), Objects.requireNonNull(stream).readAllBytes());
        }
    }

    @Test
    void what_is_not_in_it_is_not_there() {
        String absent = JarLoaderTest.class.getName();

        var refused = assertThrows(ClassNotFoundException.class, () -> loader.loadClass(absent));

        assertEquals(absent, refused.getMessage());
        assertNull(loader.getResourceAsStream("absent"));
    }

    @Test
    void a_file_that_is_no_jar_is_refused() throws Exception {
        Path nonsense = Files.writeString(directory.resolve("nonsense.jar"), "nonsense");

        assertThrows(IOException.class, () -> new JarLoader(nonsense));
        assertThrows(IOException.class, () -> new JarLoader(directory.resolve("absent.jar")));
    }
}
