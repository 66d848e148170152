package io.mintmark.deployment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Makes the AOT cache: starts the packed program beside a database and stand-ins, mints by every
 * protocol, and stops it, upon which the JVM writes down which classes it linked and which methods
 * it ran often.
 */
public final class Training {
    /** With 1,000 a warm mint cost a tenth to a third more than without a cache, with these not. */
    private static final String ROUNDS = "6000";

    private Training() {}

    /**
     * Takes the launcher, and the file to write. The variable {@code TRAINING_ROUNDS} is for tests
     * of the commands, which need a cache and not a good one.
     */
    public static void main(String[] arguments) {
        Path cache = Path.of(arguments[1]).toAbsolutePath();
        int rounds = Integer.parseInt(System.getenv().getOrDefault("TRAINING_ROUNDS", ROUNDS));
        Logger.getLogger("").setLevel(Level.WARNING); // the embedded server's, some hundred lines
        System.out.println(
                "Mints beside a PostgreSQL of its own, for about five minutes of CPU time");
        try {
            train(Path.of(arguments[0]).toAbsolutePath(), cache, rounds);
            System.out.printf("%s: %d MiB%n", cache, Files.size(cache) >> 20);
            System.exit(0);
        } catch (IOException | RuntimeException | Error e) {
            // the embedded server's threads would keep this JVM alive
            e.printStackTrace();
            System.exit(1);
        }
    }

    private static void train(Path launcher, Path cache, int rounds) throws IOException {
        Files.deleteIfExists(cache);
        Path log = Files.createTempFile("mintmark-training", ".log");
        Site.Ports ports = Site.Ports.free();
        try (Site site = new Site(ports.url());
                Replica replica =
                        Replica.start(
                                List.of(launcher.toString()),
                                recording(site.environment(ports), cache),
                                ports.open(),
                                log)) {
            replica.awaitAnswers();
            new Practice(ports, site.token()).run(rounds);
            replica.stop();
            if (!Files.exists(cache)) {
                throw new IllegalStateException("no AOT cache was made: " + replica.log());
            }
        }
        Files.delete(log);
    }

    private static Map<String, String> recording(Map<String, String> environment, Path cache) {
        Map<String, String> recording = new HashMap<>(environment);
        recording.put("JAVA_OPTS", "-XX:AOTCacheOutput=" + cache);
        return recording;
    }
}
