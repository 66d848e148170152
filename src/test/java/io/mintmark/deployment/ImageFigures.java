package io.mintmark.deployment;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The image beside the launcher and the plain jar of the same build, all with a heap of 256 MiB:
 * how soon each answers, how fast it mints, what that costs it. Run by {@code .ci/image
 * ImageFigures}, as root, who may look at a container's processes.
 */
class ImageFigures {
    private static final int MINTS = Integer.getInteger("figures.mints", 4_000);
    private static final int ROUNDS = Integer.getInteger("figures.rounds", 3);
    private static final String CONTAINER = "mintmark-figures";
    private static final String HEAP = "-Xmx256m";
    private static final int USER_TIME = 11;
    private static final int SYSTEM_TIME = 12;
    private static final double TICKS_IN_A_SECOND = 100;

    @TempDir private Path directory;

    /** What is measured, and how it is started. */
    private enum Program {
        JAR,
        LAUNCHER,
        IMAGE;

        List<String> command(Map<String, String> environment) throws IOException {
            return switch (this) {
                case JAR ->
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                HEAP,
                                "-jar",
                                "target/mintmark.jar");
                case LAUNCHER -> List.of("target/mintmark");
                case IMAGE ->
                        ImageIT.broker(environment, List.of(ImageIT.TMP, "--name=" + CONTAINER));
            };
        }

        /** The JVM, as this machine numbers it. */
        long pid(Replica replica) throws IOException {
            return this == IMAGE ? containersPid() : replica.pid();
        }
    }

    @Test
    void starts_and_mints() throws IOException {
        System.out.printf(
                "%s before it%n%n| program | first answer | processor time until then | mints a second"
                        + " | mints a CPU-second | resident |%n|---|---|---|---|---|---|%n",
                Files.readString(Path.of("/proc/loadavg")).strip());
        for (int round = 0; round < ROUNDS; round++) {
            for (Program program : Program.values()) {
                measure(program);
            }
        }
    }

    private void measure(Program program) throws IOException {
        Site.Ports ports = Site.Ports.free();
        try (Site site = new Site(ports.url())) {
            Map<String, String> environment = new HashMap<>(site.environment(ports));
            environment.put("JAVA_OPTS", HEAP);
            List<String> command = program.command(environment);
            long began = System.nanoTime();
            try (Replica replica =
                    Replica.start(command, environment, ports.open(), directory.resolve("log"))) {
                replica.awaitAnswers();
                long answered = System.nanoTime();
                long pid = program.pid(replica);
                double start = processorSeconds(pid);
                new Practice(ports, site.token()).mint(MINTS);
                double seconds = (System.nanoTime() - answered) / 1e9;
                System.out.printf(
                        "| %s | %,d ms | %.2f s | %,.0f | %,.0f | %d MiB |%n",
                        program,
                        (answered - began) / 1_000_000,
                        start,
                        MINTS / seconds,
                        MINTS / (processorSeconds(pid) - start),
                        residentMebibytes(pid));
                replica.stop();
            }
        }
    }

    private static long containersPid() throws IOException {
        List<String> command = new ArrayList<>(ImageIT.ENGINE);
        command.addAll(List.of("inspect", "--format", "{{.State.Pid}}", CONTAINER));
        Process inspect = new ProcessBuilder(command).start();
        String pid = new String(inspect.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return Long.parseLong(pid.strip());
    }

    private static double processorSeconds(long pid) throws IOException {
        String line = Files.readString(Path.of("/proc/%d/stat".formatted(pid)));
        String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
        return (Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[SYSTEM_TIME]))
                / TICKS_IN_A_SECOND;
    }

    private static long residentMebibytes(long pid) throws IOException {
        return Files.readAllLines(Path.of("/proc/%d/status".formatted(pid))).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
                .findFirst()
                .orElseThrow();
    }
}
