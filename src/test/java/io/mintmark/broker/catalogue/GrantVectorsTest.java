package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.catalogue.Decisions.Explained;
import io.mintmark.broker.catalogue.Decisions.Mintable;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Who may have which key, by vectors in files, asked of the service, of broker.explain, and of both
 * verifiers of the log.
 */
@Tag("every-postgres")
class GrantVectorsTest {
    private static final Path DIRECTORY = Path.of("src", "test", "resources", "vectors", "grants");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, String> SWITCHES =
            Map.of(
                    "tenant", "UPDATE broker.tenant SET enabled = false WHERE name = '%1$s'",
                    "identity provider",
                            "UPDATE broker.identity_provider SET enabled = false WHERE tenant ="
                                    + " '%1$s'",
                    "access provider",
                            "UPDATE broker.access_provider SET enabled = false WHERE tenant ="
                                    + " '%1$s' AND name = '%2$s'",
                    "key",
                            "UPDATE broker.key SET enabled = false WHERE tenant = '%1$s' AND name ="
                                    + " '%2$s'");

    /** The row of a mint doesn't show that its type has no credential so short. */
    private static final String NOT_ON_RECORD = "duration";

    private static final Pattern UNGRANTED = Pattern.compile("ungranted_mint ([0-9a-f-]{36})");

    @AutoClose private static Decisions decisions;
    private static RecordedDecisions recorded;

    /** By the ids of their mints: what no verifier may overlook. */
    private static final Map<String, String> FORBIDDEN = new HashMap<>();

    @TempDir private Path directory;

    @BeforeAll
    static void start() throws SQLException {
        decisions = new Decisions();
        recorded = new RecordedDecisions(decisions.database(), decisions.now);
    }

    @TestFactory
    Stream<DynamicTest> all_decide_as_the_vector_says() throws IOException {
        try (Stream<Path> files = Files.list(DIRECTORY)) {
            List<Path> vectors =
                    files.filter(file -> file.toString().endsWith(".json")).sorted().toList();
            return Stream.concat(
                    vectors.stream().map(file -> dynamicTest(name(file), () -> check(file))),
                    Stream.of(dynamicTest("in the log", this::verifyTheLog)));
        }
    }

    /** Every mint that a vector forbids is named, and no other. */
    private void verifyTheLog() throws Exception {
        assertFalse(FORBIDDEN.isEmpty());
        TestDatabase database = decisions.database();
        AuditRows.append(database, "vectors/1", recorded.rows());
        Seals.seal(database);
        Path log = directory.resolve("log.jsonl");
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(List.of(), found.wrong);
        assertNamed(found.ungranted.keySet());
        assertNamed(Seals.foundInExport(database, log, List.of(Seals.KEY)).ungranted.keySet());
        Script script = new Script(directory, null);
        assertEquals(1, script.status(List.of("--export", log.toString())), script::output);
        assertNamed(
                UNGRANTED
                        .matcher(script.output())
                        .results()
                        .map(mint -> mint.group(1))
                        .collect(Collectors.toSet()));
    }

    private static void assertNamed(Set<String> mints) {
        assertEquals(
                new TreeSet<>(FORBIDDEN.values()),
                mints.stream()
                        .map(mint -> FORBIDDEN.getOrDefault(mint, mint))
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    private static void record(Path file, String tenant, JsonNode vector) throws SQLException {
        JsonNode token = decisions.comparable(tenant, vector.path("token"));
        for (Map.Entry<String, JsonNode> key : vector.path("keys").properties()) {
            JsonNode expected = key.getValue();
            if (expected.has("granted")) {
                long grant = decisions.firstGrant(tenant) + expected.path("granted").asLong() - 1;
                var _ =
                        recorded.add(
                                tenant,
                                token,
                                key.getKey(),
                                grant,
                                expected.path("seconds").asLong());
            } else if (!expected.path("condition").asText().equals(NOT_ON_RECORD)) {
                for (long grant : decisions.grants(tenant, key.getKey())) {
                    FORBIDDEN.put(
                            recorded.add(tenant, token, key.getKey(), grant, 60),
                            "%s, %s under grant %d".formatted(name(file), key.getKey(), grant));
                }
            }
        }
    }

    private static String name(Path file) {
        return Objects.requireNonNull(file.getFileName()).toString().replace(".json", "");
    }

    private static void check(Path file) throws IOException, SQLException {
        JsonNode vector = JSON.readTree(file.toFile());
        String tenant = "v-" + Integer.toHexString(name(file).hashCode());
        decisions.tenant(tenant, vector.path("required_claims"), vector.path("grants"));
        decisions.blocks(tenant, vector.path("blocks"));
        if (vector.has("tenant_max_duration")) {
            decisions.admin(
                    "UPDATE broker.tenant SET max_duration = %s WHERE name = '%s'"
                            .formatted(vector.path("tenant_max_duration"), tenant));
        }
        for (JsonNode disabled : vector.path("disabled")) {
            disable(tenant, disabled.asText());
        }
        SortedMap<String, Mintable> service = decisions.service(tenant, vector.path("token"));
        SortedMap<String, Explained> explain = decisions.explain(tenant, vector.path("token"));
        assertEquals(vector.path("keys").size(), explain.size());
        record(file, tenant, vector);
        for (Map.Entry<String, JsonNode> key : vector.path("keys").properties()) {
            check(
                    key.getKey(),
                    key.getValue(),
                    service.get(key.getKey()),
                    Objects.requireNonNull(explain.get(key.getKey())));
        }
    }

    private static void disable(String tenant, String what) throws SQLException {
        boolean named = what.startsWith("access provider ") || what.startsWith("key ");
        String kind = named ? what.substring(0, what.lastIndexOf(' ')) : what;
        String name = named ? what.substring(what.lastIndexOf(' ') + 1) : "";
        decisions.admin(Objects.requireNonNull(SWITCHES.get(kind), what).formatted(tenant, name));
    }

    private static void check(
            String key, JsonNode expected, @Nullable Mintable service, Explained explained) {
        if (expected.has("granted")) {
            Mintable granted =
                    new Mintable(
                            expected.path("granted").asLong(), expected.path("seconds").asLong());
            assertAll(
                    () -> assertEquals(granted, service, key),
                    () ->
                            assertEquals(
                                    new Explained(true, granted.number(), null, null, null),
                                    explained));
            return;
        }
        assertAll(
                () -> assertEquals(null, service, key),
                () -> assertEquals(false, explained.granted()),
                () -> assertEquals(expected.path("condition").asText(), explained.condition()),
                () -> assertLike(expected.path("grant"), explained.number()),
                () -> assertLike(expected.path("expected"), explained.expected()),
                () -> assertLike(expected.path("seen"), explained.seen()));
    }

    private static void assertLike(JsonNode expected, @Nullable Object seen) {
        if (!expected.isMissingNode()) {
            assertEquals(expected.asText(), String.valueOf(seen));
        }
    }
}
