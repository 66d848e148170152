package io.mintmark.auditor.explain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.broker.catalogue.Decisions;
import io.mintmark.broker.catalogue.Decisions.Acting;
import io.mintmark.broker.catalogue.Decisions.Service;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The service and broker.explain agree, whatever the grants, the claims and who acts for a subject.
 */
@Tag("heavy")
class ExplainAgreesTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int TENANTS = 40;
    private static final int TOKENS = 15;

    /** Few and alike, so that many match and many nearly do. */
    private static final List<String> PIECES =
            List.of("a", "b", ":", "/", "aa", "ab", "é", "😀", "\uFFFD", ".", "[", "a:b", "b/a");

    private static final List<String> CLAIMS =
            List.of("x", "y", "/x", "/x/0", "/x/x", "/y/x/1", "/", "", "/x/~0a", "/x/~1");
    private static final List<String> PARTIES = List.of("a:x", "a:x", "b:x");
    private static final List<String> ACTORS = List.of("own", "agents");
    private static final List<String> MEMBERS = List.of("x", "y", "", "~a", "/", "0");
    private static final List<String> NETWORKS =
            List.of("0.0.0.0/0", "203.0.113.0/24", "203.0.113.8/31", "203.0.113.10/32", "::/0");
    private static final List<String> NUMBERS =
            List.of("0", "1", "1.0", "10", "1e1", "-1", "0.1", "123456789012345678901234567890");

    private int withActor;

    @Test
    void on_random_grants_claims_and_actors() throws SQLException {
        long seed = Long.getLong("seed", System.nanoTime());
        Random random = new Random(seed);
        try (Decisions decisions = new Decisions()) {
            // a run may draw no actor that a grant is for
            for (int tenant = 0;
                    tenant < TENANTS || (withActor == 0 && tenant < 10 * TENANTS);
                    tenant++) {
                String name = "r-" + tenant;
                JsonNode required =
                        random.nextInt(4) == 0 ? conditions(random) : JSON.createObjectNode();
                JsonNode grants = grants(random);
                JsonNode blocks = blocks(random);
                decisions.tenant(name, required, grants);
                decisions.blocks(name, blocks);
                for (int token = 0; token < TOKENS; token++) {
                    ObjectNode claims = withNulls(claims(random), random);
                    Optional<Acting> acting = acting(random, claims);
                    assertAgree(
                            decisions,
                            name,
                            claims,
                            acting,
                            () ->
                                    "-Dseed=%d: required %s, grants %s, blocks %s, claims %s, acting %s"
                                            .formatted(
                                                    seed, required, grants, blocks, claims,
                                                    acting));
                }
            }
        }
        assertTrue(withActor > 0, "no grant with an actor was used");
    }

    /** Who acts is on record in the token of the subject, or has a token of its own. */
    private void assertAgree(
            Decisions decisions,
            String tenant,
            JsonNode claims,
            Optional<Acting> acting,
            Supplier<String> message)
            throws SQLException {
        Service service =
                decisions.service(
                        tenant, claims, acting.filter(_ -> !claims.path("act").isObject()));
        if (service.refusal().isPresent()) {
            return;
        }
        SortedMap<String, Long> granted = new TreeMap<>();
        service.mintable().forEach((key, mintable) -> granted.put(key, mintable.number()));
        assertEquals(granted, explain(decisions, tenant, claims, acting), message);
        withActor += acting.isPresent() ? granted.size() : 0;
    }

    private static Map<String, Long> explain(
            Decisions decisions, String tenant, JsonNode claims, Optional<Acting> acting)
            throws SQLException {
        return decisions.explain(tenant, claims, acting).entrySet().stream()
                .filter(row -> row.getValue().granted())
                .collect(
                        Collectors.toMap(
                                Map.Entry::getKey,
                                row -> Long.parseLong(String.valueOf(row.getValue().number()))));
    }

    private static JsonNode grants(Random random) {
        ArrayNode grants = JSON.createArrayNode();
        IntStream.range(0, 1 + random.nextInt(12)).forEach(_ -> grants.add(grant(random)));
        return grants;
    }

    private static ObjectNode grant(Random random) {
        ObjectNode grant = JSON.createObjectNode();
        boolean glob = random.nextInt(3) > 0;
        grant.put("match", glob ? "glob" : "exact");
        grant.put("subject", glob ? "a:x" + pattern(random) : "a:x" + text(random));
        grant.put("key", random.nextBoolean() ? "api" : "deploy");
        grant.set("claims", random.nextInt(3) == 0 ? conditions(random) : JSON.createObjectNode());
        grant.put("enabled", random.nextInt(8) > 0);
        if (random.nextBoolean()) {
            boolean globs = random.nextInt(3) > 0;
            grant.put("actor_idp", one(random, ACTORS));
            grant.put("actor_match", globs ? "glob" : "exact");
            grant.put("actor", globs ? "b:x" + pattern(random) : "b:x" + text(random));
            grant.set(
                    "actor_claims",
                    random.nextInt(3) == 0 ? conditions(random) : JSON.createObjectNode());
        }
        if (random.nextInt(3) == 0) {
            ArrayNode networks = grant.putArray("networks");
            NETWORKS.stream().filter(_ -> random.nextBoolean()).forEach(networks::add);
            if (networks.isEmpty()) {
                networks.add("198.51.100.0/24");
            }
        }
        switch (random.nextInt(6)) {
            case 0 -> grant.put("valid_from", random.nextInt(3) - 1);
            case 1 -> grant.put("valid_until", random.nextInt(3) - 1);
            case 2 -> grant.put("valid_until", 899 + random.nextInt(3));
            case 3 -> grant.put("max_duration", 900 + random.nextInt(2));
            default -> {}
        }
        return grant;
    }

    /** Of different subjects: a block is written once. */
    private static JsonNode blocks(Random random) {
        Map<String, ObjectNode> blocks = new LinkedHashMap<>();
        IntStream.range(0, random.nextInt(4))
                .mapToObj(_ -> block(random))
                .forEach(block -> blocks.put(block.path("subject").textValue(), block));
        return JSON.createArrayNode().addAll(blocks.values());
    }

    private static ObjectNode block(Random random) {
        ObjectNode block = JSON.createObjectNode();
        boolean glob = random.nextBoolean();
        block.put("match", glob ? "glob" : "exact");
        block.put("subject", one(random, PARTIES) + (glob ? pattern(random) : text(random)));
        block.put("enabled", random.nextInt(8) > 0);
        if (random.nextBoolean()) {
            block.set("claims", conditions(random));
            if (glob && random.nextInt(4) == 0) {
                block.put("subject", "**");
            }
        }
        if (random.nextInt(4) == 0) {
            block.put("until", random.nextBoolean() ? 3_600 : -3_600);
        }
        switch (random.nextInt(4)) {
            case 0 -> block.put("in_all_tenants", true);
            case 1 -> block.put("idp", one(random, List.of("own", "other", "agents")));
            default -> {}
        }
        return block;
    }

    /** By the claim act, by a token of its own, or nobody. */
    private static Optional<Acting> acting(Random random, ObjectNode claims) {
        if (random.nextInt(3) == 0) {
            return Optional.empty();
        }
        ObjectNode actor = withNulls(claims(random), random);
        actor.put("sub", "b:x" + text(random));
        if (random.nextBoolean()) {
            return Optional.of(new Acting("agents", actor));
        }
        claims.set("act", actor);
        return Optional.of(new Acting("own", actor));
    }

    private static ObjectNode claims(Random random) {
        ObjectNode claims = JSON.createObjectNode();
        claims.put("sub", "a:x" + text(random));
        IntStream.range(0, random.nextInt(4))
                .forEach(_ -> claims.set(one(random, MEMBERS), value(random, 2)));
        return claims;
    }

    /** No condition can hold U+0000, and no {@code sub}; any other claim can. */
    private static ObjectNode withNulls(ObjectNode claims, Random random) {
        if (random.nextBoolean()) {
            return claims;
        }
        try {
            String text = claims.toString().replace("\uFFFD", "\\u0000");
            return ((ObjectNode) JSON.readTree(text)).set("sub", claims.path("sub"));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static ObjectNode conditions(Random random) {
        ObjectNode conditions = JSON.createObjectNode();
        IntStream.range(0, 1 + random.nextInt(2))
                .forEach(_ -> conditions.set(one(random, CLAIMS), condition(random)));
        return conditions;
    }

    private static JsonNode condition(Random random) {
        if (random.nextInt(4) > 0) {
            return simple(random);
        }
        ArrayNode any = JSON.createArrayNode();
        IntStream.range(0, 1 + random.nextInt(3)).forEach(_ -> any.add(simple(random)));
        return any;
    }

    private static JsonNode simple(Random random) {
        return random.nextInt(3) == 0
                ? JSON.createObjectNode().put("glob", pattern(random))
                : scalar(random);
    }

    private static JsonNode value(Random random, int depth) {
        return switch (random.nextInt(depth > 0 ? 6 : 3)) {
            case 0, 1 -> scalar(random);
            case 2 -> JSON.getNodeFactory().nullNode();
            case 3, 4 -> {
                ArrayNode list = JSON.createArrayNode();
                IntStream.range(0, random.nextInt(3))
                        .forEach(_ -> list.add(value(random, depth - 1)));
                yield list;
            }
            default -> {
                ObjectNode object = JSON.createObjectNode();
                IntStream.range(0, random.nextInt(3))
                        .forEach(_ -> object.set(one(random, MEMBERS), value(random, depth - 1)));
                yield object;
            }
        };
    }

    private static JsonNode scalar(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> JSON.getNodeFactory().booleanNode(random.nextBoolean());
            case 1 -> JSON.getNodeFactory().numberNode(new BigDecimal(one(random, NUMBERS)));
            default -> JSON.getNodeFactory().textNode(text(random));
        };
    }

    private static String text(Random random) {
        return IntStream.range(0, 1 + random.nextInt(3))
                .mapToObj(_ -> one(random, PIECES))
                .collect(Collectors.joining());
    }

    private static String pattern(Random random) {
        return IntStream.range(0, 1 + random.nextInt(4))
                .mapToObj(_ ->
                        switch (random.nextInt(5)) {
                            case 0, 1 -> "*";
                            case 2 -> "**";
                            default -> one(random, PIECES);
                        })
                .collect(Collectors.joining());
    }

    private static <T> T one(Random random, List<T> list) {
        return list.get(random.nextInt(list.size()));
    }
}
