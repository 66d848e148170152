package io.mintmark.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.postgres.TestDatabase.Who;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * How long the console's pages take. Not run with the tests, but by
 *
 * <pre>mvn test -Dtest=PageFigures -Dfigures.rows=10000000</pre>
 *
 * on an embedded server of its own, with the rows of {@link AuditFigures}. Prints a line for each
 * page, as docs/performance.md has them, and fails where one takes longer than it may.
 */
class PageFigures {
    private static final int TIMES = 20;
    private static final long MOST_MILLIS = 300;

    private record Asked(String what, String path) {}

    @Test
    void pages_are_quick() throws IOException {
        try (EmbeddedPostgres server = AuditFigures.server()) {
            AuditFigures.run(
                    server,
                    """
                    INSERT INTO broker.console_access (tenant, claim, value)
                    VALUES (NULL, 'role', '"auditor"'), ('tenant-3', 'groups', '"acme-leads"')
                    """);
            DatabaseLogin app = AuditFigures.login(server, Who.APP.login());
            try (Database connections = new Database(app)) {
                AuditFigures.fill(connections);
                Seals.seal(app);
            }
            AuditFigures.run(server, "VACUUM ANALYZE");
            DatabaseLogin console = AuditFigures.login(server, Who.CONSOLE.login());
            try (ConsoleWorld world = new ConsoleWorld(console, Optional.empty())) {
                assertEquals(List.of(), slow(world, asked(server)));
            }
        }
    }

    private static List<Asked> asked(EmbeddedPostgres server) {
        List<String> mint =
                AuditFigures.column(
                        server,
                        "SELECT unnest(ARRAY[mint_id::text, credential_id, encode(token_hash, 'hex'), request_id]) FROM"
                                + " (SELECT * FROM audit.event WHERE tenant = 'tenant-3' AND kind = 'issued' AND mint_id <"
                                + " audit.first_mint_id(now() - interval '20 days') ORDER BY mint_id DESC LIMIT 1)");
        String denied =
                AuditFigures.column(
                                server,
                                "SELECT mint_id FROM audit.event WHERE tenant = 'tenant-3' AND kind = 'denied' ORDER BY mint_id DESC LIMIT 1")
                        .getFirst();
        return List.of(
                new Asked("overview", "/"),
                new Asked("mints, the latest", "/mints"),
                new Asked("mints by an access key id", "/mints?q=" + mint.get(1)),
                new Asked("mints by a request id", "/mints?q=" + mint.get(3)),
                new Asked("mints by a token's SHA-256", "/mints?q=" + mint.get(2)),
                new Asked(
                        "mints of a busy subject",
                        "/mints?q=" + ManyMints.BUSY.replace(":", "%3A")),
                new Asked("mints of a subject", "/mints?q=job%3A77"),
                new Asked("mints of a tenant's key", "/mints?tenant=tenant-3&key=key-7"),
                new Asked("mints of a rare key", "/mints?key=" + ManyMints.RARE),
                new Asked("mints of what isn't there", "/mints?q=nobody"),
                new Asked("failed mints", "/mints?outcome=failed"),
                new Asked("withheld mints, of which there are none", "/mints?outcome=withheld"),
                new Asked("denied", "/mints?outcome=denied"),
                new Asked("unresolved mints", "/mints?outcome=unresolved"),
                new Asked(
                        "mints of a day a month ago",
                        "/mints?from=%s&to=%s".formatted(day(30), day(30))),
                new Asked("mints as a file", "/mints/download"),
                new Asked("a mint", "/mints/" + mint.getFirst()),
                new Asked("a busy subject", "/subjects?q=" + ManyMints.BUSY.replace(":", "%3A")),
                new Asked("a subject", "/subjects?q=job%3A77"),
                new Asked("a key", "/keys/tenant-3/key-7"),
                new Asked("a key a minute ago", "/keys/tenant-3/key-7?at=" + aMinuteAgo()),
                new Asked("tenants", "/tenants"),
                new Asked("a tenant", "/tenants/tenant-3"),
                new Asked("a tenant's history", "/tenants/tenant-3/history"),
                new Asked(
                        "a grant's history",
                        "/tenants/tenant-3/history?table=subject_grant&row=61"),
                new Asked("a denial explained", "/explain?mint=" + denied),
                new Asked("proof", "/proof"));
    }

    private static String aMinuteAgo() {
        return Instant.now().minusSeconds(60).toString().replace(":", "%3A");
    }

    private static LocalDate day(int ago) {
        return LocalDate.now(ZoneOffset.UTC).minusDays(ago);
    }

    private static List<String> slow(ConsoleWorld world, List<Asked> all) {
        List<String> slow = new ArrayList<>();
        System.out.printf(
                "| page, of %,d rows | auditor | lead of one tenant |%n|---|---|---|%n",
                AuditFigures.ROWS);
        for (Asked asked : all) {
            List<String> cells = new ArrayList<>();
            for (String viewer : List.of("auditor", "lead")) {
                long[] millis =
                        LongStream.range(0, TIMES).map(_ -> millis(world, viewer, asked)).toArray();
                long first = millis[0];
                long[] sorted = LongStream.of(millis).skip(1).sorted().toArray();
                long most = sorted[sorted.length - 1];
                cells.add(
                        "%d ms, first %d, slowest %d"
                                .formatted(sorted[sorted.length / 2], first, most));
                if (sorted[sorted.length / 2] > MOST_MILLIS) {
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
        if (answer.statusCode() >= 500) {
            throw new AssertionError(asked.path() + " " + answer.body());
        }
        return millis;
    }
}
