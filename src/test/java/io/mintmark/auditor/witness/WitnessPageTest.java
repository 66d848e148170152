package io.mintmark.auditor.witness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/** The commands of docs/audit/witness.md that make a witness. */
@Tag("heavy")
class WitnessPageTest {
    private static final String BEGIN = "## Five commands\n";
    private static final String BLOCK = "```sh\n";

    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.migrated();

    private static List<String> commands() throws IOException {
        String page = Files.readString(Path.of("docs/audit/witness.md"));
        String section = page.substring(page.indexOf(BEGIN));
        String block = section.substring(section.indexOf(BLOCK) + BLOCK.length());
        return block.substring(0, block.indexOf("```")).replace("\\\n", "").lines().toList();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private void install() throws IOException {
        Path program = directory.resolve("bin/mintmark");
        Files.createDirectories(program.getParent());
        Files.writeString(
                program,
                "#!/bin/sh\nexec '%s' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC io.mintmark.Main \"$@\"\n"
                        .formatted(Path.of(System.getProperty("java.home"), "bin", "java")));
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void they_are_five_and_end_with_a_cosignature() throws Exception {
        assumeTrue(Script.isThere("curl"));
        List<String> commands = commands();
        assertEquals(5, commands.size(), commands::toString);
        Seals.noted(database);
        Seals.noted(database);
        install();
        String text =
                String.join("\n", commands)
                        .replaceAll("mintmark.example.com/audit/1\\S*", Seals.NOTES.key(1).text())
                        .replace("8080", Integer.toString(freePort()))
                        .replace("consistency 0 1440", "consistency 0 2");
        ProcessBuilder builder =
                new ProcessBuilder("bash", "-euc", text + "\nkill $!\nwait || true\n")
                        .directory(directory.toFile())
                        .redirectErrorStream(true);
        builder.environment().putAll(RunningBroker.environment(database, 1));
        builder.environment().put("DATABASE_USERNAME", Who.AUDITOR.login());
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        builder.environment()
                .merge("PATH", directory.resolve("bin").toString(), (old, bin) -> bin + ":" + old);
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        String key = Files.readString(directory.resolve("witness/witness.vkey")).strip();
        assertTrue(key.startsWith("witness.example.org/1+"), key);
        assertTrue(said.contains("\u2014 witness.example.org/1 "), said);
    }
}
