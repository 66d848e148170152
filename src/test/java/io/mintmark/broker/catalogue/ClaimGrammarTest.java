package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** The database and the service read conditions on claims by the same grammar. */
class ClaimGrammarTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final int CASES = 5_000;
    private static final List<String> NAMES =
            List.of(
                    "", "a", "/", "/a", "/~", "/~0", "/~1/b", "/~2", "~2", "/a~", "a/~", "//",
                    "glob");

    @Test
    void what_one_accepts_the_other_does() throws SQLException {
        long seed = Long.getLong("seed", System.nanoTime());
        Random random = new Random(seed);
        ArrayNode cases = JSON.createArrayNode();
        for (int i = 0; i < CASES; i++) {
            cases.add(conditions(random));
        }
        List<Boolean> database = database(cases);
        int accepted = 0;
        for (int i = 0; i < CASES; i++) {
            JsonNode one = cases.path(i);
            assertEquals(service(one), database.get(i), () -> one + " -Dseed=" + seed);
            accepted += database.get(i) ? 1 : 0;
        }
        assertTrue(accepted > CASES / 10 && accepted < CASES * 9 / 10, "all alike: " + accepted);
    }

    private static boolean service(JsonNode conditions) {
        try {
            return IdentityProviderRow.conditions(conditions).byClaim().size() == conditions.size();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static List<Boolean> database(ArrayNode cases) throws SQLException {
        List<Boolean> accepted = new ArrayList<>();
        try (TestDatabase database = TestDatabase.migrated();
                Connection owner = database.connect(Who.OWNER);
                PreparedStatement statement =
                        owner.prepareStatement(
                                """
                                SELECT internal.claims_fault(one) IS NULL
                                  FROM jsonb_array_elements(cast(? AS jsonb)) WITH ORDINALITY
                                       AS c (one, number) ORDER BY number
                                """)) {
            statement.setString(1, cases.toString());
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    accepted.add(rows.getBoolean(1));
                }
            }
        }
        return accepted;
    }

    private static ObjectNode conditions(Random random) {
        ObjectNode conditions = JSON.createObjectNode();
        for (int i = random.nextInt(3); i >= 0; i--) {
            conditions.set(NAMES.get(random.nextInt(NAMES.size())), value(random, 2));
        }
        return conditions;
    }

    private static JsonNode value(Random random, int depth) {
        return switch (random.nextInt(depth > 0 ? 9 : 5)) {
            case 0, 1 -> NODES.textNode("x");
            case 2 -> NODES.booleanNode(random.nextBoolean());
            case 3 ->
                    NODES.numberNode(
                            new BigDecimal(
                                    List.of("1", "-0.5", "1e308", "1e309", "-1e400")
                                            .get(random.nextInt(5))));
            case 4 -> random.nextInt(3) > 0 ? NODES.textNode("") : NODES.nullNode();
            case 5, 6 -> {
                ObjectNode object = NODES.objectNode();
                object.set("glob", random.nextInt(3) > 0 ? NODES.textNode("*") : value(random, 0));
                if (random.nextInt(4) == 0) {
                    object.put("more", 1);
                }
                yield object;
            }
            case 7 -> {
                ArrayNode list = NODES.arrayNode();
                for (int i = random.nextInt(3); i > 0; i--) {
                    list.add(value(random, depth - 1));
                }
                yield list;
            }
            default -> NODES.objectNode();
        };
    }
}
