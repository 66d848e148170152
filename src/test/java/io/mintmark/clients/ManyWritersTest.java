package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Five hundred writers that start together behind one address, and an outage of 30 seconds: the
 * program's own loop, four hours of virtual time.
 */
class ManyWritersTest {
    @BeforeAll
    static void hasPython() {
        assumeTrue(Shell.find("python3").isPresent(), "no python3");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 42})
    void no_credential_is_past_its_end_and_no_limit_is_exceeded(int seed) throws Exception {
        JsonNode seen = simulated(Integer.toString(seed));
        assertEquals(500, seen.get("writers").asInt(), seen::toString);
        assertEquals(0, seen.get("pastTheirEnd").asInt(), seen::toString);
        assertTrue(seen.get("mintsInOneSecond").asInt() <= 20, seen::toString);
        assertTrue(seen.get("mintsInOneMinute").asInt() <= 100, seen::toString);
        assertTrue(seen.get("allServedAfter").asInt() <= 360, seen::toString);
        assertTrue(seen.get("requestsInOneSecondLater").asInt() <= 20, seen::toString);
    }

    @Test
    void writers_that_renew_at_the_end_are_late_and_come_together() throws Exception {
        JsonNode seen = simulated("1", "1.0");
        assertTrue(seen.get("pastTheirEnd").asInt() > 0, seen::toString);
        assertTrue(seen.get("requestsInOneSecondLater").asInt() > 20, seen::toString);
    }

    private static JsonNode simulated(String... arguments)
            throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "python3",
                                "-IB",
                                "src/test/resources/clients/writers.py",
                                "src/clients/mintmark-writer"));
        command.addAll(List.of(arguments));
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        JsonNode seen = new ObjectMapper().readTree(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor());
        return seen;
    }
}
