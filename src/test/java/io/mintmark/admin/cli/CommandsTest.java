package io.mintmark.admin.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** What the command line says of itself. */
@ResourceLock(Resources.SYSTEM_OUT)
@ResourceLock(Resources.SYSTEM_ERR)
class CommandsTest {
    @TempDir private Path directory;

    private record Said(int status, String out, String errors) {}

    private Said run(String... arguments) {
        return run(Map.of(), arguments);
    }

    private Said run(Map<String, String> environment, String... arguments) {
        PrintStream out = System.out;
        PrintStream errors = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        ByteArrayOutputStream complained = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
            int status = new Commands(environment, directory).execute(arguments);
            return new Said(
                    status,
                    said.toString(StandardCharsets.UTF_8),
                    complained.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(errors);
        }
    }

    private static final String VERSION = "mintmark development, Java " + Runtime.version() + "\n";

    @ParameterizedTest
    @CsvSource({
        "''",
        "serve",
        "migrate",
        "check",
        "audit verify",
        "explain",
        "check-webhook",
        "wait-ready"
    })
    void the_program_is_mintmark_wherever_its_version_is_asked(String command) {
        String[] arguments = (command + " --version").strip().split(" ", -1);

        assertEquals(new Said(0, VERSION, ""), run(arguments));
    }

    @ParameterizedTest
    @CsvSource({
        "'', mintmark",
        "serve, mintmark serve",
        "migrate, mintmark migrate",
        "check, mintmark check",
        "explain, mintmark explain",
        "check-webhook, mintmark check-webhook",
        "wait-ready, mintmark wait-ready",
        "audit verify, mintmark audit verify",
        "audit export, mintmark audit export"
    })
    void usage_lines_begin_with_what_one_types(String command, String typed) {
        Said said = run((command + " --help").strip().split(" ", -1));

        assertEquals(0, said.status());
        assertTrue(said.out().startsWith("Usage: " + typed + " "), said.out());
    }

    @Test
    void an_unknown_command_is_not_answered_with_one_that_does_not_exist() {
        Said said = run("versoin");

        assertEquals(2, said.status());
        assertFalse(said.errors().contains("serve serve"), said.errors());
        assertTrue(said.errors().contains("'versoin'"), said.errors());
    }

    @Test
    void every_wrong_setting_has_a_line_of_its_own() {
        Said said = run("serve");

        assertEquals(2, said.status());
        assertEquals(
                List.of(
                        "mintmark: DATABASE_URL is",
                        "mintmark: DATABASE_USERNAME is",
                        "mintmark: AUDIT_SIGNING_KEY_FILE is",
                        "mintmark: BROKER_SIGNING_KEYS_DIR is",
                        "mintmark: BROKER_URL is"),
                said.errors().lines().map(line -> line.replaceFirst(" not set.*", "")).toList());
    }

    @Test
    void a_migration_waits_for_a_database_that_is_down_and_names_it() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        String url = "jdbc:postgresql://127.0.0.1:" + port + "/mintmark";

        Said said =
                run(
                        Map.of(
                                "DATABASE_URL", url,
                                "DATABASE_USERNAME", "owner",
                                "DATABASE_START_TIMEOUT", "PT1S"),
                        "migrate");

        assertEquals(1, said.status());
        assertEquals(
                "mintmark: DATABASE_URL "
                        + url
                        + ": nothing accepts connections at the server's address (Connection refused)"
                        + " (tried for 1 s)",
                said.errors().lines().toList().getLast());
    }
}
