package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** When the agent mints, in virtual time: the program's own code, with credentials of an hour. */
class AgentRenewalTest {
    @BeforeAll
    static void hasPython() {
        assumeTrue(Shell.find("python3").isPresent(), "no python3");
    }

    /** What a scenario led to: seconds from its start, and the statuses that callers got. */
    private record Seen(List<Double> mints, List<Integer> statuses) {

        static Seen of(String scenario) throws IOException, InterruptedException {
            Process process =
                    new ProcessBuilder(
                                    "python3",
                                    "-IB",
                                    "src/test/resources/clients/agent.py",
                                    "src/clients/mintmark-agent",
                                    scenario)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start();
            JsonNode seen = new ObjectMapper().readTree(process.getInputStream().readAllBytes());
            assertEquals(0, process.waitFor());
            return new Seen(
                    seen.get("mints").valueStream().map(JsonNode::asDouble).toList(),
                    seen.get("statuses").valueStream().map(JsonNode::asInt).distinct().toList());
        }

        List<Double> gaps() {
            return IntStream.range(1, mints.size())
                    .mapToObj(i -> mints.get(i) - mints.get(i - 1))
                    .toList();
        }
    }

    @Test
    void a_credential_in_use_is_renewed_between_60_and_75_percent_of_its_life_at_random()
            throws Exception {
        for (String scenario : List.of("steady", "set back")) {
            Seen seen = Seen.of(scenario);
            assertEquals(List.of(200), seen.statuses());
            assertTrue(seen.gaps().size() >= 14, seen::toString);
            assertTrue(
                    seen.gaps().stream().allMatch(gap -> gap >= 2159 && gap <= 2702),
                    seen::toString);
            assertTrue(
                    seen.gaps().stream().map(Math::round).distinct().count() > 7, seen::toString);
        }
    }

    @Test
    void a_credential_that_nobody_asks_for_is_renewed_once_and_then_ends() throws Exception {
        assertEquals(2, Seen.of("once").mints().size());
    }

    @Test
    void while_renewals_fail_callers_get_the_credential_and_the_waits_grow() throws Exception {
        Seen seen = Seen.of("outage");
        assertEquals(List.of(200), seen.statuses());
        assertTrue(seen.mints().size() < 40, seen::toString);
        assertTrue(seen.gaps().stream().skip(1).anyMatch(gap -> gap > 20), seen::toString);
        assertTrue(seen.mints().getLast() < 3000, seen::toString);
    }

    @Test
    void nothing_is_minted_within_the_time_that_the_broker_asks_to_wait() throws Exception {
        Seen seen = Seen.of("asked");
        assertEquals(List.of(503), seen.statuses().subList(0, 1));
        assertTrue(seen.gaps().getFirst() >= 100, seen::toString);
    }

    /** A gateway's 502 or 504: each mint may have issued a credential. */
    @Test
    void a_mint_of_unknown_outcome_is_repeated_after_half_a_minute_and_not_by_sdks()
            throws Exception {
        Seen seen = Seen.of("gateway");
        assertEquals(List.of(400), seen.statuses());
        assertTrue(seen.gaps().stream().allMatch(gap -> gap >= 30), seen::toString);
    }

    @Test
    void credentials_that_are_over_when_they_come_are_minted_ever_less_often() throws Exception {
        Seen seen = Seen.of("expired");
        assertEquals(
                List.of(30L, 60L, 120L),
                Stream.of(0, 1, 2).map(i -> seen.gaps().get(i).longValue() / 30 * 30).toList());
    }
}
