package io.mintmark.postgres.log;

import io.mintmark.audit.SealStore;
import io.mintmark.audit.SignedCheckpoint;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.postgres.connection.Database;
import io.mintmark.postgres.connection.Database.NoConnection;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;

/** Checkpoints in their table. A row lock sees to it that one replica seals at a time. */
public final class PostgresSeals implements SealStore {
    private static final String LOCK = "SELECT FROM runtime.sealing FOR UPDATE";

    private static final String ROLE_MEMBERS = "SELECT internal.record_role_members()";

    private static final String LAST =
            """
            SELECT number, jws, announced_by, sealed_at
              FROM audit.checkpoint
             ORDER BY number DESC
             LIMIT 1
            """;

    private static final String STORE =
            """
            INSERT INTO audit.checkpoint (number, sealed_at, jws, announced_by)
            VALUES (?, ?, ?, ?)
            """;

    private static final String SIGN_LOCK = "UPDATE runtime.sealing SET sealed_by = ?";

    private final Connections connections;
    private final String broker;

    /** Where a connection for one transaction comes from. */
    interface Connections {
        Connection open() throws SQLException;
    }

    PostgresSeals(Connections connections, String broker) {
        this.connections = connections;
        this.broker = broker;
    }

    /**
     * @param broker the replica that seals
     */
    public PostgresSeals(Database database, String broker) {
        this(database::connection, broker);
    }

    @Override
    public Optional<SignedCheckpoint> seal(
            boolean everything, Function<Unsealed, Optional<SignedCheckpoint>> sign) {
        try (Connection connection = connections.open()) {
            connection.setAutoCommit(false);
            try {
                lock(connection);
                recordRoleMembers(connection);
                Optional<SignedCheckpoint> sealed = seal(connection, everything, sign);
                connection.commit();
                return sealed;
            } finally {
                connection.rollback();
                connection.setAutoCommit(true);
            }
        } catch (SQLException | NoConnection e) {
            throw new StoreUnreachable("the audit log can't be sealed", true, e);
        }
    }

    /** Waits for the lock on sealing, which is held until the transaction's end. */
    void lock(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(LOCK);
        }
    }

    /** PostgreSQL keeps no history of memberships, so the log does. */
    private static void recordRoleMembers(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(ROLE_MEMBERS);
        }
    }

    /** Seals within a transaction that has the lock. */
    Optional<SignedCheckpoint> seal(
            Connection connection,
            boolean everything,
            Function<Unsealed, Optional<SignedCheckpoint>> sign)
            throws SQLException {
        ChainHeads heads = new ChainHeads(connection, everything);
        Optional<SignedCheckpoint> sealed =
                sign.apply(new Unsealed(last(connection), heads, now(connection)));
        if (sealed.isPresent()) {
            store(connection, sealed.get());
            heads.remember();
        }
        return sealed;
    }

    private static Optional<SignedCheckpoint> last(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(LAST)) {
            return row.next() ? Optional.of(checkpoint(row)) : Optional.empty();
        }
    }

    private static Instant now(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT clock_timestamp() AS now")) {
            row.next();
            return row.getTimestamp("now").toInstant();
        }
    }

    public static SignedCheckpoint checkpoint(ResultSet row) throws SQLException {
        return new SignedCheckpoint(
                row.getLong("number"),
                row.getTimestamp("sealed_at").toInstant(),
                row.getString("jws"),
                Optional.ofNullable(row.getString("announced_by")));
    }

    private void store(Connection connection, SignedCheckpoint sealed) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(STORE);
                PreparedStatement signature = connection.prepareStatement(SIGN_LOCK)) {
            statement.setLong(1, sealed.number());
            statement.setTimestamp(2, Timestamp.from(sealed.sealedAt()));
            statement.setString(3, sealed.jws());
            statement.setString(4, sealed.announcedBy().orElse(null));
            statement.executeUpdate();
            signature.setString(1, broker);
            signature.executeUpdate();
        }
    }
}
