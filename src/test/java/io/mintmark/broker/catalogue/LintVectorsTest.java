package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Lint by vectors in files: the warning when a row is written and its row in broker.lint name the
 * same rules.
 */
@Tag("every-postgres")
class LintVectorsTest {
    private static final Path DIRECTORY = Path.of("src", "test", "resources", "vectors", "lint");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern FROM_NOW = Pattern.compile("\\{in\\} (\\d+) minutes");

    /**
     * A file of vectors, its table, and what a row of it is where a vector doesn't say otherwise.
     */
    private enum File {
        GRANTS(
                "subject_grant",
                """
                {"tenant": "acme", "idp": "ci", "subject": "x", "key": "deploy", "reason": "OPS-1"}
                """),
        IDENTITY_PROVIDERS(
                "identity_provider",
                """
                {"name": "new", "tenant": "other", "issuer": "https://new.example.com",
                 "audiences": ["other-new"]}
                """),
        ACCESS_PROVIDERS(
                "access_provider",
                """
                {"tenant": "acme", "name": "new", "type": "aws-sts",
                 "settings": {"region": "eu-central-1"}}
                """),
        KEYS(
                "key",
                """
                {"tenant": "acme", "name": "new", "provider": "aws", "max_duration": 3600}
                """),
        CONSOLE_ACCESS(
                "console_access",
                """
                {"tenant": "acme", "claim": "groups", "value": "ops", "reason": "OPS-1"}
                """),
        BLOCKED_SUBJECTS(
                "blocked_subject",
                """
                {"tenant": "acme", "subject": "x", "reason": "INC-1"}
                """),
        ACCESS_RULES(
                "access_rule",
                """
                {"tenant": "acme", "key": "deploy", "idp": "ci", "subject": "x", "approvals": 1,
                 "max_access": 3600, "expires_after": 86400, "break_glass": false, "enabled": true}
                """);

        private final String table;
        private final String row;

        File(String table, String row) {
            this.table = table;
            this.row = row;
        }

        Path path() {
            return DIRECTORY.resolve(name().toLowerCase(Locale.ROOT) + ".jsonl");
        }
    }

    private static final String SECOND_ADMIN =
            "UPDATE broker.tenant SET require_second_admin = true WHERE name = 'acme'";

    /** A denied request of a subject without grants. */
    private static final String SEEN =
            """
            INSERT INTO audit.event
                   (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key, reason, broker)
            SELECT overlay(audit.first_mint_id(now())::text PLACING '7' FROM 15 FOR 1)::uuid, 2, 'denied', now(), 'r',
                   'acme', 'ci', 'https://ci.example.com', 'seen:lately', 'deploy', 'not_granted', 'test'
            """;

    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void setUp() throws IOException {
        database = TestDatabase.migrated();
        database.admin(SqlCase.script("lint", "setup"));
        database.admin(SqlCase.script("lint", "subjects"));
        database.runAsSuperuser(SEEN);
    }

    @TestFactory
    Stream<DynamicTest> a_row_gets_the_warnings_of_its_vector() {
        return Stream.of(File.values()).flatMap(LintVectorsTest::tests);
    }

    private static Stream<DynamicTest> tests(File file) {
        return Unchecked.call(() ->
                Files.readAllLines(file.path()).stream()
                        .map(LintVectorsTest::read)
                        .map(vector ->
                                dynamicTest(
                                        file + ": " + vector.path("why").asText(),
                                        () -> check(file, vector))));
    }

    private static ObjectNode read(String json) {
        try {
            return (ObjectNode) JSON.readTree(json);
        } catch (IOException e) {
            throw new UncheckedIOException(json, e);
        }
    }

    private static void check(File file, JsonNode vector) throws SQLException {
        String row =
                FROM_NOW.matcher(read(file.row).setAll((ObjectNode) vector.get("row")).toString())
                        .replaceAll(minutes ->
                                Instant.now()
                                        .plus(Duration.ofMinutes(Long.parseLong(minutes.group(1))))
                                        .toString());
        SortedSet<String> expected = new TreeSet<>();
        vector.path("lint").forEach(rule -> expected.add(rule.asText()));
        var _ =
                database.rolledBack(
                        Who.ADMIN,
                        session -> {
                            try (Statement statement = session.createStatement()) {
                                if (vector.has("refused")) {
                                    assertRefused(vector, () -> write(statement, file.table, row));
                                } else {
                                    if (vector.path("second_admin").asBoolean()) {
                                        statement.execute(SECOND_ADMIN);
                                    }
                                    String name = write(statement, file.table, row);
                                    approvers(statement, vector.path("approvers"));
                                    List<String> warnings = warnings(statement);
                                    assertAll(
                                            () -> assertEquals(expected, rules(warnings), row),
                                            () ->
                                                    assertEquals(
                                                            expectedInTheView(vector, expected),
                                                            listed(statement, file.table, name),
                                                            row));
                                }
                            }
                            return row;
                        });
    }

    /** What depends on rows of other tables is listed, and no warning of the row's own writing. */
    private static SortedSet<String> expectedInTheView(JsonNode vector, SortedSet<String> warned) {
        SortedSet<String> rules = new TreeSet<>(warned);
        vector.path("listed").forEach(rule -> rules.add(rule.asText()));
        return rules;
    }

    /** Gives the rule that was written last its approvers. */
    private static void approvers(Statement statement, JsonNode approvers) throws SQLException {
        for (JsonNode approver : approvers) {
            statement.execute(
                    """
                    INSERT INTO broker.access_approver (rule, role_name, idp, subject, match, claims, step, program, max_access)
                    SELECT (SELECT max(id) FROM broker.access_rule), a.role_name, a.idp, a.subject,
                           coalesce(a.match, 'exact'), coalesce(a.claims, '{}'), coalesce(a.step, 1), coalesce(a.program, false), a.max_access
                      FROM jsonb_populate_record(NULL::broker.access_approver, '%s') AS a
                    """
                            .formatted(approver));
        }
    }

    private static void assertRefused(JsonNode vector, Executable write) {
        String message = String.valueOf(assertThrows(SQLException.class, write).getMessage());
        assertTrue(message.contains(vector.path("refused").asText()), message);
    }

    /** Writes a row, and says what it is called. */
    private static String write(Statement statement, String table, String row) throws SQLException {
        String columns =
                String.join(
                        ", ",
                        StreamSupport.stream(
                                        ((Iterable<String>) () -> read(row).fieldNames())
                                                .spliterator(),
                                        false)
                                .toList());
        statement.execute(
                """
                INSERT INTO broker.%1$s (%2$s)
                SELECT %2$s FROM jsonb_populate_record(NULL::broker.%1$s, '%3$s')
                """
                        .formatted(table, columns, row.replace("'", "''")));
        try (Statement asking = statement.getConnection().createStatement();
                ResultSet names =
                        asking.executeQuery(
                                """
                                SELECT name FROM broker.pending_change WHERE operation = 'INSERT'
                                """)) {
            names.next();
            return names.getString(1);
        }
    }

    private static List<String> warnings(Statement statement) throws SQLException {
        List<String> warnings = new ArrayList<>();
        for (SQLWarning one = statement.getWarnings(); one != null; one = one.getNextWarning()) {
            // a NOTICE says what a block stops
            if (!one.getSQLState().equals("00000")) {
                warnings.add(String.valueOf(one.getMessage()));
            }
        }
        return warnings;
    }

    /** The rules that the warnings end with. */
    private static SortedSet<String> rules(List<String> warnings) {
        SortedSet<String> rules = new TreeSet<>();
        for (String warning : warnings) {
            rules.add(warning.substring(warning.lastIndexOf('[') + 1, warning.length() - 1));
        }
        return rules;
    }

    private static SortedSet<String> listed(Statement statement, String table, String name)
            throws SQLException {
        SortedSet<String> rules = new TreeSet<>();
        try (ResultSet rows =
                statement.executeQuery(
                        """
                        SELECT rule FROM broker.lint WHERE table_name = '%s' AND name = '%s'
                        """
                                .formatted(table, name))) {
            while (rows.next()) {
                rules.add(rows.getString(1));
            }
        }
        return rules;
    }
}
