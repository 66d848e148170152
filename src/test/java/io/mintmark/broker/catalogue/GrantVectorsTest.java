package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Backdated;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.catalogue.Decisions.Acting;
import io.mintmark.broker.catalogue.Decisions.Explained;
import io.mintmark.broker.catalogue.Decisions.Mintable;
import io.mintmark.broker.catalogue.Decisions.Service;
import io.mintmark.broker.catalogue.RecordedDecisions.RecordedActor;

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
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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
    private static final Path VECTORS = Path.of("src", "test", "resources", "vectors");

    /** Of subjects alone, and of subjects with actors. */
    private static final List<String> DIRECTORIES = List.of("grants", "pairs");

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
        List<Path> vectors = new ArrayList<>();
        for (String directory : DIRECTORIES) {
            try (Stream<Path> files = Files.list(VECTORS.resolve(directory))) {
                files.filter(file -> file.toString().endsWith(".json"))
                        .sorted()
                        .forEach(vectors::add);
            }
        }
        return Stream.concat(
                vectors.stream().map(file -> dynamicTest(name(file), () -> check(file))),
                Stream.of(dynamicTest("in the log", this::verifyTheLog)));
    }

    /** Every mint that a vector forbids is named, and no other. */
    private void verifyTheLog() throws Exception {
        assertFalse(FORBIDDEN.isEmpty());
        TestDatabase database = decisions.database();
        // the mints are of when the test began
        database.runAsSuperuser(
                Backdated.configuration(
                        Duration.between(decisions.now, Instant.now()).plusSeconds(1)));
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

    private static void record(Path file, String tenant, JsonNode vector, Optional<Acting> acting)
            throws SQLException {
        JsonNode token = decisions.comparable(tenant, vector.path("token"));
        Optional<RecordedActor> actor =
                acting.map(one ->
                        new RecordedActor(
                                one.idp().equals("own") ? tenant : tenant + "-" + one.idp(),
                                token.path("iss").asText(),
                                decisions.comparable(tenant, one),
                                vector.has("actor")));
        for (Map.Entry<String, JsonNode> key : vector.path("keys").properties()) {
            JsonNode expected = key.getValue();
            if (expected.has("granted") && !vector.has("refused")) {
                long grant = decisions.firstGrant(tenant) + expected.path("granted").asLong() - 1;
                var _ =
                        recorded.add(
                                tenant,
                                token,
                                actor,
                                key.getKey(),
                                grant,
                                expected.path("seconds").asLong(),
                                decisions.address());
            } else if (expected.has("condition")
                    && !expected.path("condition").asText().equals(NOT_ON_RECORD)) {
                for (long grant : decisions.grants(tenant, key.getKey())) {
                    FORBIDDEN.put(
                            recorded.add(
                                    tenant,
                                    token,
                                    actor,
                                    key.getKey(),
                                    grant,
                                    60,
                                    decisions.address()),
                            "%s, %s under grant %d".formatted(name(file), key.getKey(), grant));
                }
            }
        }
    }

    /** Who acts: by a token of its own, or by the claim {@code act}. */
    private static Optional<Acting> acting(JsonNode vector) {
        if (vector.has("actor")) {
            return Optional.of(
                    new Acting(vector.path("actor_idp").asText("agents"), vector.path("actor")));
        }
        JsonNode act = vector.path("token").path("act");
        return act.isObject() ? Optional.of(new Acting("own", act)) : Optional.empty();
    }

    private static String name(Path file) {
        return Objects.requireNonNull(file.getFileName()).toString().replace(".json", "");
    }

    private static void check(Path file) throws IOException, SQLException {
        JsonNode vector = JSON.readTree(file.toFile());
        String tenant = "v-" + Integer.toHexString(name(file).hashCode());
        decisions.from(vector.path("address").asText("203.0.113.9"));
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
        for (Map.Entry<String, JsonNode> accepts : vector.path("accepts").properties()) {
            decisions.admin(
                    "UPDATE broker.identity_provider SET accepts = '%s' WHERE name = '%s'"
                            .formatted(
                                    accepts.getValue().asText(),
                                    Decisions.audience(tenant, accepts.getKey())));
        }
        if (vector.has("actor_required_claims")) {
            decisions.admin(
                    "UPDATE broker.identity_provider SET required_claims = '%s' WHERE name = '%s-agents'"
                            .formatted(vector.path("actor_required_claims"), tenant));
        }
        Optional<Acting> acting = acting(vector);
        Service answer =
                decisions.service(
                        tenant, vector.path("token"), acting.filter(_ -> vector.has("actor")));
        if (vector.has("refused")) {
            assertEquals(Optional.of(vector.path("refused").asText()), answer.refusal());
        }
        SortedMap<String, Mintable> service = answer.mintable();
        SortedMap<String, Explained> explain =
                decisions.explain(tenant, vector.path("token"), acting);
        assertEquals(vector.path("keys").size(), explain.size());
        record(file, tenant, vector, acting);
        for (Map.Entry<String, JsonNode> key : vector.path("keys").properties()) {
            check(
                    key.getKey(),
                    key.getValue(),
                    service.get(key.getKey()),
                    vector.has("refused"),
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
            String key,
            JsonNode expected,
            @Nullable Mintable service,
            boolean refused,
            Explained explained) {
        if (refused && expected.has("granted")) {
            assertEquals(null, service, key);
            assertEquals(true, explained.granted());
        } else if (expected.has("granted")) {
            Mintable granted =
                    new Mintable(
                            expected.path("granted").asLong(), expected.path("seconds").asLong());
            assertAll(
                    () -> assertEquals(granted, service, key),
                    () ->
                            assertEquals(
                                    new Explained(true, granted.number(), null, null, null),
                                    explained));
        } else {
            assertAll(
                    () -> assertEquals(null, service, key),
                    () -> assertEquals(false, explained.granted()),
                    () -> assertEquals(expected.path("condition").asText(), explained.condition()),
                    () -> assertLike(expected.path("grant"), explained.number()),
                    () -> assertLike(expected.path("expected"), explained.expected()),
                    () -> assertLike(expected.path("seen"), explained.seen()));
        }
    }

    private static void assertLike(JsonNode expected, @Nullable Object seen) {
        if (!expected.isMissingNode()) {
            assertEquals(expected.asText(), String.valueOf(seen));
        }
    }
}
