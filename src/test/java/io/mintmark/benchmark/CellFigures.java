package io.mintmark.benchmark;

import io.mintmark.admin.cli.Commands;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Measures what a mint costs a broker and its database with many tenants, and computes from it how
 * many cells 100,000 tenants need that mint 10,000 credentials a second together.
 */
final class CellFigures {
    private static final int ALL_TENANTS = 100_000;
    private static final int ALL_MINTS = 10_000;
    private static final List<Integer> CELLS = List.of(1, 4, 10, 32);

    /** The share of its cores that a server uses at most in normal operation. */
    private static final double BUSY = 0.5;

    private static final double GB = 1e9;
    private static final double SECONDS_A_DAY = 86_400;
    private static final String ROWS = "SELECT count(*) FROM audit.event";
    private static final String SIZE = "SELECT pg_database_size(current_database())";
    private static final String WAL = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint";
    private static final String COMMITS =
            "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()";

    private final Bench bench;
    private final int clients;
    private final int tenants;

    /**
     * @param clients that mint at the same time, each for a tenant of its own
     * @param tenants in the database
     */
    CellFigures(Bench bench, int clients, int tenants) {
        this.bench = bench;
        this.clients = clients;
        this.tenants = tenants;
    }

    /** Counters of the broker and of its database at a moment, or their growth between two. */
    private record Counts(
            Duration broker, Duration database, long wal, long size, long commits, long rows) {
        Counts since(Counts before) {
            return new Counts(
                    broker.minus(before.broker),
                    database.minus(before.database),
                    wal - before.wal,
                    size - before.size,
                    commits - before.commits,
                    rows - before.rows);
        }
    }

    /**
     * Costs of one mint and one tenant, measured in one cell.
     *
     * @param brokerCore seconds of CPU time for each mint
     * @param databaseCore seconds of CPU time for each mint
     * @param wal bytes for each mint
     * @param log bytes for each mint
     * @param rows of the log for each mint
     * @param tenant bytes of the configuration and its history for each tenant
     * @param verifyCore seconds of CPU time of {@code audit verify} and the database for each row
     */
    private record Costs(
            double brokerCore,
            double databaseCore,
            double wal,
            double log,
            double rows,
            double tenant,
            double verifyCore) {}

    /**
     * @throws IllegalStateException if a mint failed, since its cost isn't that of a mint
     */
    void run(Duration warm, Duration time) throws SQLException, IOException {
        long empty = number(SIZE);
        ManyTenantsData.load(bench, tenants);
        double tenant = (double) (number(SIZE) - empty) / tenants;
        IntFunction<byte[]> mints = mints();
        bench.load().run(clients, warm, mints);
        Counts before = counts();
        Load.Result done = bench.load().run(clients, time, mints);
        Counts used = counts().since(before);
        if (done.with(200) < done.answers()) {
            throw new IllegalStateException("not every request minted: " + done.statuses());
        }
        double answers = done.answers();
        Costs costs =
                new Costs(
                        seconds(used.broker) / answers,
                        seconds(used.database) / answers,
                        used.wal / answers,
                        used.size / answers,
                        used.rows / answers,
                        tenant,
                        verifyCore());
        System.out.printf(
                """
                Measured with %,d tenants at %,.0f mints a second, for each mint:
                CPU of the broker %.2f ms, CPU of the database %.2f ms, %.2f commits, WAL %,.0f bytes, log %,.0f bytes.
                A tenant with 100 grants needs %,.0f kB. audit verify needs %.0f µs of CPU for each row, with the database.

                """,
                tenants,
                done.perSecond(),
                costs.brokerCore * 1e3,
                costs.databaseCore * 1e3,
                used.commits / answers,
                costs.wal,
                costs.log,
                costs.tenant / 1e3,
                costs.verifyCore * 1e6);
        print(costs);
    }

    private IntFunction<byte[]> mints() {
        List<byte[]> requests =
                IntStream.rangeClosed(1, clients)
                        .mapToObj(n -> ManyTenantsData.mint(bench, n * (tenants / clients)))
                        .toList();
        return requests::get;
    }

    private Counts counts() throws SQLException, IOException {
        bench.database().run(bench.name(), "CHECKPOINT");
        return new Counts(
                bench.broker().processorTime(),
                bench.database().processorTime(),
                number(WAL),
                number(SIZE),
                number(COMMITS),
                number(ROWS));
    }

    private long number(String sql) throws SQLException {
        return bench.database().number(bench.name(), sql);
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    /** CPU time of the second run for each row, since the JVM compiles during the first. */
    private double verifyCore() throws SQLException, IOException {
        Path directory = Files.createTempDirectory("mintmark-load");
        Map<String, String> settings = new HashMap<>(bench.settings());
        settings.put("DATABASE_USERNAME", BenchDatabase.AUDITOR);
        Duration used = Duration.ZERO;
        for (int pass = 0; pass < 2; pass++) {
            Duration before = ownAndDatabase();
            int status =
                    new Commands(settings, directory).execute("audit", "verify", "--no-record");
            used = ownAndDatabase().minus(before);
            if (status != 0) {
                throw new IllegalStateException("audit verify ended with " + status);
            }
        }
        return seconds(used) / number(ROWS);
    }

    private Duration ownAndDatabase() throws IOException {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .orElseThrow()
                .plus(bench.database().processorTime());
    }

    private static void print(Costs costs) {
        System.out.println(
                "| cells | tenants of a cell | mints a second of a cell | broker cores of a cell | database cores of a cell | WAL of a cell | configuration of a cell | log of a cell, a day | cores that verify it as fast as it grows |\n"
                        + "|---|---|---|---|---|---|---|---|---|");
        for (int cells : CELLS) {
            double rate = (double) ALL_MINTS / cells;
            double day = rate * SECONDS_A_DAY;
            System.out.printf(
                    "| %d | %,d | %,.0f | %.1f | %.1f | %.1f MB/s | %.1f GB | %,.0f GB | %.1f |%n",
                    cells,
                    ALL_TENANTS / cells,
                    rate,
                    rate * costs.brokerCore / BUSY,
                    rate * costs.databaseCore / BUSY,
                    rate * costs.wal / 1e6,
                    (double) ALL_TENANTS / cells * costs.tenant / GB,
                    day * costs.log / GB,
                    rate * costs.rows * costs.verifyCore);
        }
        System.out.println();
    }
}
