package io.mintmark.postgres;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.postgres.TestDatabase.Who;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * What is possible but hardly meant, by vectors in files: the warning when it is written and the
 * row in broker.lint say the same.
 */
@Tag("every-postgres")
class DoubtVectorsTest {
    private static final Path DIRECTORY = Path.of("src", "test", "resources", "vectors", "doubts");
    private static final ObjectMapper JSON = new ObjectMapper();

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
        BLOCKED_SUBJECTS(
                "blocked_subject",
                """
                {"tenant": "acme", "subject": "x", "reason": "INC-1"}
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

    private static TestDatabase database;

    @BeforeAll
    static void setUp() throws IOException {
        database = TestDatabase.migrated();
        database.run(Who.ADMIN, SqlCase.script("doubts", "setup"));
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @TestFactory
    Stream<DynamicTest> a_row_is_doubted_as_its_vector_says() {
        return Stream.of(File.values()).flatMap(DoubtVectorsTest::tests);
    }

    private static Stream<DynamicTest> tests(File file) {
        try {
            return Files.readAllLines(file.path()).stream()
                    .map(DoubtVectorsTest::read)
                    .map(vector ->
                            dynamicTest(
                                    file + ": " + vector.path("why").asText(),
                                    () -> check(file, vector)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ObjectNode read(String json) {
        try {
            return (ObjectNode) JSON.readTree(json);
        } catch (IOException e) {
            throw new UncheckedIOException(json, e);
        }
    }

    private static void check(File file, JsonNode vector) throws SQLException {
        String row = read(file.row).setAll((ObjectNode) vector.get("row")).toString();
        SortedSet<String> expected = new TreeSet<>();
        vector.path("doubts").forEach(doubt -> expected.add(doubt.asText()));
        try (Connection connection = database.connect(Who.ADMIN);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            if (vector.has("refused")) {
                SQLException refused =
                        assertThrows(SQLException.class, () -> write(statement, file.table, row));
                String message = String.valueOf(refused.getMessage());
                assertTrue(message.contains(vector.path("refused").asText()), message);
                return;
            }
            String name = write(statement, file.table, row);
            List<String> told = warnings(statement);
            assertAll(
                    () -> assertEquals(expected, words(told), row),
                    () -> assertEquals(expected, standing(statement, file.table, name), row));
            connection.rollback();
        }
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
            warnings.add(String.valueOf(one.getMessage()));
        }
        return warnings;
    }

    /** The words that the warnings end with. */
    private static SortedSet<String> words(List<String> warnings) {
        SortedSet<String> words = new TreeSet<>();
        for (String warning : warnings) {
            words.add(warning.replaceAll(".* is doubtful: (\\w+)[.]", "$1"));
        }
        return words;
    }

    private static SortedSet<String> standing(Statement statement, String table, String name)
            throws SQLException {
        SortedSet<String> doubts = new TreeSet<>();
        try (ResultSet rows =
                statement.executeQuery(
                        """
                        SELECT rule FROM broker.lint WHERE table_name = '%s' AND name = '%s'
                        """
                                .formatted(table, name))) {
            while (rows.next()) {
                doubts.add(rows.getString(1));
            }
        }
        return doubts;
    }
}
