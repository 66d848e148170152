package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Migrations of a release don't change under its version. Each release leaves {@code
 * VERSION.sha256}, what {@code sha256sum *.sql} prints in db/migration.
 */
class ReleasedMigrationsTest {
    private static final Path RELEASED = Path.of("src", "test", "resources", "released-migrations");

    @TempDir private Path directory;

    @BeforeEach
    void release() throws Exception {
        write("V01__one.sql", "one");
        write("R__01_two.sql", "two");
        Files.createDirectories(directory.resolve("released"));
        List<String> lines = new ArrayList<>();
        sums(directory).forEach((name, sum) -> lines.add(sum + "  " + name));
        Files.write(directory.resolve("released/40.sha256"), lines);
    }

    private void write(String name, String content) throws IOException {
        Files.writeString(directory.resolve(name), content);
    }

    private List<String> changes(int version) throws Exception {
        return changes(directory.resolve("released"), sums(directory), version);
    }

    private static List<String> changes(Path released, Map<String, String> now, int version)
            throws IOException {
        List<String> changes = new ArrayList<>();
        try (Stream<Path> files = Files.list(released)) {
            for (Path file : files.filter(it -> it.toString().endsWith(".sha256")).toList()) {
                int then = Integer.parseInt(file.getFileName().toString().replace(".sha256", ""));
                Map<String, String> sums = new TreeMap<>();
                Files.readAllLines(file)
                        .forEach(line -> sums.put(line.substring(66), line.substring(0, 64)));
                sums.forEach((name, sum) -> {
                    if (name.startsWith("V") && !sum.equals(now.get(name))) {
                        changes.add(name + " was released and never changes");
                    }
                });
                if (then == version && !sums.equals(now)) {
                    changes.add("raise SchemaVersion.OURS: %d was released".formatted(then));
                }
            }
        }
        return changes;
    }

    private static Map<String, String> sums(Path migrations)
            throws IOException, NoSuchAlgorithmException {
        Map<String, String> sums = new TreeMap<>();
        try (Stream<Path> files = Files.list(migrations)) {
            for (Path file : files.filter(it -> it.toString().endsWith(".sql")).toList()) {
                byte[] digest =
                        MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
                sums.put(file.getFileName().toString(), HexFormat.of().formatHex(digest));
            }
        }
        return sums;
    }

    @Test
    void migrations_are_as_they_were_released() throws Exception {
        assertEquals(
                List.of(), changes(RELEASED, sums(MigrationFile.DIRECTORY), SchemaVersion.OURS));
    }

    @Test
    void a_repeatable_file_changes_with_the_version() throws Exception {
        assertEquals(List.of(), changes(40));
        write("R__01_two.sql", "changed");
        assertEquals(List.of("raise SchemaVersion.OURS: 40 was released"), changes(40));
        assertEquals(List.of(), changes(41));
    }

    @Test
    void a_file_is_added_with_the_version() throws Exception {
        write("V02__more.sql", "more");
        assertEquals(List.of("raise SchemaVersion.OURS: 40 was released"), changes(40));
        assertEquals(List.of(), changes(41));
    }

    @Test
    void a_versioned_file_never_changes() throws Exception {
        write("V01__one.sql", "changed");
        assertEquals(List.of("V01__one.sql was released and never changes"), changes(41));
    }
}
