package io.mintmark.auditor.witness;

import io.mintmark.ReservedPorts;
import io.mintmark.Unchecked;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.WitnessPolicy;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;

/**
 * The program's own witness, with its server and its state. It asks its clock for the time of a
 * cosignature after it has written the head, so that the clock is what stalls it.
 */
final class OwnWitnessProcess implements KillableWitness {
    private static final String NAME = "own.example/1";
    private static final String STALL = "stall";
    private static final String STALLED = "stalled";

    private final Path directory;
    private final int port = ReservedPorts.next();
    private @Nullable Process process;

    OwnWitnessProcess(Path directory, NoteKey log) throws IOException {
        this.directory = Files.createDirectories(directory);
        Files.writeString(
                directory.resolve("policy"), "log %s\nquorum none\n".formatted(log.text()));
    }

    /** Runs the witness. The arguments are its directory and port. */
    public static void main(String... arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        try (Witness witness =
                        new Witness(
                                WitnessPolicy.read(directory.resolve("policy")),
                                directory.resolve("state"),
                                NAME,
                                () -> now(directory));
                WitnessServer _ =
                        new WitnessServer(
                                witness,
                                new InetSocketAddress(
                                        InetAddress.getLoopbackAddress(),
                                        Integer.parseInt(arguments[1])))) {
            new CountDownLatch(1).await();
        }
    }

    private static Instant now(Path directory) {
        if (Files.exists(directory.resolve(STALL))) {
            Unchecked.run(() -> Files.createFile(directory.resolve(STALLED)));
            Unchecked.await(new CountDownLatch(1));
        }
        return Instant.now();
    }

    @Override
    public NoteKey key() {
        return Unchecked.call(() ->
                NoteKey.parse(
                        Files.readString(directory.resolve("state/witness.vkey")).strip(),
                        NoteKey.Type.COSIGNATURE));
    }

    @Override
    public String url() {
        return "http://127.0.0.1:" + port;
    }

    @Override
    public void start() throws IOException {
        Files.deleteIfExists(directory.resolve(STALL));
        Files.deleteIfExists(directory.resolve(STALLED));
        ProcessBuilder builder =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                OwnWitnessProcess.class.getName(),
                                directory.toString(),
                                Integer.toString(port))
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("log").toFile());
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        process = builder.start();
        Listening.await(port, process);
    }

    @Override
    public void kill() {
        Listening.kill(process);
    }

    @Override
    public void stall() throws IOException {
        Files.createFile(directory.resolve(STALL));
    }

    @Override
    public boolean isStalled() {
        return Files.exists(directory.resolve(STALLED));
    }

    @Override
    public void close() {
        kill();
    }
}
