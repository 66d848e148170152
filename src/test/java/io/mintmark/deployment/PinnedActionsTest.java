package io.mintmark.deployment;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Our own workflows run beside the key that signs releases, so each action is a fixed commit. */
final class PinnedActionsTest {

    @Test
    void every_action_of_a_workflow_is_named_by_its_commit() throws IOException {
        List<String> uses;
        try (Stream<Path> files = Files.list(Path.of(".github", "workflows"))) {
            uses =
                    files.flatMap(PinnedActionsTest::lines)
                            .filter(line -> line.contains("uses: "))
                            .toList();
        }
        assertFalse(uses.isEmpty());
        for (String use : uses) {
            assertTrue(use.matches(".*uses: [\\w./-]+@[0-9a-f]{40} # v[0-9.]+"), use);
        }
    }

    private static Stream<String> lines(Path file) {
        try {
            return Files.readAllLines(file).stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
