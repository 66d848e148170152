package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Runs the commands of pages in a folder, not as root, with PostgreSQL's and our programs. */
final class OperatorShell {
    private final Path directory;
    private final Map<String, String> environment;

    /**
     * @param databaseUrl where {@code mintmark} logs in as an auditor
     * @param further variables
     */
    OperatorShell(Path directory, String databaseUrl, Map<String, String> further)
            throws IOException {
        this.directory = directory;
        this.environment = new HashMap<>(RunningBroker.environment(databaseUrl, 1));
        environment.put("DATABASE_USERNAME", "test_auditor");
        environment.put(
                "PATH",
                "%s:%s:%s".formatted(directory, PostgresCluster.BIN, System.getenv("PATH")));
        environment.putAll(further);
        Path program = directory.resolve("mintmark");
        Files.writeString(
                program,
                "#!/bin/sh\nexec '%s/bin/java' -cp '%s' io.mintmark.Main \"$@\"\n"
                        .formatted(
                                System.getProperty("java.home"),
                                System.getProperty("java.class.path")));
        assertTrue(program.toFile().setExecutable(true));
    }

    /** Runs a block, whose last command may fail: its exit status. */
    int run(String block) {
        ProcessBuilder builder =
                new ProcessBuilder(
                                PostgresCluster.unprivileged(
                                        "bash", "-eo", "pipefail", "-c", block))
                        .directory(directory.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("said").toFile());
        builder.environment().putAll(environment);
        return Unchecked.call(() -> builder.start().waitFor());
    }

    /** Runs a block that succeeds. */
    void succeed(String block) {
        assertEquals(0, run(block), this::said);
    }

    /** What the last block wrote. */
    String said() {
        return Unchecked.call(
                () -> Files.readString(directory.resolve("said"), StandardCharsets.UTF_8));
    }
}
