package io.mintmark.postgres.catalogue;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.postgres.catalogue.Decisions.Explained;
import io.mintmark.postgres.catalogue.Decisions.Mintable;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.stream.Stream;

/** Who may have which key, by vectors in files, asked of the service and of broker.explain. */
@Tag("every-postgres")
class GrantVectorsTest {
    private static final Path DIRECTORY = Path.of("src", "test", "resources", "vectors", "grants");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, String> SWITCHES =
            Map.of(
                    "tenant", "UPDATE broker.tenant SET enabled = false WHERE name = '%1$s'",
                    "identity provider",
                            "UPDATE broker.identity_provider SET enabled = false WHERE tenant = '%1$s'",
                    "access provider",
                            "UPDATE broker.access_provider SET enabled = false WHERE tenant = '%1$s' AND name = '%2$s'",
                    "key",
                            "UPDATE broker.key SET enabled = false WHERE tenant = '%1$s' AND name = '%2$s'");

    @AutoClose private static Decisions decisions;

    @BeforeAll
    static void start() throws SQLException {
        decisions = new Decisions();
    }

    @TestFactory
    Stream<DynamicTest> the_service_and_explain_decide_as_the_vector_says() throws IOException {
        try (Stream<Path> files = Files.list(DIRECTORY)) {
            return files
                    .filter(file -> file.toString().endsWith(".json"))
                    .sorted()
                    .toList()
                    .stream()
                    .map(file -> dynamicTest(name(file), () -> check(file)));
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
