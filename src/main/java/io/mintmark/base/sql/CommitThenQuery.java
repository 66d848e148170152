package io.mintmark.base.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * A change, its commit, and a query of what is there after it, sent to the server together and
 * answered together. PostgreSQL runs what arrives so one statement after the other (its
 * documentation, "Pipelining" in the message flow), so the query sees all that was committed before
 * it, and this change.
 */
public final class CommitThenQuery {
    /** The server's code for a statement in a failed transaction. */
    private static final String IN_FAILED_TRANSACTION = "25P02";

    private final String statements;

    /**
     * What is to be run.
     *
     * @param change an INSERT, UPDATE or DELETE with a question mark for each text that it takes
     * @param query with one question mark, for an array of texts
     */
    public CommitThenQuery(String change, String query) {
        this.statements = change + "; COMMIT; " + query;
    }

    /** The number of changed rows, and the rows of the query. */
    public record Result<T>(long changed, List<T> rows) {}

    /**
     * Runs it.
     *
     * @throws SQLException if nothing was changed
     * @throws QueryFailed that says that it is perhaps done, of everything else
     */
    <T> Result<T> run(
            Connection connection, List<String> parameters, String[] asked, Query.Mapping<T> each)
            throws SQLException {
        connection.setAutoCommit(false); // the driver sends the BEGIN along
        try (PreparedStatement statement = connection.prepareStatement(statements)) {
            statement.setFetchSize(0); // a portal would end with its transaction
            int position = 0;
            for (String parameter : parameters) {
                position++;
                statement.setString(position, parameter);
            }
            statement.setArray(position + 1, connection.createArrayOf("text", asked));
            return result(statement, each);
        } catch (SQLException e) {
            if (failedBeforeCommit(connection)) {
                throw e;
            }
            throw new QueryFailed(
                    "the database failed during a commit, or right after it", null, true, e);
        }
    }

    private static <T> Result<T> result(PreparedStatement statement, Query.Mapping<T> each)
            throws SQLException {
        var _ = statement.execute(); // the result of the change
        long changed = statement.getUpdateCount();
        var _ = statement.getMoreResults(); // of COMMIT
        var _ = statement.getMoreResults(); // of the query
        List<T> rows = new ArrayList<>();
        try (ResultSet result = statement.getResultSet()) {
            while (result.next()) {
                rows.add(each.map(result));
            }
        }
        return new Result<>(changed, rows);
    }

    /**
     * Whether the transaction failed and was not committed. If the connection is gone, that is
     * unknown. The pool rolls back an open transaction.
     */
    private static boolean failedBeforeCommit(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            var _ = statement.execute("SELECT 1");
            return false;
        } catch (SQLException e) {
            return IN_FAILED_TRANSACTION.equals(e.getSQLState());
        }
    }
}
