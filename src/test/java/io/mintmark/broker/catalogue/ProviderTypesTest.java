package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.endtoend.Documented;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.UnusableSettingsException;
import io.mintmark.provider.types.CredentialTypes;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The rules in {@code broker.provider_type} are those of the code. */
class ProviderTypesTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @AutoClose private static final MintingBroker BROKER = MintingBroker.usual();

    @TestFactory
    Stream<DynamicTest> a_type_is_described_as_it_is() {
        assertEquals(
                CredentialTypes.byName().keySet(),
                BROKER.types().stream()
                        .map(type -> type.type().name())
                        .collect(Collectors.toSet()));
        return BROKER.types().stream()
                .map(type -> dynamicTest(type.type().name(), () -> check(type)));
    }

    @Test
    void the_program_and_the_database_know_the_same_types() {
        try (TestDatabase database = TestDatabase.migrated()) {
            assertEquals(
                    CredentialTypes.byName().keySet(),
                    Set.copyOf(database.column("SELECT type FROM broker.provider_type")));
        }
    }

    private static void check(AccessProvider type) {
        JsonNode row = row(type.type().name());
        String target = row.path("target_setting").asText();
        ObjectNode provider = TypeExamples.of(row.path("provider_settings"));
        ObjectNode examples = TypeExamples.of(row.path("key_settings"));
        ObjectNode misspelt = examples.deepCopy().put("misspelt", "x");
        List<String> aims =
                Stream.concat(
                                Stream.of(target),
                                row.path("further_targets").valueStream().map(JsonNode::asText))
                        .toList();
        boolean required = row.at("/key_settings/" + target + "/required").booleanValue();
        // what stands beside a target that can be left out may need it
        ObjectNode aimless = required ? examples.deepCopy() : examples.deepCopy().retain(aims);
        aimless.remove(target);
        assertAll(
                () ->
                        assertEquals(
                                JSON.convertValue(row.path("default_outputs"), Map.class),
                                type.type().defaultOutputs()),
                () ->
                        assertEquals(
                                JSON.convertValue(row.path("fields"), Set.class),
                                type.type().fields()),
                () ->
                        assertEquals(
                                targets(aims, row, examples),
                                type.prepare(provider, examples).targets()),
                () ->
                        assertEquals(
                                "key setting 'misspelt' is not a setting of this type",
                                refusal(type, provider, misspelt)),
                () -> {
                    if (row.at("/key_settings/permissions").has("needs_one_of")) {
                        assertEquals(
                                "key setting 'repositories' or 'repository_ids' or 'all_repositories' must be set, but only one of them",
                                refusal(type, provider, aimless));
                    } else if (required) {
                        assertEquals(
                                "key setting '%s' is missing".formatted(target),
                                refusal(type, provider, aimless));
                    } else {
                        assertEquals(
                                targets(aims, row, aimless),
                                type.prepare(provider, aimless).targets());
                    }
                },
                () ->
                        assertFalse(
                                type.prepare(provider, examples).usesSharedIdentity(),
                                "the examples are of the tenant's own identity"));
    }

    /** What the database takes for the targets of a key. */
    private static List<String> targets(List<String> aims, JsonNode row, JsonNode settings) {
        try (TestDatabase database = TestDatabase.migrated()) {
            return aims.stream()
                    .filter(settings::has)
                    .flatMap(aim ->
                            database
                                    .column(
                                            "SELECT internal.targets('%s', '%s')"
                                                    .formatted(
                                                            row.path("key_settings").get(aim),
                                                            settings.get(aim)))
                                    .stream())
                    .toList();
        }
    }

    private static String refusal(AccessProvider type, JsonNode provider, JsonNode key) {
        return assertThrows(UnusableSettingsException.class, () -> type.prepare(provider, key))
                .getMessage();
    }

    private static JsonNode row(String type) {
        try (TestDatabase database = TestDatabase.migrated()) {
            return TypeExamples.json(
                    database.value(
                            "SELECT to_jsonb(t) FROM broker.provider_type AS t WHERE type = '%s'"
                                    .formatted(type)));
        }
    }

    /** Type, shortest and longest duration, revocation list, cleanup, secret. */
    private static final String TABLE_OF_TYPES =
            """
            SELECT concat_ws(' | ', type, shown.shortest, shown.longest,
                             CASE WHEN ends_early THEN 'yes' ELSE 'no' END, CASE WHEN leaves_behind THEN 'yes' ELSE 'no' END,
                             CASE WHEN jsonb_path_exists(provider_settings, '$.* ? (@.is == "secret" && @.required == true)') THEN 'required'
                                  WHEN jsonb_path_exists(provider_settings, '$.* ? (@.is == "secret")') THEN 'optional'
                                  ELSE 'none' END)
              FROM broker.provider_type
             CROSS JOIN LATERAL (SELECT min(said) FILTER (WHERE place = 1) AS shortest, min(said) FILTER (WHERE place = 2) AS longest
                                   FROM unnest(ARRAY[min_duration, max_duration]) WITH ORDINALITY AS d (seconds, place)
                                  CROSS JOIN LATERAL (SELECT CASE WHEN seconds % 86400 = 0 THEN seconds / 86400 || ' d'
                                                                  WHEN seconds % 3600 = 0 THEN seconds / 3600 || ' h'
                                                                  WHEN seconds % 60 = 0 THEN seconds / 60 || ' min'
                                                                  ELSE seconds || ' s' END) AS t (said)) AS shown
             ORDER BY type
            """;

    private static final Pattern ROW_OF_TYPE =
            Pattern.compile("(?m)^\\| \\[`([a-z0-9-]+)`\\][^|]*\\| ((?:[^|]+ \\| ){4}[^|]+) \\|");

    @Test
    void the_table_of_types_says_what_the_database_says() throws IOException {
        String page = Files.readString(Path.of("docs", "choose.md"));
        try (TestDatabase database = TestDatabase.migrated()) {
            List<String> rows = database.column(TABLE_OF_TYPES);
            assertEquals(12, rows.size());
            List<String> shown =
                    ROW_OF_TYPE
                            .matcher(page)
                            .results()
                            .map(row -> row.group(1) + " | " + row.group(2))
                            .toList();
            assertEquals(rows, shown);
            String statement = Documented.blocks("choose.md", "sql").getFirst();
            assertEquals(12, database.column(statement.replace(";", "")).size());
        }
    }
}
