package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A verification needs the disk, and nothing of the log stays there, however it ends. */
@Tag("heavy")
class KilledVerifyTest {
    /** More than is sorted in memory. */
    private static final long ENOUGH = 24_000_000;

    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.migrated();

    @Test
    void a_verification_that_is_killed_leaves_no_rows_in_the_temporary_directory()
            throws Exception {
        Path scratch = Files.createDirectory(directory.resolve("scratch"));
        Path pipe = directory.resolve("log.jsonl");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        byte[] log = Files.readAllBytes(Path.of("docs", "audit-test-vector", "log.jsonl"));
        Process verify =
                new AuditCommand(database, directory, Who.AUDITOR)
                        .start(
                                "export JAVA_TOOL_OPTIONS=-Djava.io.tmpdir=" + scratch,
                                "verify",
                                "--export",
                                pipe.toString(),
                                "--keys",
                                Path.of("docs", "audit-test-vector", "keys.pem")
                                        .toAbsolutePath()
                                        .toString());
        try (OutputStream lines = Files.newOutputStream(pipe)) {
            for (long written = 0; written < ENOUGH; written += log.length) {
                lines.write(log);
            }
            Eventually.holds(() -> openFiles(verify).anyMatch(file -> file.contains("scratch")));
            verify.destroyForcibly().waitFor();
        }
        try (Stream<Path> left = Files.list(scratch)) {
            assertEquals(List.of(), left.toList());
        }
    }

    private static Stream<String> openFiles(Process process) {
        Path open = Path.of("/proc", Long.toString(process.pid()), "fd");
        try (Stream<Path> files = Files.list(open)) {
            return files.map(KilledVerifyTest::target).toList().stream();
        } catch (IOException e) {
            return Stream.empty();
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException e) {
            return "";
        }
    }
}
