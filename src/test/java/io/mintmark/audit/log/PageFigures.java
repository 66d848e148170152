package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.EmbeddedServer;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.ConsoleWorld;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
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
 * <pre>mvn test -Dtest=PageFigures -Dfigures.rows=10000000 -Dfigures.data=/var/tmp/figures</pre>
 *
 * on an embedded server of its own, with the rows of {@link AuditFigures} and one tenant with
 * 100,000 grants. With {@code figures.data} the server keeps its files in that folder, and the next
 * run measures the same rows again, migrated to what this build needs; with {@code figures.only},
 * only pages with this text in their names. Prints a line for each page, as
 * docs/internals/performance.md has them, and fails where one takes longer than it may.
 */
class PageFigures {
    private static final int TIMES = 20;
    private static final long MOST_MILLIS = 300;

    /** Only pages with this text in their names. */
    private static final String ONLY = System.getProperty("figures.only", "");

    /** Of a page that didn't come. */
    private static final long FAILED = 999_999;

    private static final String WIDE_TENANT =
            """
            INSERT INTO broker.tenant (name) VALUES ('wide');
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
            VALUES ('idp-wide', 'wide', 'https://issuer.example.com', ARRAY['mintmark-wide']);
            INSERT INTO broker.access_provider (tenant, name, type, settings)
            VALUES ('wide', 'aws', 'aws-sts', '{"region": "eu-central-1"}');
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
            SELECT 'wide', 'key-' || k, 'aws', 3600,
                   '{"role_arn": "arn:aws:iam::123456789012:role/deploy"}'
              FROM generate_series(0, 50) AS k;
            INSERT INTO broker.console_access (tenant, all_tenants, claim, value)
            VALUES (NULL, true, 'role', '"auditor"'), ('tenant-3', false, 'groups', '"acme-leads"'),
                   ('wide', false, 'groups', '"globex-leads"');
            """;

    /** Half of them are one key's; a hundredth of all are globs. */
    private static final int GRANTS = 100_000;

    private static final int GRANTS_AT_ONCE = 2_000;

    /** A page, and who of those that don't see everything asks for it. */
    private record Asked(String what, String path, String lead) {
        Asked(String what, String path) {
            this(what, path, "lead");
        }
    }

    @Test
    void pages_are_quick() throws IOException {
        try (EmbeddedPostgres server = server()) {
            DatabaseLogin console = AuditFigures.login(server, Who.CONSOLE.login());
            try (ConsoleWorld world = new ConsoleWorld(console, Optional.empty())) {
                List<Asked> all = new ArrayList<>(asked(server));
                all.addAll(askedOfManyGrants());
                all.removeIf(page -> !page.what().contains(ONLY));
                assertEquals(List.of(), slow(world, all));
            }
        }
    }

    private static EmbeddedPostgres server() throws IOException {
        String kept = System.getProperty("figures.data");
        if (kept == null) {
            EmbeddedPostgres server =
                    EmbeddedServer.start(
                            AuditFigures.builder(), Files.createTempDirectory("figures"));
            fill(server);
            return server;
        }
        boolean filled = Files.exists(Path.of(kept, "PG_VERSION"));
        EmbeddedPostgres server =
                EmbeddedServer.start(
                        AuditFigures.builder().setCleanDataDirectory(false), Path.of(kept));
        if (filled) {
            AuditFigures.migrate(server);
        } else {
            fill(server);
        }
        return server;
    }

    private static void fill(EmbeddedPostgres server) throws IOException {
        AuditFigures.prepare(server);
        AuditFigures.superuser(server).run(WIDE_TENANT);
        for (int first = 1; first <= GRANTS; first += GRANTS_AT_ONCE) {
            AuditFigures.superuser(server)
                    .run(
                            """
                            INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims)
                            SELECT 'wide', 'idp-wide', CASE WHEN n %% 100 = 0 THEN 'job:' || n || ':**' ELSE 'job:' || n END,
                                   CASE WHEN n %% 100 = 0 THEN 'glob' ELSE 'exact' END,
                                   'key-' || CASE WHEN n %% 2 = 0 THEN 0 ELSE 1 + n / 2 %% 50 END,
                                   CASE WHEN n %% 3 = 0 THEN '{"ref": "refs/heads/main"}' ELSE '{}' END::jsonb
                              FROM generate_series(%d, %d) AS n
                            """
                                    .formatted(first, first + GRANTS_AT_ONCE - 1));
            AuditFigures.superuser(server).run("ANALYZE broker.subject_grant, audit.config_change");
        }
        DatabaseLogin app = AuditFigures.login(server, Who.APP.login());
        try (Database connections = new Database(app)) {
            AuditFigures.fill(server, connections);
            Seals.seal(app);
        }
        AuditFigures.superuser(server).run("VACUUM ANALYZE");
    }

    private static List<Asked> asked(EmbeddedPostgres server) {
        List<String> mint =
                AuditFigures.superuser(server)
                        .column(
                                "SELECT unnest(ARRAY[mint_id::text, credential_id,"
                                        + " encode(token_hash, 'hex'), request_id]) FROM (SELECT * FROM"
                                        + " audit.event WHERE tenant = 'tenant-3' AND kind = 'issued'"
                                        + " AND mint_id < audit.first_mint_id(now() - interval '20"
                                        + " days') ORDER BY mint_id DESC LIMIT 1)");
        String denied =
                AuditFigures.superuser(server)
                        .value(
                                "SELECT mint_id FROM audit.event WHERE tenant = 'tenant-3' AND kind"
                                        + " = 'denied' ORDER BY mint_id DESC LIMIT 1");
        return List.of(
                new Asked("overview", "/"),
                new Asked("overview of a week", "/?range=week"),
                new Asked("overview of a month", "/?range=month"),
                new Asked("overview of a quarter", "/?range=quarter"),
                new Asked("mints, the latest", "/mints"),
                new Asked("mints of a quarter", "/mints?range=quarter"),
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
                new Asked("credentials that live", "/mints?outcome=live"),
                new Asked("mints of a day", "/mints?outcome=minted&from=" + day(1)),
                new Asked("refusals of a day", "/mints?outcome=refused&from=" + day(1)),
                new Asked(
                        "mints of a day a month ago",
                        "/mints?from=%s&to=%s".formatted(day(30), day(30))),
                new Asked("mints as a file", "/mints/download"),
                new Asked("a mint", "/mints/" + mint.getFirst()),
                new Asked("a busy subject", "/subjects?q=" + ManyMints.BUSY.replace(":", "%3A")),
                new Asked("a subject", "/subjects?q=job%3A77"),
                new Asked("a key", "/keys/tenant-3/key-7"),
                new Asked("a key a minute ago", "/keys/tenant-3/key-7?at=" + aMinuteAgo()),
                new Asked("a key of two years ago", "/keys/tenant-3/key-7?at=" + day(730)),
                new Asked("subjects", "/subjects"),
                new Asked("tenants", "/tenants"),
                new Asked("reviews", "/reviews"),
                new Asked("requests", "/requests"),
                new Asked("requests for a key", "/requests?tenant=tenant-3&key=key-7"),
                new Asked("a tenant", "/tenants/tenant-3"),
                new Asked("a tenant's history", "/tenants/tenant-3/history"),
                new Asked(
                        "a grant's history",
                        "/tenants/tenant-3/history?table=subject_grant&row=61"),
                new Asked("a denial explained", "/explain?mint=" + denied),
                new Asked("history of what belongs to no tenant", "/history"),
                new Asked("proof", "/proof"),
                new Asked("older checkpoints", "/proof?before=100"),
                new Asked("checkpoints as a file", "/proof/checkpoints"));
    }

    private static List<Asked> askedOfManyGrants() {
        return List.of(
                new Asked("overview beside 100,000 grants", "/", "other"),
                new Asked("a tenant of 100,000 grants", "/tenants/wide", "other"),
                new Asked("its history", "/tenants/wide/history", "other"),
                new Asked(
                        "history of its grants",
                        "/tenants/wide/history?table=subject_grant",
                        "other"),
                new Asked("a key of 50,000 grants", "/keys/wide/key-0", "other"),
                new Asked("the key a minute ago", "/keys/wide/key-0?at=" + aMinuteAgo(), "other"),
                new Asked("a key of 1,000 grants", "/keys/wide/key-7", "other"),
                new Asked("that key a minute ago", "/keys/wide/key-7?at=" + aMinuteAgo(), "other"),
                new Asked("a subject among 100,000", "/subjects?q=job%3A4711", "other"),
                new Asked("a subject of a glob among 1,000", "/subjects?q=job%3A4700%3Ax", "other"),
                new Asked(
                        "a token explained",
                        "/explain?idp=idp-wide&claims=%7B%22sub%22%3A%22job%3A4711%22%7D",
                        "other"),
                new Asked("tenants searched", "/tenants?q=wide", "other"));
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
            for (String viewer : List.of("auditor", asked.lead())) {
                long[] millis =
                        LongStream.range(0, TIMES).map(_ -> millis(world, viewer, asked)).toArray();
                long first = millis[0];
                long[] sorted = LongStream.of(millis).skip(1).sorted().toArray();
                long most = sorted[sorted.length - 1];
                cells.add(
                        "%d ms, first %d, slowest %d"
                                .formatted(sorted[sorted.length / 2], first, most));
                if (most == FAILED || sorted[sorted.length / 2] > MOST_MILLIS) {
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
        return answer.statusCode() >= 500 ? FAILED : millis;
    }
}
