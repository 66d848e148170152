package io.mintmark.postgres;

import io.mintmark.audit.Checkpoint.RetiredMonth;
import io.mintmark.audit.Checkpoint.RetiredRows;
import io.mintmark.audit.Retirement;
import io.mintmark.audit.SealStore;
import io.mintmark.audit.SignedCheckpoint;
import io.mintmark.audit.StoreUnreachable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Takes months out of {@code audit.event}: their tables stay, detached, for the owner to keep. */
public final class PostgresRetirement implements Retirement {
    private static final String SESSION = "-c lock_timeout=10s";
    private static final String MONTHS =
            """
            SELECT substr(part.relname, 7) AS month
              FROM pg_catalog.pg_inherits AS i
              JOIN pg_catalog.pg_class AS part ON part.oid = i.inhrelid
             WHERE i.inhparent = 'audit.event'::regclass
               AND part.relname ~ '^event_[0-9]{4}_[0-9]{2}$'
               AND part.relname < ?
             ORDER BY part.relname
            """;

    /** Mints that stayed without outcome, of months that are gone. */
    private static final String FORGET =
            """
            DELETE FROM audit.open_mint AS open
             WHERE NOT EXISTS (SELECT FROM audit.event AS e WHERE e.mint_id = open.mint_id)
            """;

    private final DatabaseLogin login;

    /**
     * @param login a member of the owner's role
     */
    public PostgresRetirement(DatabaseLogin login) {
        this.login = login;
    }

    @Override
    public Optional<SignedCheckpoint> retire(YearMonth before, Signer signer) {
        try (Connection connection = login.source("mintmark retire", SESSION).getConnection()) {
            connection.setAutoCommit(false);
            Optional<SignedCheckpoint> sealed = retire(connection, before, signer);
            connection.commit();
            return sealed;
        } catch (SQLException e) {
            throw new StoreUnreachable("nothing was retired: " + e.getMessage(), false, e);
        }
    }

    private Optional<SignedCheckpoint> retire(
            Connection connection, YearMonth before, Signer signer) throws SQLException {
        List<String> tables = tables(connection, before);
        if (tables.isEmpty()) {
            return Optional.empty();
        }
        PostgresSeals seals = new PostgresSeals(() -> connection, "audit retire");
        seals.lock(connection);
        List<RetiredMonth> months = new ArrayList<>();
        for (String table : tables) {
            months.add(month(connection, table));
        }
        Optional<SignedCheckpoint> sealed =
                seals.seal(connection, true, unsealed -> sign(signer, unsealed, months));
        for (String table : tables) {
            execute(connection, "ALTER TABLE audit.event DETACH PARTITION audit." + table);
        }
        execute(connection, FORGET);
        return sealed;
    }

    private static Optional<SignedCheckpoint> sign(
            Signer signer, SealStore.Unsealed unsealed, List<RetiredMonth> months) {
        return Optional.of(signer.sign(unsealed, months));
    }

    private static List<String> tables(Connection connection, YearMonth before)
            throws SQLException {
        List<String> tables = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(MONTHS)) {
            statement.setString(1, table(before.toString().replace('-', '_')));
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    tables.add(table(rows.getString("month")));
                }
            }
        }
        return tables;
    }

    private static String table(String month) {
        return "event_" + month;
    }

    private static RetiredMonth month(Connection connection, String table) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            execute(connection, "LOCK TABLE audit.%s IN SHARE MODE".formatted(table));
            try (ResultSet alive =
                    statement.executeQuery(
                            "SELECT count(*) FROM audit.%s WHERE expires_at > now()"
                                    .formatted(table))) {
                if (alive.next() && alive.getLong(1) > 0) {
                    throw new SQLException(
                            "audit.%s tells of credentials that still live".formatted(table));
                }
            }
            long rows = 0;
            List<RetiredRows> parts = new ArrayList<>();
            try (ResultSet part = statement.executeQuery(parts(table))) {
                while (part.next()) {
                    long first = part.getLong("first");
                    long last = part.getLong("last");
                    rows += last - first + 1;
                    parts.add(
                            new RetiredRows(
                                    part.getString("chain"), first, last, part.getString("hash")));
                }
            }
            String name = table.substring("event_".length()).replace('_', '-');
            return new RetiredMonth(name, rows, parts);
        }
    }

    /** Rows that follow one another, as the ends of each run of them. */
    private static String parts(String table) {
        return """
        SELECT island.chain, island.first, island.last, encode(e.hash, 'hex') AS hash
          FROM (SELECT chain, min(seq) AS first, max(seq) AS last
                  FROM (SELECT chain, seq,
                               seq - row_number() OVER (PARTITION BY chain ORDER BY seq) AS nr
                          FROM audit.%1$s) AS numbered
                 GROUP BY chain, nr) AS island
          JOIN audit.%1$s AS e ON e.chain = island.chain AND e.seq = island.last
         ORDER BY island.chain, island.first
        """
                .formatted(table);
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
