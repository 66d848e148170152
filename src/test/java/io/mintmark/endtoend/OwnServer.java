package io.mintmark.endtoend;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.EmbeddedServer;
import io.mintmark.base.sql.SqlRunner;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A PostgreSQL with fsync that can be stopped without warning, started again, and frozen. */
public final class OwnServer implements SqlRunner, AutoCloseable {
    static final String PASSWORD = "for-tests";

    /** In which Linux counts processor time. */
    private static final int MILLIS_OF_TICK = 10;

    /**
     * In /proc/PID/stat, after the name: own user and system time, then those of ended children.
     */
    private static final int OWN_TIME = 11;

    private static final int CHILDRENS_TIME = 13;
    private static final int ALL_TIMES = 15;

    private final Path data;
    private final EmbeddedPostgres embedded;
    private final List<String> command;
    private ProcessHandle postmaster;

    /**
     * Starts one.
     *
     * @param directory where its data is to be
     */
    public OwnServer(Path directory) throws IOException {
        this.data = directory.resolve("data");
        this.embedded =
                EmbeddedServer.start(
                        EmbeddedServer.builder()
                                .setServerConfig("fsync", "on")
                                .setServerConfig("synchronous_commit", "off"),
                        data);
        this.postmaster = running();
        this.command = command(postmaster.pid());
    }

    private ProcessHandle running() throws IOException {
        String pid = Files.readAllLines(data.resolve("postmaster.pid")).getFirst();
        return ProcessHandle.of(Long.parseLong(pid.trim())).orElseThrow();
    }

    /** As it was started; PostgreSQL doesn't run as root, so root becomes another user first. */
    private static List<String> command(long pid) throws IOException {
        List<String> command = new ArrayList<>();
        if (System.getProperty("user.name").equals("root")) {
            command.addAll(List.of("unshare", "-U"));
        }
        Path executable = Files.readSymbolicLink(Path.of("/proc/" + pid + "/exe"));
        command.add(executable.toString());
        String line = Files.readString(Path.of("/proc/" + pid + "/cmdline"));
        command.addAll(List.of(line.split("\0")).stream().skip(1).toList());
        return command;
    }

    /** Its first database, for JDBC. */
    public String url() {
        return "jdbc:postgresql://localhost:%d/postgres".formatted(embedded.getPort());
    }

    DatabaseLogin login(String user) {
        return new DatabaseLogin(url(), user, () -> Optional.of(PASSWORD));
    }

    @Override
    public Connection connect() throws SQLException {
        return DriverManager.getConnection(url(), "postgres", "");
    }

    private boolean answers() {
        try (Connection connection = DriverManager.getConnection(url(), "postgres", "")) {
            return connection.isValid(1);
        } catch (SQLException e) {
            return false;
        }
    }

    /** An immediate stop: no connection is finished, nothing is flushed. */
    public void stopImmediately() {
        signal("QUIT", Stream.of(postmaster));
        postmaster.onExit().join();
    }

    /** Starts it on the same data and port, and waits until it answers. */
    public void startAgain() {
        try {
            Process process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
            Eventually.holds(this::answers);
            postmaster = process.toHandle();
            postmaster = running();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Nothing of it runs any more, and nothing is closed. */
    void freeze() {
        signal("STOP", all());
    }

    void thaw() {
        signal("CONT", all());
    }

    private Stream<ProcessHandle> all() {
        return Stream.concat(Stream.of(postmaster), postmaster.descendants());
    }

    /** Processor time of its processes, and of those that have ended. */
    public Duration processorTime() throws IOException {
        long ticks = 0;
        for (ProcessHandle process : all().toList()) {
            String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            boolean isParent = process.equals(postmaster);
            for (int field = OWN_TIME; field < (isParent ? ALL_TIMES : CHILDRENS_TIME); field++) {
                ticks += Long.parseLong(fields[field]);
            }
        }
        return Duration.ofMillis(ticks * MILLIS_OF_TICK);
    }

    private static void signal(String name, Stream<ProcessHandle> processes) {
        List<String> command = new ArrayList<>(List.of("kill", "-" + name));
        processes.forEach(process -> command.add(Long.toString(process.pid())));
        try {
            new ProcessBuilder(command).inheritIO().start().waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends it, frozen or not. */
    @Override
    public void close() {
        thaw();
        Unchecked.run(embedded::close);
    }
}
