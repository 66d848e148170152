package io.mintmark.broker.wiring;

import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.EndingPolicy;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.audit.log.PostgresSeals;
import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Logins;
import io.mintmark.broker.catalogue.PostgresUsedTokens;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What the broker writes in PostgreSQL.
 *
 * @param events the chain of mints
 * @param rejections the chain of refused tokens, which never wait for each other
 */
record Stores(
        Database database,
        PostgresEventStore events,
        PostgresEventStore rejections,
        PostgresSeals seals,
        PostgresUsedTokens usedTokens)
        implements AutoCloseable {

    /**
     * Opens a pool.
     *
     * @param declaring the keys whose declarations let a writer go on after a loss; each writer
     *     takes some of its own
     * @param leftBehind by which mints
     */
    static Stores open(
            DatabaseSettings settings,
            String replica,
            Supplier<Optional<TrustedKeys>> declaring,
            EndingPolicy leftBehind) {
        Database database = new Database(Logins.service(settings), settings.poolSize());
        PostgresEventStore events =
                new PostgresEventStore(database, replica, declaring.get(), leftBehind);
        return new Stores(
                database,
                events,
                new PostgresEventStore(database, replica, declaring.get(), EndingPolicy.NOTHING),
                new PostgresSeals(database, replica, events),
                new PostgresUsedTokens(database));
    }

    List<PostgresEventStore> writers() {
        return List.of(events, rejections);
    }

    /** How many rows this run has written. */
    long rows() {
        return writers().stream().mapToLong(PostgresEventStore::written).sum();
    }

    @Override
    public void close() {
        database.close();
    }
}
