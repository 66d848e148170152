package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.check.Checkup;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.broker.token.LogBook;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A broker whose password of the database changes, on a server that asks for it. */
@Tag("heavy")
@EnabledOnOs(OS.LINUX)
class PasswordRotationTest {
    /** The pool pauses for five seconds after refused connections, and the machine may be busy. */
    private static final Duration TIMEOUT = Eventually.PATIENCE;

    private static final String REJECTED =
            "the database can't be reached: the server rejects the password";

    @TempDir private Path directory;

    private OwnServer server;
    private Path password;
    private Map<String, String> settings;

    @BeforeEach
    void start() throws IOException {
        server = new OwnServer(directory);
        server.run(Files.readString(Path.of("db", "roles.sql")));
        server.run(
                """
                CREATE ROLE test_owner LOGIN PASSWORD '%1$s' IN ROLE mintmark_owner;
                CREATE ROLE test_app LOGIN PASSWORD 'first' IN ROLE mintmark_app;
                """
                        .formatted(OwnServer.PASSWORD));
        Path rules = directory.resolve("data").resolve("pg_hba.conf");
        Files.writeString(rules, "host all test_app all scram-sha-256\n" + Files.readString(rules));
        server.run("SELECT pg_reload_conf()");
        Eventually.holds(this::rejectsAnotherPassword);
        password = Files.writeString(directory.resolve("password"), "first\n");
        settings = new HashMap<>(RunningBroker.environment(server.url(), RunningBroker.freePort()));
        settings.remove("DATABASE_PASSWORD");
        settings.put("DATABASE_PASSWORD_FILE", password.toString());
    }

    private boolean rejectsAnotherPassword() {
        try (Connection _ = DriverManager.getConnection(server.url(), "test_app", "another")) {
            return false;
        } catch (SQLException e) {
            return true;
        }
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private RunningBroker broker() {
        return RunningBroker.at(
                server.url(),
                Map.of("DATABASE_PASSWORD", "", "DATABASE_PASSWORD_FILE", password.toString()));
    }

    private void change(String to) {
        server.run("ALTER ROLE test_app PASSWORD '%s'".formatted(to));
    }

    private void endSessions() {
        server.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename ="
                        + " 'test_app'");
    }

    @Test
    void a_password_from_a_file_is_read_for_each_new_connection() throws IOException {
        try (RunningBroker broker = broker()) {
            change("second");
            Files.writeString(password, "second\n");
            endSessions();
            becomesHealthy(broker);
            assertTrue(isRefused(broker, 0), "not refused");

            Files.delete(password);
            endSessions();
            Eventually.holds(() -> isRefused(broker, 1));
            becomesHealthy(broker);
        }
    }

    @Test
    void a_rejected_password_is_the_reason_in_readiness_and_log() throws Exception {
        try (RunningBroker broker = broker();
                LogBook log = LogBook.open()) {
            change("second");
            Eventually.holds(
                    TIMEOUT,
                    () -> {
                        endSessions(); // one may have logged in just before the change
                        return admin(broker, "/observe/health/ready", "application/json");
                    },
                    answer -> answer.contains(REJECTED));
            Eventually.holds(TIMEOUT, () -> health(broker), body -> body.contains(REJECTED));
            Eventually.holds(() -> log.text().contains("reached: password authentication failed"));

            Files.writeString(password, "second\n");
            becomesHealthy(broker);
            Eventually.holds(() -> log.text().contains("The database can be reached again"));
        }
    }

    @Test
    void a_rejected_password_is_the_reason_in_check() throws IOException {
        Files.writeString(password, "another\n");
        Checkup check =
                new Checkup(new SettingsReader(settings, directory), InstantSource.system());
        List<String> faults = check.run().stream().flatMap(it -> it.faults().stream()).toList();

        assertEquals(1, faults.size(), faults::toString);
        assertTrue(
                faults.getFirst().contains("password authentication failed for user"),
                faults::toString);
    }

    private static void becomesHealthy(RunningBroker broker) {
        Eventually.holds(
                TIMEOUT, () -> health(broker), body -> body.contains("\"status\":\"healthy\""));
    }

    private static String health(RunningBroker broker) {
        return broker.get("/health").response().body();
    }

    private static boolean isRefused(RunningBroker broker, int value) {
        return RefusedFiles.isShown(
                admin(broker, "/observe/metrics", RefusedFiles.FORMAT),
                "DATABASE_PASSWORD_FILE",
                value);
    }

    private static String admin(RunningBroker broker, String path, String format) {
        URI address = URI.create("http://localhost:%d%s".formatted(broker.adminPort(), path));
        return broker.send(HttpRequest.newBuilder(address).header("Accept", format).GET())
                .response()
                .body();
    }
}
