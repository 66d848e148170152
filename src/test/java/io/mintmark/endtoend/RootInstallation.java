package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.TestDatabase;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Files and two replicas as the installation page makes them: root owns the files, and the service
 * runs as another user, who may read what its group may. Runs the commands of pages as root.
 */
final class RootInstallation implements AutoCloseable {
    private static final String SERVICE = "65534";

    private final Path directory;
    private final TestDatabase database = TestDatabase.migrated();
    private final Map<String, String> further;
    private final String program;
    private final List<Integer> ports = new ArrayList<>();
    private final Map<Integer, Integer> adminPorts = new HashMap<>();
    private final List<Process> replicas = new ArrayList<>();

    /**
     * Makes the files and starts nothing.
     *
     * @param further settings, in which {@code /etc/mintmark} stands for the folder of the files
     */
    RootInstallation(Path directory, Map<String, String> further) throws IOException {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root has another user");
        this.directory = directory;
        this.further = further;
        Path keys = Files.createDirectories(directory.resolve("etc/signing-keys"));
        PemFiles.p256(keys.resolve("2026-01-31.pem"));
        PemFiles.p256(directory.resolve("etc/audit.pem"));
        succeeds(
                "chmod 755 . && chown -R root:%1$s etc && chmod -R u=rwX,g=rX,o= etc && install -d -o %1$s cache"
                        .formatted(SERVICE));
        program = program();
        for (int i = 0; i < 2; i++) {
            ports.add(RunningBroker.freePort());
        }
        commands();
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

    /**
     * The program {@code mintmark} of the pages, by the login that each command is for, and the
     * journal of the replicas.
     */
    private void commands() throws IOException {
        Path mintmark = Files.createDirectory(directory.resolve("bin")).resolve("mintmark");
        Files.writeString(
                mintmark,
                """
                #!/bin/sh
                case "$1" in
                    audit) export DATABASE_USERNAME=%s ;;
                    block-subject) export DATABASE_USERNAME=%s ;;
                esac
                exec '%s' -cp '%s' io.mintmark.Main "$@"
                """
                        .formatted(
                                TestDatabase.Who.AUDITOR.login(),
                                TestDatabase.Who.ADMIN.login(),
                                java(),
                                program));
        assertTrue(mintmark.toFile().setExecutable(true));
        Path journal = directory.resolve("bin").resolve("journalctl");
        Files.writeString(
                journal,
                """
                #!/bin/sh
                # What both replicas wrote, of any unit and time.
                exec cat '%1$s'/out-* '%1$s'/log-*
                """
                        .formatted(directory));
        assertTrue(journal.toFile().setExecutable(true));
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** Starts both replicas, or those that were stopped, and waits until they serve. */
    void start() throws IOException {
        for (int port : ports) {
            replicas.add(started(port));
        }
        for (int port : ports) {
            Eventually.holds(
                    Eventually.PATIENCE,
                    () -> run("curl -fsSk %s/health".formatted(url(port))) == 0);
        }
    }

    private String url(int port) {
        String scheme = further.containsKey("SERVER_TLS_CERTIFICATE_FILE") ? "https" : "http";
        return scheme + "://127.0.0.1:" + port;
    }

    void stop() {
        replicas.forEach(Process::destroy);
        replicas.forEach(replica -> replica.onExit().join());
        replicas.clear();
    }

    Map<String, String> settings(int port) {
        Map<String, String> settings = new HashMap<>(RunningBroker.environment(database, port));
        settings.put("ADMIN_PORT", Integer.toString(adminPort(port)));
        settings.put("BROKER_SIGNING_KEYS_DIR", directory.resolve("etc/signing-keys").toString());
        settings.put("AUDIT_SIGNING_KEY_FILE", directory.resolve("etc/audit.pem").toString());
        further.forEach((name, value) -> settings.put(name, here(value)));
        return settings;
    }

    int adminPort(int port) {
        return adminPorts.computeIfAbsent(port, _ -> RunningBroker.freePort());
    }

    List<Integer> ports() {
        return ports;
    }

    TestDatabase database() {
        return database;
    }

    Path directory() {
        return directory;
    }

    private Process started(int port) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(
                                "setpriv",
                                "--reuid=" + SERVICE,
                                "--regid=" + SERVICE,
                                "--clear-groups",
                                java(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-Xmx256m",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                program,
                                "io.mintmark.Main")
                        .directory(directory.resolve("cache").toFile())
                        .redirectOutput(
                                ProcessBuilder.Redirect.appendTo(
                                        directory.resolve("out-" + port).toFile()))
                        .redirectError(ProcessBuilder.Redirect.appendTo(log(port).toFile()));
        builder.environment().putAll(settings(port));
        return builder.start();
    }

    Path log(int port) {
        return directory.resolve("log-" + port);
    }

    /** A text of a page with this installation's paths and ports. */
    private String here(String text) {
        return text.replace("/etc/mintmark", directory.resolve("etc").toString())
                .replace("-g mintmark", "-g " + SERVICE)
                .replace("root:mintmark", "root:" + SERVICE)
                .replace(
                        "8080 8090",
                        ports.isEmpty() ? "" : ports.getFirst() + " " + ports.getLast());
    }

    /** Runs a block as root, whose last command may fail: its exit status. */
    int run(String block) {
        ProcessBuilder builder =
                new ProcessBuilder("bash", "-eo", "pipefail", "-c", here(block))
                        .directory(directory.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("said").toFile());
        builder.environment().put("PATH", directory.resolve("bin") + ":" + System.getenv("PATH"));
        if (!ports.isEmpty()) {
            builder.environment().putAll(settings(ports.getFirst()));
        }
        return Unchecked.call(() -> builder.start().waitFor());
    }

    /** What the last block wrote. */
    String said() {
        return Unchecked.call(() -> Files.readString(directory.resolve("said")));
    }

    /** Runs a block that succeeds. */
    void succeeds(String block) {
        assertEquals(0, run(block), this::said);
    }

    @Override
    public void close() {
        stop();
        database.close();
    }
}
