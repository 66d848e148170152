package io.mintmark.deployment;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** What the next release could be: the packed program with another number and a migration more. */
final class NextVersion {
    static final String NUMBER = "0.9999.0";
    private static final String MIGRATION = "db/migration/V9999__what_the_next_version_adds.sql";
    private static final String SCRIPT =
            """
            CREATE TABLE runtime.of_the_next_version (id bigint PRIMARY KEY);
            UPDATE runtime.schema_version SET version = version + 1;
            """;

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
                        content.transferTo(next);
                    }
                }
            }
            next.putNextEntry(new JarEntry(MIGRATION));
            next.write(SCRIPT.getBytes(StandardCharsets.UTF_8));
        }
        return Files.copy(
                packed.resolve("mintmark"),
                directory.resolve("mintmark"),
                StandardCopyOption.COPY_ATTRIBUTES);
    }

    private static Manifest renumbered(Manifest manifest) {
        Manifest renumbered = new Manifest(manifest);
        renumbered.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, NUMBER);
        return renumbered;
    }
}
