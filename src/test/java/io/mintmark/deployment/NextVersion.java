package io.mintmark.deployment;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/**
 * What the next release could be: the packed program with another number, a new table, and a view
 * that is dropped and created again with another column first.
 */
final class NextVersion {
    static final String NUMBER = "0.9999.0";

    private static final String MIGRATIONS = "db/migration/";
    private static final String VERSIONED = MIGRATIONS + "V9999__next.sql";
    private static final String SCRIPT =
            """
            CREATE TABLE runtime.of_the_next_version (id bigint PRIMARY KEY);
            DROP VIEW IF EXISTS audit.denial;
            """;

    /** What each changed repeatable file replaces by what. */
    private static final Map<String, Map<String, String>> CHANGES =
            Map.of(
                    MIGRATIONS + "R__10_audit_views.sql",
                    Map.of(
                            "SELECT e.mint_id, e.occurred_at,",
                            "SELECT 1 AS added, e.mint_id, e.occurred_at,"),
                    MIGRATIONS + "R__90_privileges.sql",
                    Map.of("${schema_version}", "${schema_version} + 1"),
                    MIGRATIONS + "R__99_schema_version.sql",
                    Map.of("${schema_version}", "${schema_version} + 1"));

    private NextVersion() {}

    /**
     * Makes it.
     *
     * @param packed where the launcher, the jar and its libraries are
     * @param directory an empty one
     * @return its launcher
     */
    static Path of(Path packed, Path directory) throws IOException {
        Files.createDirectories(directory);
        Files.createSymbolicLink(
                directory.resolve("libs"), packed.resolve("libs").toAbsolutePath());
        try (JarFile jar = new JarFile(packed.resolve("mintmark.jar").toFile());
                JarOutputStream next =
                        new JarOutputStream(
                                Files.newOutputStream(directory.resolve("mintmark.jar")),
                                renumbered(jar.getManifest()))) {
            for (JarEntry entry : jar.stream().toList()) {
                if (!entry.getName().equals(JarFile.MANIFEST_NAME)) {
                    next.putNextEntry(new JarEntry(entry.getName()));
                    try (InputStream content = jar.getInputStream(entry)) {
                        next.write(changed(entry.getName(), content.readAllBytes()));
                    }
                }
            }
            next.putNextEntry(new JarEntry(VERSIONED));
            next.write(SCRIPT.getBytes(StandardCharsets.UTF_8));
        }
        return Files.copy(
                packed.resolve("mintmark"),
                directory.resolve("mintmark"),
                StandardCopyOption.COPY_ATTRIBUTES);
    }

    private static byte[] changed(String name, byte[] content) {
        String text = new String(content, StandardCharsets.UTF_8);
        for (Map.Entry<String, String> change : CHANGES.getOrDefault(name, Map.of()).entrySet()) {
            if (!text.contains(change.getKey())) {
                throw new IllegalStateException(name + " has no " + change.getKey());
            }
            text = text.replace(change.getKey(), change.getValue());
        }
        return CHANGES.containsKey(name) ? text.getBytes(StandardCharsets.UTF_8) : content;
    }

    private static Manifest renumbered(Manifest manifest) {
        Manifest renumbered = new Manifest(manifest);
        renumbered.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, NUMBER);
        return renumbered;
    }
}
