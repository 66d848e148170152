package io.mintmark.audit.log;

import io.mintmark.base.sql.SqlRunner;
import io.mintmark.endtoend.EveryRequest.Measure;
import io.mintmark.endtoend.EveryRequest.Work;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What statements cost, as PostgreSQL counts it. Of work that is measured more than once, what each
 * statement cost the time it read the fewest blocks: a connection that runs a statement for the
 * first time plans it from catalogs that it hasn't read yet.
 */
final class StatementCosts implements Measure {
    private static final String COSTS =
            """
            SELECT regexp_replace(s.query, '\\s+', ' ', 'g') AS query, sum(s.calls) AS calls, sum(s.total_exec_time) AS millis,
                   sum(s.shared_blks_hit + s.shared_blks_read) AS blocks, sum(s.rows) AS rows
              FROM pg_stat_statements AS s JOIN pg_roles AS r ON r.oid = s.userid
             WHERE r.rolname <> 'postgres'
             GROUP BY 1
            """;

    private final SqlRunner superuser;
    private final Map<String, Cost> costs = new LinkedHashMap<>();

    /**
     * What a statement cost.
     *
     * @param what what it was run for
     * @param statement its text, with numbers in place of values
     * @param millis of each call, as the others
     * @param blocks that it looked at
     */
    record Cost(
            String what, String statement, long calls, double millis, double blocks, double rows) {
        /** The same for the same statement at another size of the database. */
        String key() {
            return what + '\n' + statement;
        }
    }

    StatementCosts(SqlRunner superuser) {
        this.superuser = superuser;
        superuser.run("CREATE EXTENSION pg_stat_statements SCHEMA public");
    }

    @Override
    public void of(String what, Work work) throws Exception {
        superuser.run("SELECT public.pg_stat_statements_reset()");
        work.run();
        read(what);
    }

    private void read(String what) throws SQLException {
        try (Connection connection = superuser.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(COSTS)) {
            while (row.next()) {
                long calls = row.getLong("calls");
                Cost cost =
                        new Cost(
                                what,
                                row.getString("query"),
                                calls,
                                row.getDouble("millis") / calls,
                                row.getDouble("blocks") / calls,
                                row.getDouble("rows") / calls);
                costs.merge(
                        cost.key(),
                        cost,
                        (one, other) -> one.blocks() <= other.blocks() ? one : other);
            }
        }
    }

    List<Cost> all() {
        return List.copyOf(costs.values());
    }
}
