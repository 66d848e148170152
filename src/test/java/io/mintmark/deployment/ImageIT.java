package io.mintmark.deployment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The image in containers as k8s/ runs them: a read-only root file system, no capabilities, a small
 * /tmp, 512 MiB. Run by {@code .ci/image}, which makes it; {@code -Dimage} names it, {@code
 * -Dimage.engine} podman or docker, {@code -Dimage.options} what these need on this machine.
 */
class ImageIT {
    static final List<String> ENGINE = words("image.engine", "podman");
    private static final String IMAGE = System.getProperty("image", "localhost/mintmark:test");
    private static final List<String> LIMITS = List.of("--memory=512m", "--memory-swap=512m");
    static final String TMP = "--tmpfs=/tmp:size=64m,mode=1777,exec";
    private static final String FULL_TMP = "--tmpfs=/tmp:size=4k,mode=1777,exec";
    private static final int MINTS = 300;
    private static final int MANY = 10_000;

    /** A token is valid for five minutes. */
    private static final int MINTS_OF_A_TOKEN = 1_000;

    private static final int ANYBODY = 4711;

    @TempDir private Path directory;

    private static List<String> words(String property, String usual) {
        return List.of(System.getProperty(property, usual).split(",", -1));
    }

    /** Nothing is left of it when its process ends. */
    private static List<String> command(List<String> options, String... arguments) {
        List<String> command = new ArrayList<>(ENGINE);
        command.addAll(List.of("run", "--rm", "--network=host", "--read-only", "--cap-drop=ALL"));
        command.add("--security-opt=no-new-privileges");
        command.addAll(words("image.options", "--interactive=false"));
        command.addAll(options);
        command.add(IMAGE);
        command.addAll(List.of(arguments));
        return command;
    }

    private static List<String> with(List<String> options, String... more) {
        return Stream.concat(options.stream(), Stream.of(more)).toList();
    }

    private record Said(int status, String text) {}

    private static Said run(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Said(process.waitFor(), text);
    }

    private static Said shell(List<String> options, String script) throws Exception {
        return run(command(with(options, "--entrypoint=/bin/sh"), "-c", script));
    }

    /** What runs a broker in a container, its keys mounted where its settings say. */
    static List<String> broker(Map<String, String> environment, List<String> options)
            throws IOException {
        List<String> all = new ArrayList<>(with(LIMITS, options.toArray(String[]::new)));
        Path keys =
                Path.of(environment.getOrDefault("AUDIT_SIGNING_KEY_FILE", ""))
                        .resolveSibling("")
                        .toAbsolutePath();
        readableByAll(keys);
        all.add("--volume=%1$s:%1$s:ro".formatted(keys));
        environment.forEach((name, value) -> all.add("--env=" + name + "=" + value));
        return command(all);
    }

    private static void readableByAll(Path keys) throws IOException {
        try (Stream<Path> files = Files.walk(keys)) {
            for (Path file : files.toList()) {
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
        }
    }

    private void mintsAndStops(List<String> options, int mints) throws IOException {
        Site.Ports ports = Site.Ports.free();
        try (Site site = new Site(ports.url());
                Replica broker =
                        Replica.start(
                                broker(site.environment(ports), options),
                                Map.of(),
                                ports.open(),
                                directory.resolve("log"))) {
            broker.awaitAnswers();
            for (int minted = 0; minted < mints; minted += MINTS_OF_A_TOKEN) {
                int times = Math.min(MINTS_OF_A_TOKEN, mints - minted);
                new Practice(ports, site.token()).mint(times);
            }
            assertEquals(143, broker.stop(), broker.log());
            assertTrue(broker.log().contains("Mintmark has stopped"), broker.log());
            site.database()
                    .assertRows(
                            "SELECT count(*) FROM audit.event WHERE kind = 'issued'",
                            Integer.toString(mints));
        }
    }

    @Test
    void it_starts_and_mints_and_a_signal_stops_it_in_order() throws Exception {
        mintsAndStops(List.of(TMP), MINTS);
    }

    @Test
    void under_load_512_mebibytes_are_enough() throws Exception {
        mintsAndStops(List.of(TMP), MANY);
    }

    @Test
    void a_full_tmp_keeps_it_from_nothing() throws Exception {
        assertNotEquals(0, shell(List.of(FULL_TMP), "head -c 100000 /dev/zero >/tmp/x").status());
        mintsAndStops(List.of(FULL_TMP), MINTS);
    }

    @Test
    void it_runs_as_whatever_user_it_is_told() throws Exception {
        mintsAndStops(List.of(TMP, "--user=%1$d:%1$d".formatted(ANYBODY)), MINTS);
    }

    @Test
    void a_key_that_its_user_may_not_read_is_named_in_one_line() throws Exception {
        Path keys = Files.createDirectory(directory.resolve("keys"));
        Path key = Files.writeString(keys.resolve("audit.pem"), "secret");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        Said said =
                run(
                        command(
                                List.of(
                                        "--volume=%s:/keys:ro".formatted(keys),
                                        "--env=AUDIT_SIGNING_KEY_FILE=/keys/audit.pem",
                                        "--env=BROKER_SIGNING_KEYS_DIR=/keys"),
                                "check"));

        assertNotEquals(0, said.status());
        assertEquals(1, said.text().lines().filter(it -> it.contains("/keys/audit.pem")).count());
        assertFalse(said.text().contains("secret"), said.text());
    }

    @Test
    void it_is_nobody_of_note_and_can_write_nowhere_but_in_tmp() throws Exception {
        String attempts =
                """
                id -u
                for place in / /app /app/libs /etc /home /opt /root /run /usr /var; do
                    if (: >"$place/x") 2>/dev/null; then echo "wrote to $place"; fi
                done
                : >/tmp/x && echo done
                """;

        assertEquals(new Said(0, "10001\ndone\n"), shell(List.of(TMP), attempts));
    }

    /** Also where somebody forgets the read-only root. */
    @Test
    void the_program_belongs_to_somebody_else_than_its_user() throws Exception {
        String attempts = "for f in /app /app/* /app/libs/*; do [ ! -O $f ] || echo $f; done";

        assertEquals(new Said(0, ""), shell(List.of(), attempts));
    }

    /** In this mode the JVM ends where it can't take it. */
    @Test
    void its_aot_cache_fits_its_java_and_its_jars() throws Exception {
        Said said =
                run(command(List.of(TMP, "--env=JAVA_OPTS=-XX:AOTMode=on -Xlog:aot"), "--version"));

        assertEquals(0, said.status(), said.text());
        assertTrue(said.text().contains("mintmark "), said.text());
    }

    @Test
    void its_heap_is_half_of_what_the_container_may_have() throws Exception {
        for (int mebibytes : List.of(256, 512, 1024)) {
            Said said =
                    run(
                            command(
                                    List.of(
                                            "--memory=%dm".formatted(mebibytes),
                                            "--env=JAVA_OPTS=-XX:+PrintCommandLineFlags"),
                                    "--version"));
            long heap = (mebibytes / 2L) << 20;

            assertTrue(said.text().contains("-XX:MaxHeapSize=" + heap + " "), said.text());
        }
    }
}
