package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.outbound.RawServer;
import io.mintmark.clients.ClientProcess.Ended;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.IntStream;

/**
 * The shell client against generated answers of a hostile broker. {@code -Dhostile.answers=5000}
 * runs more of them, {@code -Dhostile.seed=…} others.
 */
@Tag("heavy")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
class GeneratedAnswersTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int ANSWERS = Integer.getInteger("hostile.answers", 60);
    private static final long SEED = Long.getLong("hostile.seed", 20_261_123);
    private static final int AT_A_TIME = 3;

    /** The client's own environment, and what shells add: zsh sets HOME and LOGNAME. */
    private static final Set<String> OWN =
            Set.of(
                    "PATH",
                    "MINTMARK_URL",
                    "MINTMARK_TOKEN",
                    "PWD",
                    "OLDPWD",
                    "SHLVL",
                    "_",
                    "HOME",
                    "LOGNAME");

    private final Shell shell;

    GeneratedAnswersTest(Shell shell) {
        this.shell = shell;
    }

    @Test
    void no_answer_reaches_the_environment_but_in_accepted_members() throws Exception {
        RandomGenerator seeds = RandomGeneratorFactory.of("L64X128MixRandom").create(SEED);
        try (ExecutorService clients = Executors.newFixedThreadPool(AT_A_TIME)) {
            var checks =
                    IntStream.range(0, ANSWERS)
                            .mapToObj(_ -> seeds.nextLong())
                            .map(seed -> clients.submit(() -> check(seed)))
                            .toList();
            for (Future<?> check : checks) {
                check.get();
            }
        }
    }

    private Void check(long seed) throws IOException {
        HostileAnswer answer = HostileAnswer.of(seed);
        try (RawServer broker =
                RawServer.serving(socket -> {
                    RawServer.request(socket.getInputStream());
                    answer.writeTo(socket.getOutputStream());
                })) {
            Ended ended =
                    ClientProcess.under(shell)
                            .with("MINTMARK_URL", broker.origin())
                            .with("MINTMARK_TOKEN", "aaaa.bbbb.cccc")
                            .run("exec", "--once", "deploy", "--", "jq", "-n", "env");
            String what = "seed " + seed + ", " + answer.kind() + "\n" + ended;
            assertEquals(answer.exit(), ended.exit(), what);
            assertMessages(ended, what);
            assertEnvironment(answer, ended, what);
        }
        return null;
    }

    private static void assertMessages(Ended ended, String what) {
        String messages = ended.err();
        assertFalse(messages.contains(HostileAnswer.SECRET), what);
        assertFalse(messages.contains("aaaa.bbbb"), what);
        assertFalse(messages.contains("::") || messages.contains("##"), what);
        assertTrue(messages.length() < 5000, what);
        assertTrue(
                messages.chars().allMatch(c -> c == '\n' || (c > 31 && c < 127) || c > 159), what);
        assertTrue(messages.lines().allMatch(line -> line.startsWith("mintmark-client: ")), what);
        assertEquals(ended.exit() == 0, messages.isEmpty(), what);
    }

    private static void assertEnvironment(HostileAnswer answer, Ended ended, String what)
            throws IOException {
        if (answer.exit() != 0) {
            assertEquals("", ended.out(), what);
            return;
        }
        JsonNode environment = JSON.readTree(ended.out());
        Set<String> names = new TreeSet<>();
        environment.fieldNames().forEachRemaining(names::add);
        names.removeAll(OWN);
        Map<String, String> members = answer.members();
        assertEquals(new TreeSet<>(members.keySet()), names, what);
        members.forEach(
                (name, value) -> assertEquals(value, environment.path(name).asText(), what));
    }
}
