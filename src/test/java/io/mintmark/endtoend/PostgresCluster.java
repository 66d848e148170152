package io.mintmark.endtoend;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.SqlRunner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A PostgreSQL made with the programs of a package, which an embedded one lacks: base backups, a
 * WAL archive, standbys. {@code -Dpostgres.bin} names their folder, else it is the newest below
 * {@code /usr/lib/postgresql}.
 */
final class PostgresCluster implements SqlRunner, AutoCloseable {
    static final Path BIN = bin();

    private final Path bin;
    private final Path data;
    private final int port;

    private PostgresCluster(Path bin, Path data, int port) {
        this.bin = bin;
        this.data = data;
        this.port = port;
    }

    /** One that somebody else starts and stops. */
    static PostgresCluster running(Path data, int port) {
        return new PostgresCluster(BIN, data, port);
    }

    /** What somebody restores from a copy of this one, and starts on the same port. */
    PostgresCluster restoredAt(Path target) {
        return new PostgresCluster(bin, target, port);
    }

    /**
     * Waits until the archive has everything that was written so far. What the server itself writes
     * meanwhile begins a segment that nobody may ever fill, so this one is asked for by its name.
     */
    void archiveTheRest() {
        run("SELECT pg_logical_emit_message(false, 'test', 'an empty segment is not switched')");
        String last = value("SELECT pg_walfile_name(pg_switch_wal())");
        Eventually.holds(() ->
                value("SELECT last_archived_wal >= '%s' FROM pg_stat_archiver".formatted(last))
                        .equals("t"));
    }

    /** A new one, not started yet. */
    static PostgresCluster created(Path data) {
        return created(data, BIN);
    }

    /** A new one of these programs, not started yet. */
    static PostgresCluster created(Path data, Path bin, String... options) {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "-D",
                                data.toString(),
                                "-U",
                                "postgres",
                                "--auth=trust",
                                "-E",
                                "UTF8",
                                "-N"));
        arguments.addAll(Arrays.asList(options));
        run(bin, "initdb", arguments.toArray(String[]::new));
        return new PostgresCluster(bin, data, RunningBroker.freePort());
    }

    /**
     * Takes over what a stopped one has, of {@link #BIN}'s major version; this one was never
     * started.
     */
    void upgradeFrom(PostgresCluster older, Path work) {
        run(
                bin,
                "pg_upgrade",
                "-b",
                BIN.toString(),
                "-B",
                bin.toString(),
                "-d",
                older.data.toString(),
                "-D",
                data.toString(),
                "-U",
                "postgres",
                "-s",
                work.toString(),
                "-p",
                String.valueOf(RunningBroker.freePort()),
                "-P",
                String.valueOf(RunningBroker.freePort()));
        // it leaves this in the current directory
        var _ = Unchecked.call(() -> Files.deleteIfExists(Path.of("delete_old_cluster.sh")));
    }

    /** A copy that pg_basebackup takes of this one, not started yet. */
    PostgresCluster copied(Path target, String... options) {
        List<String> arguments =
                new ArrayList<>(
                        List.of("-D", target.toString(), "-d", connection(), "-c", "fast", "-N"));
        arguments.addAll(Arrays.asList(options));
        run(bin, "pg_basebackup", arguments.toArray(String[]::new));
        return new PostgresCluster(bin, target, RunningBroker.freePort());
    }

    /** Starts it with these settings added to those that it has. */
    void start(Map<String, String> settings) {
        List<String> lines = new ArrayList<>(List.of(""));
        settings.forEach(
                (name, value) -> lines.add(name + " = '" + value.replace("'", "''") + "'"));
        lines.add("port = " + port);
        lines.add("listen_addresses = '127.0.0.1'");
        lines.add("unix_socket_directories = ''");
        Unchecked.run(() ->
                Files.write(data.resolve("postgresql.conf"), lines, StandardOpenOption.APPEND));
        control("start", "-w", "-l", data.resolve("log").toString());
    }

    /** Stops it without warning. */
    void stopImmediately() {
        control("stop", "-m", "immediate");
    }

    /** Stops it as an operator does, who means to copy or upgrade it. */
    void stop() {
        control("stop", "-m", "fast", "-w");
    }

    /** A standby becomes a primary. */
    void promote() {
        control("promote", "-w");
    }

    private void control(String what, String... options) {
        List<String> arguments = new ArrayList<>(List.of("-s", "-D", data.toString(), what));
        arguments.addAll(Arrays.asList(options));
        run(bin, "pg_ctl", arguments.toArray(String[]::new));
    }

    /** What {@code psql} writes for a file, run by a login. */
    String psql(String login, Path file, String... options) {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "-X",
                                "-q",
                                "-A",
                                "-t",
                                "-v",
                                "ON_ERROR_STOP=1",
                                "-d",
                                "host=127.0.0.1 port=%d dbname=postgres user=%s"
                                        .formatted(port, login),
                                "-f",
                                file.toString()));
        arguments.addAll(Arrays.asList(options));
        return run(bin, "psql", arguments.toArray(String[]::new));
    }

    String url() {
        return "jdbc:postgresql://127.0.0.1:%d/postgres".formatted(port);
    }

    /** For JDBC: host and port. */
    String address() {
        return "127.0.0.1:" + port;
    }

    /** For libpq, as the superuser. */
    String connection() {
        return "host=127.0.0.1 port=%d user=postgres".formatted(port);
    }

    @Override
    public Connection connect() throws SQLException {
        return DriverManager.getConnection(url(), "postgres", "");
    }

    /** Runs one of these programs, and returns what it writes. */
    static String run(Path bin, String program, String... arguments) {
        List<String> command = unprivileged(bin.resolve(program).toString(), arguments);
        return Unchecked.call(() -> {
            Path output = Files.createTempFile("mintmark", program);
            Process process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(output.toFile())
                            .start();
            int status = process.waitFor();
            String said = Files.readString(output, StandardCharsets.UTF_8);
            Files.delete(output);
            if (status != 0) {
                throw new IllegalStateException(program + " ended with " + status + ": " + said);
            }
            return said;
        });
    }

    /** A command line, not as root, whom PostgreSQL and what surrounds it refuse. */
    static List<String> unprivileged(String program, String... arguments) {
        List<String> command = new ArrayList<>();
        if (System.getProperty("user.name").equals("root")) {
            command.addAll(List.of("unshare", "-U"));
        }
        command.add(program);
        command.addAll(Arrays.asList(arguments));
        return command;
    }

    private static Path bin() {
        String given = System.getProperty("postgres.bin", "");
        if (!given.isEmpty()) {
            return Path.of(given);
        }
        try (Stream<Path> versions = Files.list(Path.of("/usr/lib/postgresql"))) {
            return versions.map(version -> version.resolve("bin"))
                    .filter(bin -> Files.isExecutable(bin.resolve("pg_basebackup")))
                    .max((one, other) -> Integer.compare(version(one), version(other)))
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int version(Path bin) {
        return Integer.parseInt(
                Objects.requireNonNull(Objects.requireNonNull(bin.getParent()).getFileName())
                        .toString());
    }

    @Override
    public void close() {
        if (Files.exists(data.resolve("postmaster.pid"))) {
            stopImmediately();
        }
    }
}
