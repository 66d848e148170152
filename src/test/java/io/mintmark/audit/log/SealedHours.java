package io.mintmark.audit.log;

import io.mintmark.Unchecked;
import io.mintmark.admin.cli.Commands;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.EmbeddedServer;
import io.mintmark.base.sql.SqlRunner;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.endtoend.PemFiles;
import io.mintmark.endtoend.RunningBroker;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Seals a log, most of whose rows are older than 35 days, while a broker serves a few requests and
 * old months are retired. This is {@code mvn integration-test -Pload -Dload.what=sealing}.
 */
public final class SealedHours implements AutoCloseable {
    /** Rows that aren't old, one of this many. */
    private static final long RECENT = 20;

    /** A checkpoint of each minute looks at the months since then. */
    private static final Duration OLD = Duration.ofDays(35);

    private static final Duration OLDEST = Duration.ofDays(95);

    /** A mint each five seconds, and edits each minute. */
    private static final Duration PAUSE = Duration.ofSeconds(5);

    private static final int EDITS = 12;

    /** A minute, the second in which it is noticed, and what sealing takes beside other work. */
    private static final Duration LONGEST_GAP = Duration.ofSeconds(70);

    private static final String GAP =
            """
            SELECT ceil(extract(epoch FROM max(gap)))
              FROM (SELECT sealed_at - lag(sealed_at) OVER (ORDER BY number) AS gap FROM audit.checkpoint
                    UNION ALL SELECT now() - max(sealed_at) FROM audit.checkpoint) AS gaps
            """;

    private final Path directory = Files.createTempDirectory("mintmark-sealing");
    private final EmbeddedPostgres server;
    private final SqlRunner superuser;
    private final IssuerStandIn issuer = IssuerStandIn.start();

    private SealedHours(long rows) throws IOException {
        server =
                EmbeddedServer.start(
                        FigureServer.builder()
                                .setServerConfig("logging_collector", "on")
                                .setServerConfig("log_directory", "log"),
                        directory.resolve("data"));
        superuser = FigureServer.superuser(server);
        FigureServer.prepare(server, OLDEST.plusDays(1));
        runner(Who.ADMIN).run(ScaledInstallation.ASKING.replace("{issuer}", issuer.url()));
        try (Database app = new Database(FigureServer.login(server, Who.APP.login()))) {
            Instant now = Instant.now();
            Instant old = now.minus(OLD);
            FigureServer.fill(server, app, (rows - rows / RECENT) / 2, now.minus(OLDEST), old);
            FigureServer.fill(server, app, rows / RECENT / 2, old, now);
        }
        superuser.run("VACUUM ANALYZE");
        PemFiles.p256(directory.resolve("audit.pem"));
    }

    /**
     * Runs it and prints what it found.
     *
     * @return whether no two checkpoints were further apart than a minute and some seconds, no
     *     statement was cancelled, and the old months were retired
     */
    public static boolean print(long rows, Duration time) throws Exception {
        try (SealedHours sealed = new SealedHours(rows)) {
            return sealed.run(time);
        }
    }

    private boolean run(Duration time) throws Exception {
        System.out.println(
                superuser.value(
                        "SELECT format('%s rows, %s of them older than 35 days, in %s months', count(*), count(*) FILTER"
                                + " (WHERE occurred_at < now() - interval '35 days'), count(DISTINCT tableoid))"
                                + " FROM log.event"));
        CompletableFuture<Integer> retired;
        long mints;
        try (RunningBroker broker =
                RunningBroker.at(
                        FigureServer.login(server, Who.APP.login()).url(),
                        Map.of("AUDIT_SIGNING_KEY_FILE", key()))) {
            mints = serve(broker, time.multipliedBy(2).dividedBy(3));
            retired = CompletableFuture.supplyAsync(this::retire, Thread::startVirtualThread);
            mints += serve(broker, time.dividedBy(3));
        }
        long gap = Long.parseLong(superuser.value(GAP));
        long cancelled = cancelled();
        System.out.printf(
                "%d mints in %s; %s checkpoints, at most %d s apart; %d cancelled statements; status"
                        + " of the retirement %d%n",
                mints,
                time,
                superuser.value("SELECT count(*) FROM audit.checkpoint"),
                gap,
                cancelled,
                retired.join());
        return gap <= LONGEST_GAP.toSeconds() && cancelled == 0 && retired.join() == 0;
    }

    private long serve(RunningBroker broker, Duration time) throws InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        long mints = 0;
        while (System.nanoTime() < end) {
            int status = broker.mint(issuer.sign("ci:main", "asking"), "key").status();
            if (status != 200) {
                throw new IllegalStateException("a mint got " + status);
            }
            if (mints++ % EDITS == 0) {
                runner(Who.ADMIN).run(ScaledInstallation.EDIT);
            }
            TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
        }
        return mints;
    }

    /** Retires the months before the one that checkpoints still look at. */
    private int retire() {
        YearMonth kept = YearMonth.from(Instant.now().minus(OLD).atZone(ZoneOffset.UTC));
        Map<String, String> environment =
                Map.of(
                        "DATABASE_URL",
                        FigureServer.login(server, Who.OWNER.login()).url(),
                        "DATABASE_USERNAME",
                        Who.OWNER.login(),
                        "AUDIT_SIGNING_KEY_FILE",
                        key());
        long began = System.nanoTime();
        int status =
                new Commands(environment, directory)
                        .execute("audit", "retire", "--before", kept.toString());
        System.out.printf(
                "retired the months before %s in %d s, %s rows are left%n",
                kept,
                Duration.ofNanos(System.nanoTime() - began).toSeconds(),
                superuser.value("SELECT count(*) FROM log.event"));
        return status;
    }

    private String key() {
        return directory.resolve("audit.pem").toString();
    }

    private SqlRunner runner(Who who) {
        return () -> server.getDatabase(who.login(), "postgres").getConnection();
    }

    /** Statements that the server ended, by its own log. */
    private long cancelled() throws IOException {
        long count = 0;
        try (Stream<Path> files = Files.list(directory.resolve("data").resolve("log"))) {
            for (Path file : files.toList()) {
                try (Stream<String> lines = Files.lines(file)) {
                    count +=
                            lines.filter(line -> line.contains("canceling statement due to"))
                                    .count();
                }
            }
        }
        return count;
    }

    @Override
    public void close() {
        issuer.close();
        Unchecked.run(server::close);
    }
}
