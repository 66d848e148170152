package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.Glob;
import io.mintmark.base.verdict.Unavailable;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What is too much work for the service is too much for broker.explain, to the step. */
class BudgetAgreesTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String LONGEST = "a:" + "a".repeat(1_022);
    @AutoClose private static Decisions decisions;

    @BeforeAll
    static void start() throws SQLException {
        decisions = new Decisions();
    }

    private static ObjectNode grant(String subject, String match) {
        return JSON.createObjectNode()
                .put("subject", subject)
                .put("match", match)
                .put("key", "api");
    }

    private static ArrayNode grants(int count, IntFunction<ObjectNode> grant) {
        ArrayNode grants = JSON.createArrayNode();
        IntStream.range(100, 100 + count).mapToObj(grant).forEach(grants::add);
        return grants;
    }

    private static void assertAllowed(String tenant, JsonNode grants, JsonNode claims)
            throws SQLException {
        decisions.tenant(tenant, JSON.createObjectNode(), grants);
        assertDoesNotThrow(() -> decisions.service(tenant, claims));
        assertDoesNotThrow(() -> decisions.explain(tenant, claims));
    }

    private static void assertTooMuch(String tenant, JsonNode grants, JsonNode claims)
            throws SQLException {
        decisions.tenant(tenant, JSON.createObjectNode(), grants);
        assertThrows(Unavailable.class, () -> decisions.service(tenant, claims));
        SQLException refused =
                assertThrows(SQLException.class, () -> decisions.explain(tenant, claims));
        assertEquals("54000", refused.getSQLState());
        assertTrue(String.valueOf(refused.getMessage()).contains("matching steps"));
    }

    /** Each is 12 characters and three walks through 1,024: 3,084 steps. */
    private static JsonNode globs(int count) {
        return grants(count, i -> grant("a:*a*b%d-**".formatted(i), "glob"));
    }

    @Test
    void globs_over_the_subject_count_alike() throws SQLException {
        JsonNode claims = JSON.createObjectNode().put("sub", LONGEST);
        assertAllowed("globs-81", globs(81), claims);
        assertTooMuch("globs-82", globs(82), claims);
    }

    @Test
    void globs_that_begin_or_end_otherwise_count_little() throws SQLException {
        JsonNode claims = JSON.createObjectNode().put("sub", LONGEST);
        assertAllowed(
                "globs-ends", grants(300, i -> grant("a:*a*a*b%d".formatted(i), "glob")), claims);
        assertAllowed(
                "globs-starts",
                grants(300, i -> grant("b:*a*a*%d**".formatted(i), "glob")),
                claims);
    }

    /** Two for naming and finding (34), 8 for a comparison and 8 + 2 * 10,000 for each glob. */
    private static JsonNode claimGlobs(int count) {
        ArrayNode anyOf = JSON.createArrayNode();
        IntStream.range(0, count)
                .forEach(_ -> anyOf.add(JSON.createObjectNode().put("glob", "a**xxx**")));
        ObjectNode grant = grant("a:b", "exact");
        grant.putObject("claims").set("c", anyOf);
        return JSON.createArrayNode().add(grant);
    }

    @Test
    void globs_over_claims_count_alike() throws SQLException {
        JsonNode claims = JSON.createObjectNode().put("sub", "a:b").put("c", "a".repeat(10_000));
        assertAllowed("claims-12", claimGlobs(12), claims);
        assertTooMuch("claims-13", claimGlobs(13), claims);
    }

    @Test
    void comparisons_count_alike() throws SQLException {
        ObjectNode claims = JSON.createObjectNode().put("sub", "a:b");
        ArrayNode values = claims.putArray("c");
        IntStream.range(0, 1_000).forEach(values::add);
        for (int count : new int[] {31, 32}) {
            ObjectNode grant = grant("a:b", "exact");
            ArrayNode anyOf = grant.putObject("claims").putArray("c");
            IntStream.range(0, count).forEach(i -> anyOf.add("x" + i));
            JsonNode grants = JSON.createArrayNode().add(grant);
            if (count == 31) {
                assertAllowed("values-31", grants, claims);
            } else {
                assertTooMuch("values-32", grants, claims);
            }
        }
    }

    /**
     * A fifth of what is allowed, each as costly for the matcher in SQL as rows and subjects may
     * be: no letter twice.
     */
    @Test
    void what_is_allowed_is_explained_in_seconds() throws SQLException {
        String letters = letters(1_022);
        JsonNode claims = JSON.createObjectNode().put("sub", "a:" + letters);
        JsonNode grants =
                grants(18, i -> grant("a:*" + letters.substring(i, i + 500) + "*", "glob"));
        decisions.tenant("letters", JSON.createObjectNode(), grants);
        assertTimeout(Duration.ofSeconds(6), () -> decisions.explain("letters", claims));
    }

    private static String letters(int count) {
        return IntStream.range(0x4E00, 0x4E00 + count)
                .mapToObj(Character::toString)
                .collect(Collectors.joining());
    }

    @Test
    void a_glob_takes_as_many_steps_in_sql() throws SQLException {
        Random random = new Random(5);
        try (TestDatabase database = TestDatabase.migrated();
                Connection admin = database.connect(Who.ADMIN);
                PreparedStatement steps =
                        admin.prepareStatement("SELECT internal.glob_steps(?, ?)")) {
            for (int round = 0; round < 2_000; round++) {
                String pattern = any(random, "ab:***");
                String text = any(random, "aab:");
                steps.setString(1, pattern);
                steps.setString(2, text);
                try (ResultSet row = steps.executeQuery()) {
                    row.next();
                    assertEquals(
                            new Glob(pattern).steps(text),
                            row.getLong(1),
                            () -> pattern + " on " + text);
                }
            }
        }
    }

    /** 34 for the name, and 8 for each pair: their globs don't matter any more. */
    @Test
    void globs_beyond_the_budget_are_not_looked_at() {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.assertRows(
                    Who.ADMIN,
                    """
                    SELECT internal.claims_steps(
                        (SELECT jsonb_build_object('c', jsonb_agg(jsonb_build_object('glob', 'a*' || i))) FROM generate_series(1, 200) AS i),
                        (SELECT jsonb_build_object('c', jsonb_agg('ab' || i)) FROM generate_series(1, 1200) AS i))
                    """,
                    String.valueOf(34 + 8 * 200 * 1200));
        }
    }

    private static String any(Random random, String letters) {
        return random.ints(random.nextInt(8), 0, letters.length())
                .mapToObj(i -> letters.substring(i, i + 1))
                .collect(Collectors.joining());
    }
}
