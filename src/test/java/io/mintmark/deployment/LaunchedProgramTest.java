package io.mintmark.deployment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The program itself through the launcher: commands, statuses and signals pass through. */
@Tag("heavy")
@EnabledOnOs({OS.LINUX, OS.MAC})
class LaunchedProgramTest {
    @TempDir private Path directory;
    private Installation installed;

    @BeforeEach
    void install() throws IOException {
        installed = Installation.in(directory.resolve("with a space"));
    }

    private record Said(int status, String output, String errors) {}

    private Said run(String... arguments) throws Exception {
        return run(Map.of(), arguments);
    }

    private Said run(Map<String, String> environment, String... arguments) throws Exception {
        Path output = directory.resolve("output");
        Path errors = directory.resolve("errors");
        ProcessBuilder builder =
                new ProcessBuilder(command(arguments))
                        .redirectOutput(output.toFile())
                        .redirectError(errors.toFile());
        builder.environment().putAll(javaOfThisTest());
        builder.environment().keySet().removeIf(name -> name.startsWith("DATABASE_"));
        builder.environment().putAll(environment);
        int status = builder.start().waitFor();
        return new Said(status, Files.readString(output), Files.readString(errors));
    }

    private List<String> command(String... arguments) {
        return Stream.concat(Stream.of(installed.launcher().toString()), Stream.of(arguments))
                .toList();
    }

    private static Map<String, String> javaOfThisTest() {
        return Map.of("JAVA_HOME", System.getProperty("java.home"));
    }

    @Test
    void a_cache_that_does_not_fit_is_passed_over_without_a_word() throws Exception {
        Files.writeString(installed.cache(), "no cache at all");

        String version = "mintmark development, Java " + Runtime.version() + "\n";
        assertEquals(new Said(0, version, ""), run("--version"));
    }

    @Test
    void every_command_is_there_and_its_status_is_the_launchers() throws Exception {
        assertEquals(0, run("audit", "verify", "--help").status());
        Said check = run("check");

        assertEquals(2, check.status(), check.errors());
        assertTrue(check.output().contains("DATABASE_URL"), check.output());
    }

    @Test
    void a_broker_that_it_started_takes_no_settings_but_its_own_and_stops_in_order_upon_a_signal()
            throws IOException {
        Site.Ports ports = Site.Ports.free();
        try (Site site = new Site(ports.url())) {
            // would be Helidon's
            try (Replica replica = served(site, ports, "METRICS_ENABLED", "false")) {
                replica.awaitAnswers();

                assertTrue(metrics(ports).contains("mintmark_"), "no metrics");
                assertEquals(143, replica.stop());
                assertTrue(replica.log().contains("Mintmark has stopped"), replica.log());
            }
        }
    }

    @Test
    void where_whom_to_trust_can_not_be_read_a_check_says_so_and_a_start_serves_nobody()
            throws Exception {
        Path nonsense = Files.writeString(directory.resolve("authorities"), "nonsense");
        Site.Ports ports = Site.Ports.free();
        try (Site site = new Site(ports.url())) {
            String option = "-Djavax.net.ssl.trustStore=" + nonsense;
            Map<String, String> environment = new HashMap<>(site.environment(ports));
            environment.put("JAVA_OPTS", option);
            Said check = run(environment, "check");
            assertEquals(1, check.status(), check.errors());
            assertTrue(check.output().contains("the certificate authorities"), check::toString);

            try (Replica replica = served(site, ports, "JAVA_OPTS", option)) {
                assertEquals(1, replica.awaitEnd());
                String log = replica.log();
                assertTrue(log.contains("mintmark: the certificate authorities"), log);
                assertTrue(log.contains("can't be read (problem accessing trust store)"), log);
                assertFalse(log.contains("Mintmark serves"), log);
            }
        }
    }

    private Replica served(Site site, Site.Ports ports, String name, String value) {
        Map<String, String> environment = new HashMap<>(site.environment(ports));
        environment.putAll(javaOfThisTest());
        environment.put(name, value);
        return Replica.start(command("serve"), environment, ports.open(), directory.resolve("log"));
    }

    private static String metrics(Site.Ports ports) throws IOException {
        URI metrics = URI.create("http://localhost:%d/observe/metrics".formatted(ports.admin()));
        try (var in = metrics.toURL().openStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
