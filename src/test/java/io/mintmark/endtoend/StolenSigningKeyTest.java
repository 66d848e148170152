package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The commands of docs/run/rotate-keys.md as root, on files and a service as the installation page
 * makes them: the service's user is another one, and may read what its group may.
 */
@Tag("heavy")
class StolenSigningKeyTest {
    private static final String SERVICE = "65534";
    private static final List<String> BLOCKS = Documented.blocks("run/rotate-keys.md", "sh");
    private static final String REPLACE = BLOCKS.get(0);
    private static final String PROVE = BLOCKS.get(1);
    private static final String ADD = BLOCKS.get(2);

    @TempDir private Path directory;
    private TestDatabase database;
    private final List<Integer> ports = new ArrayList<>();
    private final Map<Integer, Integer> adminPorts = new HashMap<>();
    private final List<Process> replicas = new ArrayList<>();

    @BeforeEach
    void install() throws IOException {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root has another user");
        database = TestDatabase.migrated();
        Path keys = Files.createDirectories(directory.resolve("etc/signing-keys"));
        PemFiles.p256(keys.resolve("2026-01-31.pem"));
        PemFiles.p256(directory.resolve("etc/audit.pem"));
        succeeds(
                "chmod 755 . && chown -R root:%1$s etc && chmod -R u=rwX,g=rX,o= etc && install -d -o %1$s cache"
                        .formatted(SERVICE));
        String program = program();
        for (int i = 0; i < 2; i++) {
            ports.add(RunningBroker.freePort());
            replicas.add(started(program, ports.getLast()));
        }
        for (int port : ports) {
            Eventually.holds(
                    Duration.ofMinutes(1),
                    () -> run("curl -fsS http://127.0.0.1:%d/health".formatted(port)) == 0);
        }
    }

    @AfterEach
    void stop() {
        replicas.forEach(Process::destroy);
        replicas.forEach(replica -> replica.onExit().join());
        if (database != null) {
            database.close();
        }
    }

    /** The class path where the service's user can read it. */
    private String program() {
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            String copy = "lib/" + entries.size() + (entry.endsWith(".jar") ? ".jar" : "");
            succeeds("mkdir -p lib && cp -r '%s' %s && chmod -R a+rX lib".formatted(entry, copy));
            entries.add(directory.resolve(copy).toString());
        }
        return String.join(File.pathSeparator, entries);
    }

    private Map<String, String> settings(int port) {
        Map<String, String> settings = new HashMap<>(RunningBroker.environment(database, port));
        settings.put("ADMIN_PORT", Integer.toString(adminPort(port)));
        settings.put("BROKER_SIGNING_KEYS_DIR", directory.resolve("etc/signing-keys").toString());
        settings.put("AUDIT_SIGNING_KEY_FILE", directory.resolve("etc/audit.pem").toString());
        return settings;
    }

    private int adminPort(int port) {
        return adminPorts.computeIfAbsent(port, _ -> RunningBroker.freePort());
    }

    private Process started(String program, int port) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(
                                "setpriv",
                                "--reuid=" + SERVICE,
                                "--regid=" + SERVICE,
                                "--clear-groups",
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-Xmx256m",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                program,
                                "io.mintmark.Main")
                        .directory(directory.resolve("cache").toFile())
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(log(port).toFile());
        builder.environment().putAll(settings(port));
        return builder.start();
    }

    private Path log(int port) {
        return directory.resolve("log-" + port);
    }

    /** A block as root, with this installation's paths and ports. */
    private int run(String block) {
        ProcessBuilder builder =
                new ProcessBuilder(
                                "bash",
                                "-eo",
                                "pipefail",
                                "-c",
                                block.replace("/etc/mintmark", directory.resolve("etc").toString())
                                        .replace(
                                                "8080 8090",
                                                ports.isEmpty()
                                                        ? ""
                                                        : ports.getFirst() + " " + ports.getLast()))
                        .directory(directory.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("said").toFile());
        return Unchecked.call(() -> builder.start().waitFor());
    }

    private String said() {
        return Unchecked.call(() -> Files.readString(directory.resolve("said")));
    }

    private void succeeds(String block) {
        assertEquals(0, run(block), this::said);
    }

    @Test
    void the_stolen_key_is_out_of_use_within_ten_seconds_and_the_page_proves_it() {
        assertEquals(1, run(REPLACE.replace("chown", ": chown") + "\nsleep 7\n" + PROVE));
        assertTrue(said().contains("still uses another key"), this::said);

        succeeds(REPLACE);
        Eventually.holds(() -> run(PROVE) == 0);
        assertEquals(2, said().lines().filter(line -> line.contains("new key alone")).count());
    }

    @Test
    void a_new_key_that_the_service_can_not_read_is_seen_everywhere() throws IOException {
        succeeds(
                "cd etc/signing-keys; rm *.pem; openssl genpkey -algorithm EC -pkeyopt"
                        + " ec_paramgen_curve:P-256 -out \"$(date -u +%F).pem\"");
        int port = ports.getFirst();
        String metrics = "http://127.0.0.1:%d/observe/metrics".formatted(adminPort(port));
        Eventually.holds(() ->
                run("curl -fsS -H 'Accept: %s' %s".formatted(RefusedFiles.FORMAT, metrics)) == 0
                        && RefusedFiles.isShown(said(), "BROKER_SIGNING_KEYS_DIR", 1));
        assertTrue(
                Files.readString(log(port))
                        .contains("can't be read by the user that runs this program"),
                () -> Unchecked.call(() -> Files.readString(log(port))));

        BrokerProcess check = new BrokerProcess(settings(port), directory, "check");
        assertEquals(0, check.status(), () -> check.printed().toString());
        Eventually.holds(() ->
                check.printed().stream()
                        .anyMatch(line ->
                                line.startsWith("note  keys: the running broker")
                                        && line.contains("BROKER_SIGNING_KEYS_DIR")));
    }

    @Test
    void a_key_that_is_added_is_published_by_both_beside_the_old_one() {
        succeeds(ADD.replace("2026-08-02", "2099-08-02"));
        Eventually.holds(() -> run(BLOCKS.get(3)) == 0 && said().lines().count() == 4);
    }
}
