package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Likely mistakes of admins, with the error or the warning that each gives; the cases are a file.
 */
@Tag("every-postgres")
class MistakesTest {
    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void setUp() throws IOException {
        database = TestDatabase.migrated();
        database.admin(SqlCase.script("refusals", "setup"));
        database.admin(SqlCase.script("mistakes", "setup"));
    }

    @TestFactory
    Stream<DynamicTest> of_225_likely_mistakes_fewer_than_ten_pass_in_silence() throws IOException {
        List<SqlCase> mistakes = SqlCase.in("mistakes", "mistakes");
        assertTrue(mistakes.size() >= 225, () -> mistakes.size() + " mistakes");
        long silent = mistakes.stream().filter(one -> one.message().equals("nothing")).count();
        assertTrue(silent < 10, () -> silent + " are silent");
        return mistakes.stream()
                .map(one -> dynamicTest(one.name(), () -> one.checkTold(database, Who.ADMIN)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"NULL", "''", "E'a\\nb'", "repeat('x', 1025)"})
    void a_row_of_many_that_its_subject_cannot_name_is_shown(String subject) throws SQLException {
        try (Connection connection = database.connect(Who.ADMIN);
                Statement statement = connection.createStatement()) {
            PSQLException refused =
                    assertThrows(
                            PSQLException.class,
                            () ->
                                    statement.execute(
                                            """
                                            INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
                                            SELECT 'acme', 'ci', CASE n WHEN 7 THEN %s ELSE 'x' || n END, 'deploy', 'OPS-' || n
                                              FROM generate_series(1, 9) AS n
                                            """
                                                    .formatted(subject)));
            ServerErrorMessage words = Objects.requireNonNull(refused.getServerErrorMessage());
            String detail = String.valueOf(words.getDetail());
            assertTrue(detail.startsWith("The row: {"), detail);
            assertTrue(detail.contains("\"reason\": \"OPS-7\""), detail);
            assertTrue(detail.length() < 520, "a long row is cut");
        }
    }
}
