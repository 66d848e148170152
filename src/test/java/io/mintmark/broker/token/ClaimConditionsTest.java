package io.mintmark.broker.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;

import io.mintmark.base.json.StrictJson;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

final class ClaimConditionsTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "{\"groups\":[\"x\"],\"hasgroups\":true}      | {\"groups\":[\"x\"]}",
                "{\"hasgroups\":true}                       | {\"hasgroups\":true}",
                "{\"hasgroups\":false}                      | {}",
                "{\"_claim_names\":{\"groups\":\"s\"}}        | {\"_claim_names\":{\"groups\":\"s\"}}",
                "{\"_claim_names\":{\"a\":\"s\",\"b\":\"s\"}} | {\"_claim_names\":{\"a\":\"s\"}}",
                "{\"_claim_names\":{\"b\":\"s\"}}             | {}",
                "{\"_claim_names\":\"a\"}                   | {}"
            })
    void what_the_issuer_left_out_is_seen(String token, String seen) throws IOException {
        ClaimConditions conditions =
                new ClaimConditions(
                        Map.of(
                                "groups", JsonNodeFactory.instance.textNode("x"),
                                "a", JsonNodeFactory.instance.textNode("y")));
        assertEquals(
                MAPPER.readTree(seen),
                MAPPER.valueToTree(
                        conditions.seenIn(new SeenClaims.OfToken(MAPPER.readTree(token)))));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "{}                                 | {}",
                "{\"a\":\"x\"}                      | {\"a\":\"x\",\"b\":1}",
                "{\"a\":1}                          | {\"a\":1}",
                "{\"a\":1}                          | {\"a\":1.0}",
                "{\"a\":1.50}                       | {\"a\":1.5}",
                "{\"a\":100}                        | {\"a\":1e2}",
                "{\"a\":9007199254740993}           | {\"a\":9007199254740993}",
                "{\"a\":true}                       | {\"a\":true}",
                "{\"a\":\"\"}                       | {\"a\":\"\"}",
                "{\"a\":[\"x\",\"y\"]}              | {\"a\":\"y\"}",
                "{\"a\":[1,\"y\",false]}            | {\"a\":false}",
                "{\"a\":\"x\"}                      | {\"a\":[\"w\",\"x\"]}",
                "{\"a\":[\"x\",\"y\"]}              | {\"a\":[\"w\",\"y\"]}",
                "{\"a\":{\"glob\":\"v*\"}}          | {\"a\":\"v1\"}",
                "{\"a\":{\"glob\":\"v*\"}}          | {\"a\":[1,\"v1\"]}",
                "{\"a\":[\"x\",{\"glob\":\"v*\"}]}  | {\"a\":\"v1\"}",
                "{\"/a/b\":\"x\"}                   | {\"a\":{\"b\":\"x\"}}",
                "{\"/a/1\":\"x\"}                   | {\"a\":[\"w\",\"x\"]}",
                "{\"/a~1b/c~0d\":\"x\"}             | {\"a/b\":{\"c~d\":\"x\"}}",
                "{\"/https:~1~1x\":\"y\"}           | {\"https://x\":\"y\"}",
                "{\"https://x/y\":\"z\"}            | {\"https://x/y\":\"z\"}",
                "{\"a.b\":\"x\"}                    | {\"a.b\":\"x\"}",
                "{\"/\":\"x\"}                      | {\"\":\"x\"}",
                "{\"\":\"x\"}                       | {\"\":\"x\"}"
            })
    void these_are_met(String conditions, String claims) throws IOException {
        assertTrue(areMet(conditions(conditions), json(claims)));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "{\"a\":\"x\"}                      | {}",
                "{\"a\":\"x\"}                      | {\"a\":null}",
                "{\"a\":\"x\"}                      | {\"a\":\"X\"}",
                "{\"a\":\"1\"}                      | {\"a\":1}",
                "{\"a\":1}                          | {\"a\":\"1\"}",
                "{\"a\":1}                          | {\"a\":true}",
                "{\"a\":true}                       | {\"a\":\"true\"}",
                "{\"a\":true}                       | {\"a\":1}",
                "{\"a\":1}                          | {\"a\":1.0000000000000001}",
                "{\"a\":9007199254740993}           | {\"a\":9007199254740992}",
                "{\"a\":\"x\"}                      | {\"a\":{\"x\":\"x\"}}",
                "{\"a\":\"x\"}                      | {\"a\":[]}",
                "{\"a\":\"x\"}                      | {\"a\":[[\"x\"]]}",
                "{\"a\":\"x\"}                      | {\"a\":[null]}",
                "{\"a\":[\"x\",\"y\"]}              | {\"a\":\"z\"}",
                "{\"a\":{\"glob\":\"1*\"}}          | {\"a\":12}",
                "{\"a\":{\"glob\":\"v*\"}}          | {\"a\":\"v1/2\"}",
                "{\"a\":{\"glob\":\"v*\"}}          | {\"a\":{\"glob\":\"v*\"}}",
                "{\"/a/b\":\"x\"}                   | {\"/a/b\":\"x\"}",
                "{\"/a/b\":\"x\"}                   | {\"a\":\"x\"}",
                "{\"/a/01\":\"x\"}                  | {\"a\":[\"w\",\"x\"]}",
                "{\"/a/-1\":\"x\"}                  | {\"a\":[\"x\"]}",
                "{\"/a/-\":\"x\"}                   | {\"a\":[\"x\"]}",
                "{\"a.b\":\"x\"}                    | {\"a\":{\"b\":\"x\"}}",
                "{\"a\":\"\u00e9\"}                 | {\"a\":\"e\u0301\"}"
            })
    void these_are_not(String conditions, String claims) throws IOException {
        assertFalse(areMet(conditions(conditions), json(claims)));
    }

    @Test
    void all_of_them_must_be_met() throws IOException {
        ClaimConditions conditions = conditions("{\"b\":[\"x\",\"y\"],\"a\":true}");
        assertTrue(areMet(conditions, json("{\"a\":true,\"b\":\"y\"}")));
        assertFalse(areMet(conditions, json("{\"a\":true,\"b\":\"z\"}")));
        assertFalse(areMet(conditions, json("{\"a\":false,\"b\":\"y\"}")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"claim\":null}",
                "{\"claim\":[]}",
                "{\"claim\":{}}",
                "{\"claim\":[null]}",
                "{\"claim\":[[\"x\"]]}",
                "{\"claim\":{\"glob\":1}}",
                "{\"claim\":{\"glob\":null}}",
                "{\"claim\":{\"regex\":\".*\"}}",
                "{\"claim\":{\"glob\":\"x\",\"not\":true}}",
                "{\"claim\":[\"x\",{\"glb\":\"y\"}]}",
                "{\"/claim~\":\"x\"}",
                "{\"/claim~2\":\"x\"}"
            })
    void a_condition_that_means_nothing_is_refused_by_name(String json) {
        IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> conditions(json));
        assertTrue(String.valueOf(thrown.getMessage()).contains("claim"), thrown::getMessage);
    }

    @Test
    void numbers_without_end_match_nothing_and_break_nothing() throws IOException {
        JsonNode infinite = DoubleNode.valueOf(Double.POSITIVE_INFINITY);
        assertThrows(
                IllegalArgumentException.class, () -> new ClaimConditions(Map.of("a", infinite)));
        assertFalse(
                areMet(
                        conditions("{\"a\":1}"),
                        JsonNodeFactory.instance.objectNode().set("a", infinite)));
    }

    @Test
    void conditions_do_not_change_with_what_they_were_made_of() throws IOException {
        ArrayNode values = (ArrayNode) json("[\"x\"]");
        Map<String, JsonNode> byClaim = new HashMap<>(Map.of("a", values));
        ClaimConditions conditions = new ClaimConditions(byClaim);
        values.add("y");
        byClaim.clear();
        assertFalse(areMet(conditions, json("{\"a\":\"y\"}")));
        assertThrows(UnsupportedOperationException.class, conditions.byClaim()::clear);
    }

    @Test
    void a_glob_beyond_the_bounds_is_refused_by_the_claims_name() {
        String json = "{\"claim\":{\"glob\":\"%s\"}}".formatted("**a".repeat(9));
        IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> conditions(json));
        assertTrue(String.valueOf(thrown.getMessage()).contains("'claim'"), thrown::getMessage);
    }

    @Test
    void globs_that_are_too_much_work_are_refused_before_it_is_done() throws IOException {
        JsonNode claims = json("{\"a\":\"%s\"}".formatted("a".repeat(11_000)));
        ClaimConditions conditions = anyOf(i -> "{\"glob\":\"a**a*%d*a\"}".formatted(i));
        assertThrows(Unavailable.class, () -> areMet(conditions, claims));
    }

    @Test
    void comparisons_that_are_too_much_work_are_refused_before_it_is_done() throws IOException {
        JsonNode claims = json("{\"a\":[%s0]}".formatted("0,".repeat(5_000)));
        assertThrows(Unavailable.class, () -> areMet(anyOf(i -> "%d".formatted(i + 1)), claims));
        assertThrows(Unavailable.class, () -> areMet(anyOf("\"%d\""::formatted), claims));
    }

    private static ClaimConditions anyOf(IntFunction<String> one) throws IOException {
        return conditions(
                IntStream.range(0, 150)
                        .mapToObj(one)
                        .collect(Collectors.joining(",", "{\"a\":[", "]}")));
    }

    private static boolean areMet(ClaimConditions conditions, JsonNode claims) {
        return conditions.areMetBy(
                new SeenClaims.OfToken(claims), new MatchingBudget(new TenantName("acme")));
    }

    private static ClaimConditions conditions(String json) throws IOException {
        return new ClaimConditions(
                MAPPER.readValue(json, new TypeReference<Map<String, JsonNode>>() {}));
    }

    private static JsonNode json(String text) throws IOException {
        return StrictJson.object(
                        ("{\"value\":" + text + "}").getBytes(StandardCharsets.UTF_8), 1 << 16)
                .orElseThrow()
                .path("value");
    }
}
