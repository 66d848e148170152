package io.mintmark.postgres.admin;

import io.mintmark.postgres.connection.DatabaseLogin;
import io.mintmark.postgres.connection.QuestionFailed;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Runs {@code broker.explain} with the permissions of the user's login. */
public final class Explanations implements AutoCloseable {
    private static final String PROVIDERS =
            """
            SELECT p.name FROM broker.identity_provider AS p
             WHERE p.issuer = ? AND p.audiences && cast(? AS text[]) ORDER BY p.name
            """;
    private static final String EXPLAIN =
            """
            SELECT e.key, e.granted, e.grant_id, e.condition, e.expected, e.seen
              FROM broker.explain(?, ?, cast(? AS jsonb), coalesce(cast(? AS timestamptz), now()))
                   AS e
            """;

    /**
     * What is to be explained.
     *
     * @param claims a JSON object
     * @param at when; now if it isn't said
     */
    public record Question(String idp, String subject, String claims, Optional<Instant> at) {}

    /** A key, and whether it is granted; where it isn't, the first condition that failed. */
    public record Row(
            String key,
            boolean granted,
            Optional<Long> grantId,
            Optional<String> condition,
            Optional<String> expected,
            Optional<String> seen) {}

    private static final String SESSION = "-c TimeZone=UTC -c default_transaction_read_only=on";

    private interface Mapping<T> {
        T map(ResultSet row) throws SQLException;
    }

    private final Connection connection;

    /**
     * Logs in.
     *
     * @throws QuestionFailed with PostgreSQL's reason
     */
    public Explanations(DatabaseLogin login) {
        try {
            connection = login.source("mintmark explain", SESSION).getConnection();
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }

    /**
     * Uses another component's connection and its permissions.
     *
     * @param connection to be closed by its owner
     */
    public Explanations(Connection connection) {
        this.connection = connection;
    }

    /** The identity providers that an issuer and one of several audiences lead to. */
    public List<String> identityProviders(String issuer, List<String> audiences) {
        try (PreparedStatement statement = connection.prepareStatement(PROVIDERS)) {
            statement.setString(1, issuer);
            statement.setArray(2, connection.createArrayOf("text", audiences.toArray()));
            return rows(statement, row -> row.getString("name"));
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }

    /** One row for each key of the tenant. */
    public List<Row> explain(Question question) {
        try (PreparedStatement statement = connection.prepareStatement(EXPLAIN)) {
            statement.setString(1, question.idp());
            statement.setString(2, question.subject());
            statement.setString(3, question.claims());
            if (question.at().isPresent()) {
                statement.setString(4, question.at().get().toString());
            } else {
                statement.setNull(4, Types.VARCHAR);
            }
            return rows(statement, Explanations::row);
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }

    /**
     * What became of a request, by its {@code X-Request-ID}, in the order in which its keys were
     * asked for; empty if it isn't on record.
     */
    public List<Past> past(String requestId) {
        try {
            return new PastRequests(connection).past(requestId);
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }

    /** The latest changes of a tenant's configuration after a revision, the last one first. */
    public List<Past.Change> changes(String tenant, long since, int atMost) {
        try {
            return new PastRequests(connection).changes(tenant, since, atMost);
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }

    private static <T> List<T> rows(PreparedStatement statement, Mapping<T> mapping)
            throws SQLException {
        List<T> rows = new ArrayList<>();
        try (ResultSet found = statement.executeQuery()) {
            while (found.next()) {
                rows.add(mapping.map(found));
            }
        }
        return rows;
    }

    private static Row row(ResultSet row) throws SQLException {
        return new Row(
                row.getString("key"),
                row.getBoolean("granted"),
                Optional.ofNullable(row.getObject("grant_id", Long.class)),
                text(row, "condition"),
                text(row, "expected"),
                text(row, "seen"));
    }

    private static Optional<String> text(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getString(column));
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }
}
