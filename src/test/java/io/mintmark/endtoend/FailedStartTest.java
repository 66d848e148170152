package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.wiring.Startup;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** A start that fails leaves nothing, however far it came. */
class FailedStartTest {
    private static final String SESSIONS =
            "SELECT application_name FROM pg_stat_activity"
                    + " WHERE datname = current_database() AND application_name LIKE 'mintmark%'";

    /**
     * Threads that the JVM has once for a process, and a daemon that Helidon leaves behind where it
     * couldn't listen.
     */
    private static final List<String> OF_THE_PROCESS =
            List.of(
                    "ForkJoinPool",
                    "Native reference cleanup thread", // of the native signatures
                    "VirtualThread-unblocker",
                    "MasterPoller",
                    "PostgreSQL-JDBC-Cleaner",
                    "helidon-idle-connection-timer");

    private static final String WAITING =
            "SELECT l.mode FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database"
                    + " WHERE d.datname = current_database() AND NOT l.granted";

    @TempDir private Path directory;
    @AutoClose private TestDatabase database;
    private int port;
    private int adminPort;
    private Set<Thread> before;

    @BeforeEach
    void create() {
        database = TestDatabase.migrated();
        port = RunningBroker.freePort();
        adminPort = RunningBroker.freePort();
        before = Set.copyOf(Thread.getAllStackTraces().keySet());
    }

    @Test
    void a_key_that_can_not_seal_ends_it_before_anything_is_begun() throws IOException {
        Path file = Files.writeString(directory.resolve("no.pem"), "garbage");

        failsAndLeavesNothing(Map.of("AUDIT_SIGNING_KEY_FILE", file.toString()));
    }

    @Test
    void a_login_with_too_much_power_ends_it_once_the_database_is_known() throws IOException {
        failsAndLeavesNothing(Map.of("DATABASE_USERNAME", Who.OWNER.login()));
    }

    @Test
    void a_port_that_is_taken_meanwhile_ends_it_when_all_else_is_there() throws Exception {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                Connection owner = database.connect(Who.OWNER);
                ServerSocket socket = new ServerSocket()) {
            owner.setAutoCommit(false);
            owner.createStatement().execute("LOCK TABLE runtime.schema_version");
            Future<?> failed = threads.submit(() -> fails(Map.of()));
            Eventually.holds(() -> database.column(WAITING).size() == 1);
            socket.bind(new InetSocketAddress(port));
            owner.rollback();
            failed.get();
        }
        nothingIsLeft();
    }

    private void failsAndLeavesNothing(Map<String, String> changes) throws IOException {
        fails(changes);
        nothingIsLeft();
    }

    private void fails(Map<String, String> changes) {
        Map<String, String> environment = new HashMap<>(RunningBroker.environment(database, port));
        environment.put("ADMIN_PORT", Integer.toString(adminPort));
        environment.putAll(changes);
        Startup startup =
                new Startup(
                        new SettingsReader(environment, directory).all(), InstantSource.system());

        assertThrows(RuntimeException.class, startup::run);
    }

    private void nothingIsLeft() throws IOException {
        isFree(port);
        isFree(adminPort);
        Eventually.holds(() -> threads().isEmpty());
        Eventually.holds(() -> database.column(SESSIONS).isEmpty());
        database.assertRows("SELECT number::text FROM audit.checkpoint");
    }

    private static void isFree(int port) throws IOException {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(port));
        }
    }

    private Set<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(Predicate.not(before::contains))
                .map(Thread::getName)
                .filter(name -> OF_THE_PROCESS.stream().noneMatch(name::startsWith))
                .collect(Collectors.toSet());
    }
}
