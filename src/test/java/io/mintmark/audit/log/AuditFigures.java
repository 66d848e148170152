package io.mintmark.audit.log;

import io.mintmark.admin.cli.Commands;
import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Event;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.auditor.export.PostgresExport;
import io.mintmark.auditor.export.PostgresExport.By;
import io.mintmark.auditor.export.Selection;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.auditor.verify.Verification;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.EmbeddedServer;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.SqlRunner;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * How fast the log is written, verified and asked, with fsync. Not run with the tests, but by
 *
 * <pre>mvn test -Dtest=AuditFigures -Dfigures.rows=10000000</pre>
 *
 * on an embedded server of its own. Ten million rows take 17 GB and ten minutes. With {@code
 * -Dfigures.only=verify}, only the verification is measured; {@link ManyMints} says which
 * properties change the number of tenants.
 */
class AuditFigures {
    static final long ROWS = Long.getLong("figures.rows", 200_000);
    private static final List<Integer> THREADS = List.of(1, 2, 1, 2);
    private static final int CLIENTS = 64;
    private static final Duration SPAN = Duration.ofSeconds(10);
    private static final Duration LOGGED = Duration.ofDays(60);
    private static final boolean VERIFY_ONLY =
            System.getProperty("figures.only", "").equals("verify");
    private static final List<String> VIEWS =
            List.of(
                    "unresolved",
                    "active_credential",
                    "unused_grant",
                    "denial ORDER BY mint_id DESC LIMIT 1000",
                    "denial WHERE mint_id >= audit.first_mint_id(now() - interval '1 day')",
                    "mint ORDER BY mint_id DESC LIMIT 1000",
                    "mint WHERE tenant = 'tenant-3' ORDER BY mint_id DESC LIMIT 1000",
                    "mint WHERE tenant = 'tenant-3' AND key = 'rare' ORDER BY mint_id DESC LIMIT"
                            + " 100",
                    "mint WHERE mint_id >= audit.first_mint_id(now() - interval '1 hour')");

    @Test
    void figures() throws IOException {
        try (EmbeddedPostgres server = server()) {
            DatabaseLogin app = FigureServer.login(server, Who.APP.login());
            try (Database connections = new Database(app)) {
                System.out.printf(
                        "fsync is %s%n", FigureServer.superuser(server).value("SHOW fsync"));
                if (!VERIFY_ONLY) {
                    write(connections);
                }
                Instant now = Instant.now();
                FigureServer.fill(server, connections, ROWS / 2, now.minus(LOGGED), now);
                Seals.seal(app);
                FigureServer.superuser(server).run("VACUUM ANALYZE");
                for (int threads : THREADS) {
                    verify(FigureServer.login(server, Who.AUDITOR.login()), threads);
                }
                if (!VERIFY_ONLY) {
                    export(FigureServer.login(server, Who.AUDITOR.login()));
                    ask(server);
                }
            }
        }
    }

    /** A server with the schema and the configuration, and no mints. */
    private static EmbeddedPostgres server() throws IOException {
        EmbeddedPostgres server =
                EmbeddedServer.start(FigureServer.builder(), Files.createTempDirectory("figures"));
        FigureServer.prepare(server, LOGGED.plusDays(1));
        return server;
    }

    private static void write(Database connections) {
        ConcurrentLinkedQueue<Long> nanos = new ConcurrentLinkedQueue<>();
        try (AuditLog log =
                new AuditLog(new PostgresEventStore(connections, "figures"), Duration.ofSeconds(5))
                        .start()) {
            long end = System.nanoTime() + SPAN.toNanos();
            try (var clients = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int i = 0; i < CLIENTS; i++) {
                    var _ = clients.submit(() -> mint(log, end, nanos));
                }
            }
        }
        List<Long> sorted = new ArrayList<>(nanos);
        Collections.sort(sorted);
        System.out.printf(
                "%d clients at a time, a commit each for intent and outcome: %,d events/s,"
                        + " a commit waits %.2f ms (median), %.2f ms (p99)%n",
                CLIENTS,
                sorted.size() / SPAN.toSeconds(),
                sorted.get(sorted.size() / 2) / 1e6,
                sorted.get(sorted.size() * 99 / 100) / 1e6);
    }

    private static void mint(AuditLog log, long end, ConcurrentLinkedQueue<Long> nanos) {
        while (System.nanoTime() < end) {
            for (Event row : AuditRows.mint("ci:main", "{\"ref\":\"refs/heads/main\"}")) {
                long began = System.nanoTime();
                var _ = log.record(List.of(row));
                nanos.add(System.nanoTime() - began);
            }
        }
    }

    /** As {@code --threads} says. The first time includes the JVM's compilation. */
    private static void verify(DatabaseLogin auditor, int threads) {
        long began = System.nanoTime();
        Duration processor = processor();
        Seals.Found found = new Seals.Found();
        try (PostgresLog log = new PostgresLog(auditor, TestDatabase.ROLES, threads)) {
            found.summary =
                    new Verification(log, new TrustedKeys(List.of(Seals.KEY)), found)
                            .run(Stream.empty());
        }
        verified("the database with --threads %d".formatted(threads), found, began, processor);
    }

    private static void verified(String what, Seals.Found found, long began, Duration before) {
        Runtime runtime = Runtime.getRuntime();
        long rows = Objects.requireNonNull(found.summary).events();
        System.out.printf(
                "verified %s, %,d rows: %,d rows/s, %.1f µs of processor time a row without the"
                        + " server's, %d findings, %d mints ungranted, heap %d MiB of %d MiB%n",
                what,
                rows,
                perSecond(rows, began),
                processor().minus(before).toNanos() / 1e3 / rows,
                found.wrong.size(),
                found.ungranted.size(),
                (runtime.totalMemory() - runtime.freeMemory()) >> 20,
                runtime.maxMemory() >> 20);
    }

    /** The processor time of this process. */
    private static Duration processor() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow();
    }

    private static void export(DatabaseLogin auditor) throws IOException {
        Path directory = Files.createTempDirectory("mintmark-figures");
        Path log = directory.resolve("log.jsonl");
        Map<String, String> environment =
                Map.of("DATABASE_URL", auditor.url(), "DATABASE_USERNAME", auditor.username());
        String[] command = {
            "audit",
            "export",
            "--all",
            "--state",
            directory.resolve("state").toString(),
            "--output",
            log.toString()
        };
        for (String run : List.of("all", "what is new, which is nothing")) {
            long began = System.nanoTime();
            int status = new Commands(environment, directory).execute(command);
            System.out.printf(
                    "exported %s (status %d): %,d rows/s, %d ms%n",
                    run, status, perSecond(ROWS, began), (System.nanoTime() - began) / 1_000_000);
        }
        long began = System.nanoTime();
        Duration processor = processor();
        verified("the export", Seals.foundIn(List.of(log), List.of(Seals.KEY)), began, processor);
    }

    /** Each question twice: the first time with plans and pages to be fetched. */
    private static void ask(EmbeddedPostgres server) {
        String mint =
                FigureServer.superuser(server)
                        .value("SELECT mint_id FROM audit.event WHERE subject = 'job:77' LIMIT 1");
        try (PostgresExport export =
                new PostgresExport(FigureServer.login(server, Who.AUDITOR.login()))) {
            show(export, "--mint", By.MINT, mint);
            show(export, "--subject, one of many", By.SUBJECT, "job:99");
            show(export, "--subject, a busy one", By.SUBJECT, ManyMints.BUSY);
            show(export, "--subject, one that isn't there", By.SUBJECT, "nobody");
            show(export, "--credential", By.CREDENTIAL, ManyMints.credential(ROWS / 4));
            Instant day = Instant.now().minus(Duration.ofDays(20));
            Instant hour = day.plus(Duration.ofHours(1));
            export(export, "an hour", day, hour, null, null, null);
            export(export, "a tenant's hour", day, hour, "tenant-3", null, null);
            export(export, "a subject", null, null, null, "job:99", null);
            export(export, "a rare key", null, null, null, null, ManyMints.RARE);
            export(export, "a tenant's rare key", null, null, "tenant-3", null, ManyMints.RARE);
        }
        for (Who who : List.of(Who.AUDITOR, Who.TENANT_ADMIN)) {
            VIEWS.forEach(rest -> {
                String sql = "SELECT count(*) FROM (SELECT * FROM audit.%s)".formatted(rest);
                SqlRunner queries =
                        () -> server.getDatabase(who.login(), "postgres").getConnection();
                timed(who.login() + ": " + rest, () -> queries.column(sql).getFirst());
            });
        }
    }

    private static void show(PostgresExport export, String what, By by, String value) {
        timed(
                "show " + what,
                () -> {
                    AtomicLong count = new AtomicLong();
                    export.timeline(
                            by,
                            value,
                            PostgresExport.Narrowed.BY_NOTHING,
                            50,
                            _ -> count.incrementAndGet());
                    return count.toString();
                });
    }

    private static void export(
            PostgresExport export,
            String what,
            @Nullable Instant from,
            @Nullable Instant to,
            @Nullable String tenant,
            @Nullable String subject,
            @Nullable String key) {
        Selection wanted =
                new Selection(
                        Optional.ofNullable(from),
                        Optional.ofNullable(to),
                        Optional.ofNullable(tenant),
                        Optional.ofNullable(subject),
                        Optional.ofNullable(key));
        timed(
                "export " + what,
                () -> {
                    AtomicLong count = new AtomicLong();
                    export.rows(wanted, _ -> count.incrementAndGet());
                    return count.toString();
                });
    }

    private static void timed(String what, Supplier<String> work) {
        for (String time : List.of("first", "again")) {
            long began = System.nanoTime();
            String rows = work.get();
            System.out.printf(
                    "%-60s %5s %8.1f ms, %s rows%n",
                    what, time, (System.nanoTime() - began) / 1e6, rows);
        }
    }

    private static long perSecond(long count, long began) {
        return (long) (count / ((System.nanoTime() - began) / 1e9));
    }
}
