package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.ClientProcess.Ended;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The cache of the shell client on machines whose clock is wrong. */
@Tag("heavy")
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
class ClientClockTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration AGREES = Duration.ZERO;
    private static final Duration AHEAD = Duration.ofHours(-2);
    private static final Duration BEHIND = Duration.ofMinutes(20);
    private static final List<String[]> CACHED =
            List.of(
                    new String[] {"aws-process", "a"},
                    new String[] {"get", "a", "--format", "exec-credential"});
    private static final Pattern END =
            Pattern.compile("\"(?:Expiration|expirationTimestamp)\":\"([^\"]+)\"");

    @TempDir Path directory;
    private final ClientProcess client;

    ClientClockTest(Shell shell) {
        this.client = ClientProcess.under(shell);
    }

    private ClientProcess of(SkewedBroker broker) {
        return client.with("MINTMARK_URL", broker.url())
                .with(
                        "MINTMARK_TOKEN",
                        ClientProcess.token(Map.of("iss", "https://issuer", "sub", "ci:main")))
                .with("XDG_CACHE_HOME", directory.toString())
                .with("HOME", directory.toString());
    }

    private Ended run(SkewedBroker broker, String... arguments) {
        Ended ended = of(broker).run(arguments);
        assertEquals(0, ended.exit(), ended.err());
        return ended;
    }

    private static void assertEndsIn(Duration life, String out) {
        Matcher end = END.matcher(out);
        assertTrue(end.find(), out);
        Duration left = Duration.between(Instant.now(), Instant.parse(end.group(1)));
        assertTrue(left.minus(life).abs().toSeconds() < 30, () -> left + " instead of " + life);
    }

    @Test
    void with_a_clock_that_is_ahead_several_calls_are_one_mint_and_the_first_names_the_clock()
            throws IOException {
        for (String[] command : CACHED) {
            try (SkewedBroker broker = new SkewedBroker(AHEAD, HOUR)) {
                Ended first = run(broker, command);
                assertTrue(
                        first.err()
                                .matches(
                                        "mintmark-client: the clock of this machine is 720\\d s ahead of the broker's; correct the clock\n"),
                        first.err());
                assertEndsIn(HOUR, first.out());
                assertEquals(first.out(), run(broker, command).out());
                assertEquals("", run(broker, command).err());
                assertEquals(1, broker.mints());
            }
        }
    }

    @Test
    void with_a_clock_that_is_behind_no_credential_is_served_after_its_end() throws IOException {
        for (String[] command : CACHED) {
            try (SkewedBroker broker = new SkewedBroker(BEHIND, Duration.ofSeconds(299))) {
                Ended first = run(broker, command);
                assertTrue(
                        first.err().matches("(?s).* is 1[12]\\d\\d s behind the broker's.*"),
                        first.err());
                assertEndsIn(Duration.ofSeconds(299), first.out());
                run(broker, command);
                assertEquals(2, broker.mints());
            }
        }
    }

    @Test
    void a_clock_that_is_right_is_not_mentioned() throws IOException {
        for (String[] command : CACHED) {
            try (SkewedBroker broker = new SkewedBroker(AGREES, HOUR)) {
                assertEquals("", run(broker, command).err());
            }
        }
    }

    @Test
    void a_certificate_of_ssh_is_cached_by_the_brokers_clock() throws IOException {
        Assumptions.assumeTrue(Shell.find("ssh-keygen").isPresent(), "no ssh-keygen");
        try (SkewedBroker broker = new SkewedBroker(AHEAD, HOUR)) {
            assertTrue(run(broker, "ssh-certificate", "a").err().contains("s ahead of the broker"));
            assertEquals("", run(broker, "ssh-certificate", "a").err());
            assertEquals(1, broker.mints());
        }
        Path until = directory.resolve("mintmark/ssh-a.until");
        Files.delete(until);
        try (SkewedBroker broker = new SkewedBroker(BEHIND, Duration.ofSeconds(299))) {
            run(broker, "ssh-certificate", "a");
            run(broker, "ssh-certificate", "a");
            assertEquals(2, broker.mints());
        }
    }

    @Test
    void a_clock_that_was_set_back_voids_what_was_cached_before() throws IOException {
        try (SkewedBroker broker = new SkewedBroker(AGREES, HOUR)) {
            run(broker, "aws-process", "a");
            Path file = cached();
            String text = Files.readString(file);
            long written = Long.parseLong(text.split(" ", 2)[0]);
            Files.writeString(file, text.replaceFirst("\\d+", Long.toString(written + 1000)));
            run(broker, "aws-process", "a");
            run(broker, "aws-process", "a");
            assertEquals(2, broker.mints());
        }
    }

    private Path cached() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("mintmark"))) {
            return files.findFirst().orElseThrow();
        }
    }
}
