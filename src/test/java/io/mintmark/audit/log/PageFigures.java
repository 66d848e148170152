package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.audit.log.FigurePages.Asked;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.EmbeddedServer;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.ConsoleWorld;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * How long the console's pages take. Not run with the tests, but by
 *
 * <pre>mvn test -Dtest=PageFigures -Dfigures.rows=10000000 -Dfigures.data=/var/tmp/figures</pre>
 *
 * on an embedded server of its own, with the rows of {@link BulkRows} and one tenant with 100,000
 * grants. With {@code figures.data} the server keeps its files in that folder, and the next run
 * measures the same rows again, migrated to what this build needs; with {@code figures.only}, only
 * pages with this text in their names. Prints a line for each page, as
 * docs/internals/performance.md has them, and fails where one takes longer than it may.
 */
class PageFigures {
    /** The first is shown apart, because it plans the statements. */
    private static final int TIMES = Math.max(2, Integer.getInteger("figures.times", 20));

    /** Only pages with this text in their names. */
    private static final String ONLY = System.getProperty("figures.only", "");

    /** Of a page that didn't come. */
    private static final long FAILED = 999_999;

    @Test
    void pages_are_quick() throws IOException {
        try (EmbeddedPostgres server = server()) {
            FigureServer.superuser(server).run(FigurePages.VIEWERS);
            Seals.seal(FigureServer.login(server, Who.APP.login()));
            DatabaseLogin console = FigureServer.login(server, Who.CONSOLE.login());
            try (ConsoleWorld world = new ConsoleWorld(console, Optional.empty())) {
                List<Asked> all = new ArrayList<>(FigurePages.all(FigureServer.superuser(server)));
                all.removeIf(page -> !page.what().contains(ONLY));
                assertEquals(List.of(), slow(world, all));
            }
        }
    }

    private static EmbeddedPostgres server() throws IOException {
        String kept = System.getProperty("figures.data");
        if (kept == null) {
            EmbeddedPostgres server =
                    EmbeddedServer.start(builder(), Files.createTempDirectory("figures"));
            fill(server);
            return server;
        }
        boolean filled = Files.exists(Path.of(kept, "PG_VERSION"));
        EmbeddedPostgres server =
                EmbeddedServer.start(builder().setCleanDataDirectory(false), Path.of(kept));
        if (filled) {
            FigureServer.migrate(server);
        } else {
            fill(server);
        }
        return server;
    }

    /** Nothing here outlives a crash: the rows are made anew. */
    private static EmbeddedPostgres.Builder builder() {
        return EmbeddedServer.builder()
                .setServerConfig("fsync", "off")
                .setServerConfig("full_page_writes", "off")
                .setServerConfig("wal_level", "minimal")
                .setServerConfig("max_wal_senders", "0")
                .setServerConfig("max_wal_size", "8GB");
    }

    private static void fill(EmbeddedPostgres server) throws IOException {
        FigureServer.createLogins(server);
        FigureServer.migrate(server);
        BulkRows rows = new BulkRows(FigureServer.superuser(server), AuditFigures.ROWS);
        rows.configure();
        rows.lint();
        rows.fill();
        FigureServer.superuser(server).run("VACUUM ANALYZE");
    }

    private static List<String> slow(ConsoleWorld world, List<Asked> all) {
        List<String> slow = new ArrayList<>();
        System.out.printf(
                "| page, of %,d rows, beside a load of %.1f | auditor | lead of one tenant |%n|---|---|---|%n",
                AuditFigures.ROWS,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
        for (Asked asked : all) {
            List<String> cells = new ArrayList<>();
            for (String viewer : List.of("auditor", asked.lead())) {
                long[] millis =
                        LongStream.range(0, TIMES).map(_ -> millis(world, viewer, asked)).toArray();
                long first = millis[0];
                long[] sorted = LongStream.of(millis).skip(1).sorted().toArray();
                long most = sorted[sorted.length - 1];
                cells.add(
                        "%d ms, first %d, slowest %d"
                                .formatted(sorted[sorted.length / 2], first, most));
                if (most == FAILED || sorted[sorted.length / 2] > asked.most()) {
                    slow.add(viewer + ": " + asked.what());
                }
            }
            System.out.printf("| %s | %s |%n", asked.what(), String.join(" | ", cells));
        }
        return slow;
    }

    private static long millis(ConsoleWorld world, String viewer, Asked asked) {
        long began = System.nanoTime();
        HttpResponse<String> answer = world.get(viewer, asked.path());
        long millis = (System.nanoTime() - began) / 1_000_000;
        if (answer.statusCode() != 200) {
            System.out.printf("%s, %s: %d%n", viewer, asked.path(), answer.statusCode());
        }
        return answer.statusCode() >= 500 ? FAILED : millis;
    }
}
