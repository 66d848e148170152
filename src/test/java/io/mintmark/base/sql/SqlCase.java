package io.mintmark.base.sql;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase.Who;

import org.postgresql.util.PSQLException;
import org.postgresql.util.PSQLWarning;
import org.postgresql.util.ServerErrorMessage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A block of a file of cases: a comment that names it, statements, the answer after {@code -->} and
 * maybe a part of the hint after {@code --?}, and its SQLSTATE and the constraint after {@code
 * --!}.
 */
public record SqlCase(String name, String sql, String message, String hint, String code) {
    private static final Path VECTORS = Path.of("src", "test", "resources", "vectors");
    private static final Pattern BLOCK =
            Pattern.compile(
                    "-- (?<name>.+)\n(?<sql>(?:(?!--).*\n)+)--> (?<message>.*)\n(?:--\\? ?(?<hint>.*)\n)?"
                            + "(?:--! (?<code>.*)\n)?");

    private static final Pattern LINT =
            Pattern.compile(
                    "(?<row>(?:Grant of key \"[^\"]*\" to|[A-Z][a-z0-9 ]+?)(?: \".*?\")?): (?<advice>.*)"
                            + " \\[(?<rule>[a-z_]+)]");

    /** What PostgreSQL said: a refusal, the first column of the rows, or "nothing". */
    private record Answer(String message, String hint, String code) {
        /** Whether the hint has this part; one that ends a sentence ends the hint. */
        boolean hintHas(String part) {
            return part.endsWith(".") ? hint.endsWith(part) : hint.contains(part);
        }

        /** The message as the case expects it, where "…" leaves the end to PostgreSQL's version. */
        String messageLike(String expected) {
            String start = expected.substring(0, Math.max(0, expected.length() - 1));
            return expected.endsWith("…") && message.startsWith(start) ? expected : message;
        }
    }

    /** The cases of a file. */
    public static List<SqlCase> in(String directory, String file) throws IOException {
        List<SqlCase> cases = new ArrayList<>();
        Matcher block = BLOCK.matcher(script(directory, file));
        while (block.find()) {
            cases.add(
                    new SqlCase(
                            block.group("name"),
                            block.group("sql"),
                            block.group("message"),
                            Objects.requireNonNullElse(block.group("hint"), ""),
                            Objects.requireNonNullElse(block.group("code"), "")));
        }
        if (cases.isEmpty()) {
            throw new IllegalStateException("no cases in " + file);
        }
        return cases;
    }

    /** A whole file. */
    public static String script(String directory, String file) throws IOException {
        return Files.readString(VECTORS.resolve(directory).resolve(file + ".sql"));
    }

    /** Runs it, and compares what PostgreSQL says with what is expected. */
    public void check(TestDatabase database, Who who) throws SQLException {
        check(run(database, who, false));
    }

    /** The same, where a first warning is an answer too. */
    public void checkTold(TestDatabase database, Who who) throws SQLException {
        check(run(database, who, true));
    }

    private void check(Answer answer) {
        assertAll(
                () -> assertEquals(message, answer.messageLike(message), name),
                () -> assertTrue(answer.hintHas(hint), answer.hint()),
                () -> assertTrue(answer.code().startsWith(code), answer.code()));
    }

    /** In a transaction that is rolled back. */
    private Answer run(TestDatabase database, Who who, boolean warned) throws SQLException {
        try {
            return database.rolledBack(who, session -> answer(session, warned));
        } catch (PSQLException e) {
            return said(Objects.requireNonNull(e.getServerErrorMessage(), sql));
        }
    }

    private Answer answer(Connection session, boolean warned) throws SQLException {
        try (Statement statement = session.createStatement()) {
            statement.execute("SET TimeZone = 'UTC'");
            statement.execute(sql);
            return warned
                            && statement.getWarnings() instanceof PSQLWarning warning
                            && !"00000".equals(warning.getSQLState())
                    ? said(warning.getServerErrorMessage())
                    : new Answer(lastRows(statement), "", "");
        }
    }

    /** A lint warning as "row: rule"; any other message as it is. */
    public static String rowAndRule(String message) {
        Matcher lint = LINT.matcher(message);
        return lint.matches() ? lint.group("row") + ": " + lint.group("rule") : message;
    }

    /** A lint warning's sentence is its hint. */
    private static Answer said(ServerErrorMessage words) {
        String message = String.valueOf(words.getMessage());
        Matcher lint = LINT.matcher(message);
        return new Answer(
                rowAndRule(message),
                lint.matches()
                        ? lint.group("advice")
                        : Objects.requireNonNullElse(words.getHint(), ""),
                (words.getSQLState() + " " + Objects.requireNonNullElse(words.getConstraint(), ""))
                        .strip());
    }

    private static String lastRows(Statement statement) throws SQLException {
        String answer = "nothing";
        while (statement.getUpdateCount() >= 0 || statement.getResultSet() != null) {
            ResultSet rows = statement.getResultSet();
            answer = rows == null ? "nothing" : firstColumn(rows);
            statement.getMoreResults();
        }
        return answer;
    }

    private static String firstColumn(ResultSet rows) throws SQLException {
        List<String> values = new ArrayList<>();
        while (rows.next()) {
            values.add(rows.getString(1));
        }
        return String.join(",", values);
    }
}
