package io.mintmark.deployment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The archive of classes that the packed program leaves at the end of its first run. Run by {@code
 * .ci/upgrade}, which packs it.
 */
@EnabledOnOs(OS.LINUX)
class ClassArchiveIT {
    @TempDir private Path directory;

    private final Site.Ports ports = Site.Ports.free();

    private Replica start(Site site, Map<String, String> changes) {
        Map<String, String> environment = site.environment(ports);
        environment.put("CACHE_DIRECTORY", directory.toString());
        environment.put("SERVER_DRAIN", "PT0S");
        environment.putAll(changes);
        return Replica.start(
                List.of(Path.of("target", "mintmark").toAbsolutePath().toString()),
                environment,
                ports.open(),
                directory.resolve("log"));
    }

    private boolean usesArchive(Replica replica) {
        return Unchecked.call(() ->
                Files.readString(Path.of("/proc/%d/maps".formatted(replica.pid())))
                        .contains(directory.toString()));
    }

    private boolean startsFromArchive(Site site) {
        try (Replica replica = start(site, Map.of())) {
            replica.awaitAnswers();
            boolean uses = usesArchive(replica);
            assertEquals(143, replica.stop());
            return uses;
        }
    }

    @Test
    void the_second_start_uses_the_archive_of_the_first() {
        try (Site site = new Site(ports.url())) {
            assertFalse(startsFromArchive(site));
            assertTrue(startsFromArchive(site));
        }
    }

    @Test
    void what_a_failed_start_leaves_is_replaced() {
        try (Site site = new Site(ports.url())) {
            Map<String, String> noDatabase =
                    Map.of(
                            "DATABASE_URL", "jdbc:postgresql://127.0.0.1:1/x",
                            "DATABASE_START_TIMEOUT", "PT0S");
            try (Replica failed = start(site, noDatabase)) {
                assertEquals(1, failed.awaitEnd());
            }
            assertFalse(startsFromArchive(site));
            assertTrue(startsFromArchive(site));
        }
    }
}
