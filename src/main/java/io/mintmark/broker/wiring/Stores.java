package io.mintmark.broker.wiring;

import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.LossStop;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.audit.log.PostgresSeals;
import io.mintmark.audit.log.RevocationPolicy;
import io.mintmark.audit.log.SeenHistory;
import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Logins;
import io.mintmark.broker.catalogue.PostgresUsedTokens;

import java.util.List;
import java.util.Optional;

/**
 * What the broker writes in PostgreSQL.
 *
 * @param events the chain of mints
 * @param rejections the chain of refused tokens, which never wait for each other
 * @param history what this replica has seen of it
 */
record Stores(
        Database database,
        PostgresEventStore events,
        PostgresEventStore rejections,
        PostgresSeals seals,
        SeenHistory history,
        PostgresUsedTokens usedTokens)
        implements AutoCloseable {

    /**
     * Opens a pool.
     *
     * @param declaring the keys whose declarations let the replica go on after a loss; empty if a
     *     loss stops nothing
     * @param leftBehind by which mints
     */
    static Stores open(
            DatabaseSettings settings,
            String replica,
            Optional<TrustedKeys> declaring,
            RevocationPolicy leftBehind) {
        Database database = new Database(Logins.service(settings), settings.poolSize());
        SeenHistory history =
                new SeenHistory(database, declaring.map(keys -> new LossStop(database, keys)));
        PostgresEventStore events = new PostgresEventStore(database, replica, history, leftBehind);
        return new Stores(
                database,
                events,
                new PostgresEventStore(database, replica, history, RevocationPolicy.NOTHING),
                new PostgresSeals(database, replica, events, history),
                history,
                new PostgresUsedTokens(database));
    }

    List<PostgresEventStore> writers() {
        return List.of(events, rejections);
    }

    /** The number of rows that this run has written. */
    long rows() {
        return writers().stream().mapToLong(PostgresEventStore::written).sum();
    }

    @Override
    public void close() {
        database.close();
    }
}
