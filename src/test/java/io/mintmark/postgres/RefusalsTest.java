package io.mintmark.postgres;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.mintmark.postgres.TestDatabase.Who;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What admins can not write, and what they are told; the cases are files. */
class RefusalsTest {
    private static final Path DIRECTORY = Path.of("src", "test", "resources", "vectors/refusals");
    private static final Pattern CASE =
            Pattern.compile(
                    "-- (?<name>.+)\n(?<sql>(?:(?!--).*\n)+)--> (?<message>.*)\n(?:--\\? ?(?<hint>.*)\n)?");

    private record Case(String name, String sql, String message, String hint) {}

    private record Answer(String message, String hint) {}

    private static TestDatabase database;

    @BeforeAll
    static void setUp() throws IOException {
        database = TestDatabase.migrated();
        database.run(Who.ADMIN, Files.readString(DIRECTORY.resolve("setup.sql")));
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @TestFactory
    Stream<DynamicTest> a_row_that_could_not_work_is_refused_in_a_sentence() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (String file :
                List.of("tenants", "identity_providers", "access_providers", "keys", "grants")) {
            for (Case one : cases(DIRECTORY.resolve(file + ".sql"))) {
                tests.add(dynamicTest(file + ": " + one.name(), () -> check(one)));
            }
        }
        return tests.stream();
    }

    private static void check(Case one) throws SQLException {
        Answer answer = answer(one.sql());
        assertAll(
                () -> assertEquals(one.message(), answer.message()),
                () -> assertTrue(answer.hint().contains(one.hint()), answer.hint()));
    }

    private static Answer answer(String sql) throws SQLException {
        try (Connection connection = database.connect(Who.ADMIN);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SET TimeZone = 'UTC'");
            statement.execute(sql);
            connection.rollback();
            return new Answer("nothing", "");
        } catch (PSQLException e) {
            ServerErrorMessage error = Objects.requireNonNull(e.getServerErrorMessage());
            return new Answer(
                    String.valueOf(error.getMessage()),
                    Objects.requireNonNullElse(error.getHint(), ""));
        }
    }

    private static List<Case> cases(Path file) throws IOException {
        List<Case> cases = new ArrayList<>();
        Matcher matcher = CASE.matcher(Files.readString(file));
        while (matcher.find()) {
            cases.add(
                    new Case(
                            matcher.group("name"),
                            matcher.group("sql"),
                            matcher.group("message"),
                            Objects.requireNonNullElse(matcher.group("hint"), "")));
        }
        return cases;
    }
}
