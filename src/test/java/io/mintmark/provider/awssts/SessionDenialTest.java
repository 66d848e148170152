package io.mintmark.provider.awssts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

class SessionDenialTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static List<String> users(List<String> policies) throws JsonProcessingException {
        List<String> users = new ArrayList<>();
        for (String policy : policies) {
            JsonNode statement = JSON.readTree(policy).at("/Statement/0");
            statement
                    .at("/Condition/StringLike/aws:userid")
                    .forEach(user -> users.add(user.asText()));
        }
        return users;
    }

    @Test
    void a_policy_denies_everything_to_the_sessions_that_it_names() {
        assertEquals(
                List.of(
                        "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Sid\":\"Block7\",\"Effect\":\"Deny\","
                                + "\"Action\":\"*\",\"Resource\":\"*\",\"Condition\":{\"StringLike\":"
                                + "{\"aws:userid\":[\"*:ci-1\",\"*:ci-2\"]}}}]}"),
                SessionDenial.policies("Block7", List.of("ci-1", "ci-2")));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 85, 90, 91, 1_000})
    void many_sessions_are_denied_each_once_in_pieces_that_aws_takes(int count)
            throws JsonProcessingException {
        List<String> sessions = IntStream.range(0, count).mapToObj("%064d"::formatted).toList();
        List<String> policies = SessionDenial.policies("Block1", sessions);
        assertEquals(sessions.stream().map(session -> "*:" + session).toList(), users(policies));
        assertTrue(
                policies.stream().allMatch(policy -> policy.length() <= SessionDenial.MAX_LENGTH));
        int each = users(policies.subList(0, 1)).size();
        assertEquals((count + each - 1) / each, policies.size());
    }
}
