package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** What an operator sees who starts the broker with something wrong, as a process of its own. */
@Tag("heavy")
class StartTest {
    @AutoClose private static final TestDatabase database = TestDatabase.unmigrated();

    @TempDir private Path directory;

    private record Ended(int status, String errors) {}

    private Ended start(Map<String, String> changes) throws Exception {
        return start(changes, List.of());
    }

    private Ended start(Map<String, String> changes, List<String> wrapper) throws Exception {
        Map<String, String> environment =
                new HashMap<>(RunningBroker.environment(database, RunningBroker.freePort()));
        environment.putAll(changes);
        List<String> command = new ArrayList<>(wrapper);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // or the JVM raises its own limit of open files
        command.add("-XX:-MaxFDLimit");
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.add("--enable-native-access=ALL-UNNAMED"); // as the jar's manifest says
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "io.mintmark.Main"));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("DATABASE_"));
        builder.environment().putAll(environment);
        Path output = directory.resolve("output");
        builder.directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        Process process = builder.start();
        try {
            int status = process.onExit().get(Eventually.SECONDS, TimeUnit.SECONDS).exitValue();
            return new Ended(status, Files.readString(output));
        } finally {
            process.destroyForcibly();
        }
    }

    private void refuses(Map<String, String> changes, String... words) throws Exception {
        refuses(start(changes), words);
    }

    private static void refuses(Ended ended, String... words) {
        List<String> lines = new ArrayList<>(ended.errors().lines().toList());
        lines.removeIf(line -> line.startsWith("{"));
        assertEquals(1, lines.size(), ended.errors());
        assertFalse(ended.status() == 0);
        for (String word : words) {
            assertTrue(lines.getFirst().contains(word), ended.errors());
        }
        assertFalse(ended.errors().contains("\tat "), ended.errors());
    }

    @Test
    void an_invalid_setting_is_named() throws Exception {
        refuses(Map.of("PROVIDER_TIMEOUT", "ten"), "PROVIDER_TIMEOUT", "PT");
    }

    @Test
    void a_signing_key_directory_without_a_key_is_named_with_the_way_to_make_one()
            throws Exception {
        refuses(
                Map.of("BROKER_SIGNING_KEYS_DIR", Files.createTempDirectory("none").toString()),
                "BROKER_SIGNING_KEYS_DIR",
                "openssl genpkey");
    }

    @Test
    void a_file_that_is_no_key_can_not_seal_the_audit_log() throws Exception {
        Path file = Files.writeString(directory.resolve("no.pem"), "garbage");
        refuses(
                Map.of("AUDIT_SIGNING_KEY_FILE", file.toString()),
                "AUDIT_SIGNING_KEY_FILE",
                "set another file");
    }

    @Test
    void an_rsa_key_can_not_seal_the_audit_log() throws Exception {
        Path file = directory.resolve("rsa.pem");
        PemFiles.rsa(file);
        refuses(Map.of("AUDIT_SIGNING_KEY_FILE", file.toString()), "P-256");
    }

    @Test
    void a_port_in_use_is_named() throws Exception {
        try (ServerSocket taken = new ServerSocket(0)) {
            refuses(
                    Map.of("SERVER_PORT", Integer.toString(taken.getLocalPort())),
                    "SERVER_PORT",
                    Integer.toString(taken.getLocalPort()));
        }
    }

    @Test
    void too_few_open_files_are_told_before_a_checkpoint_is_out() throws Exception {
        Ended ended = start(Map.of(), List.of("sh", "-c", "ulimit -n 1024 && exec \"$0\" \"$@\""));

        refuses(ended, "SERVER_MAX_CONNECTIONS", "ulimit -n");
        assertFalse(ended.errors().contains("checkpoint"), ended.errors());
        database.assertRows("SELECT count(*)::text FROM audit.checkpoint", "0");
    }

    @Test
    void a_database_that_can_not_be_reached_is_named() throws Exception {
        refuses(
                Map.of(
                        "DATABASE_URL",
                        "jdbc:postgresql://localhost:%d/x".formatted(RunningBroker.freePort()),
                        "DATABASE_START_TIMEOUT",
                        "PT0S"),
                "DATABASE_URL");
    }

    @Test
    void a_database_that_can_not_be_reached_is_named_without_migrations_too() throws Exception {
        refuses(
                Map.of(
                        "DATABASE_MIGRATE",
                        "false",
                        "DATABASE_URL",
                        "jdbc:postgresql://localhost:%d/x".formatted(RunningBroker.freePort()),
                        "DATABASE_START_TIMEOUT",
                        "PT1S"),
                "DATABASE_URL");
    }

    @Test
    void a_login_that_the_database_does_not_know_is_told_and_no_password_is_shown()
            throws Exception {
        Map<String, String> unknown =
                Map.of(
                        "DATABASE_OWNER_USERNAME", "nobody_there",
                        "DATABASE_OWNER_PASSWORD", "not-the-password");
        refuses(unknown, "DATABASE_URL", "nobody_there");
        assertFalse(start(unknown).errors().contains("not-the-password"));
    }

    @Test
    void a_login_that_could_change_the_audit_log_is_refused() throws Exception {
        refuses(
                Map.of("DATABASE_USERNAME", Who.OWNER.login()),
                "DATABASE_USERNAME",
                "DATABASE_SINGLE_ROLE");
    }

    @Test
    void a_schema_that_was_never_migrated_is_told() throws Exception {
        try (TestDatabase empty = TestDatabase.unmigrated()) {
            refuses(
                    Map.of("DATABASE_MIGRATE", "false", "DATABASE_URL", empty.url()),
                    "mintmark migrate");
        }
    }
}
