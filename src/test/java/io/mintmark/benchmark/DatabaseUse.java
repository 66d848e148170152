package io.mintmark.benchmark;

import io.mintmark.benchmark.Bench.Token;

import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

/**
 * What mints cost the database alone: processor time, writes and fsyncs, at several rates. A
 * checkpoint at the end of each writes down what the rate changed. Needs PostgreSQL 18, which
 * counts the writes of its log too.
 */
final class DatabaseUse {
    private static final int CLIENTS = 10;
    private static final String COUNTS =
            """
            SELECT sum(fsyncs) FILTER (WHERE object = 'wal'),
                   sum(writes) FILTER (WHERE object = 'wal'),
                   sum(writes) FILTER (WHERE object = 'relation'),
                   sum(reads) FILTER (WHERE object = 'relation'),
                   (SELECT wal_bytes FROM pg_stat_wal)
              FROM pg_stat_io
            """;

    private final Bench bench;
    private final int clients;
    private final Duration time;

    /**
     * @param clients at full load
     * @param time of each rate
     */
    DatabaseUse(Bench bench, int clients, Duration time) {
        this.bench = bench;
        this.clients = clients;
        this.time = time;
    }

    private record Counts(
            long fsyncs, long logWrites, long writes, long reads, long bytes, Duration processor) {
        Counts since(Counts before) {
            return new Counts(
                    fsyncs - before.fsyncs,
                    logWrites - before.logWrites,
                    writes - before.writes,
                    reads - before.reads,
                    bytes - before.bytes,
                    processor.minus(before.processor));
        }
    }

    void run() throws SQLException, IOException {
        byte[] mint = bench.mint(Token.RS256, "aws1");
        bench.load().run(clients, time, _ -> mint);
        System.out.println(
                "| mints a second | database: CPU ms a mint | CPU | WAL fsyncs/s | WAL writes/s | WAL bytes a mint | page writes/s | page reads/s |\n"
                        + "|---|---|---|---|---|---|---|---|");
        for (int rate : List.of(1, 10, 100)) {
            int senders = Math.min(rate, CLIENTS);
            Load load =
                    bench.load().every(Duration.ofSeconds(1).multipliedBy(senders).dividedBy(rate));
            print(() -> load.run(senders, time, _ -> mint));
        }
        print(() -> bench.load().run(clients, time, _ -> mint));
        System.out.println();
    }

    /** Mints for a time. */
    private interface Mints {
        Load.Result run();
    }

    private void print(Mints mints) throws SQLException, IOException {
        Counts before = counts();
        Load.Result done = mints.run();
        Counts used = counts().since(before);
        double seconds = done.taken().toNanos() / 1e9;
        System.out.printf(
                "| %,.0f | %.2f | %.1f %% | %.1f | %.1f | %,d | %.1f | %.1f |%n",
                done.perSecond(),
                used.processor.toNanos() / 1e6 / done.answers(),
                used.processor.toNanos() / 1e7 / seconds,
                used.fsyncs / seconds,
                used.logWrites / seconds,
                used.bytes / done.answers(),
                used.writes / seconds,
                used.reads / seconds);
    }

    /** After all that was changed is on disk, and all processes have reported what they did. */
    private Counts counts() throws SQLException, IOException {
        try (Connection connection = bench.database().connect(bench.name());
                Statement statement = connection.createStatement()) {
            statement.execute("CHECKPOINT");
            statement.execute("SELECT pg_stat_force_next_flush()");
            try (ResultSet row = statement.executeQuery(COUNTS)) {
                row.next();
                return new Counts(
                        row.getLong(1),
                        row.getLong(2),
                        row.getLong(3),
                        row.getLong(4),
                        row.getLong(5),
                        bench.database().processorTime());
            }
        }
    }
}
