package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * What a broker costs with many tenants; prints the figures of {@code
 * docs/internals/performance.md}. Not among the tests that every build runs, since it takes
 * minutes.
 */
class ManyTenants {
    private static final int TENANTS = Integer.getInteger("tenants", 10_000);
    private static final int CHUNK = 250;
    private static final int TOUCHED = 200;
    private static final int BULK = 100_000;
    private static final Map<String, String> UNLIMITED = Map.of("RATE_LIMIT_ENABLED", "false");

    private final List<String> figures = new ArrayList<>();

    @Test
    void cost_only_what_is_used() throws Exception {
        try (IssuerStandIn issuer = IssuerStandIn.start()) {
            try (TestDatabase empty = TestDatabase.migrated()) {
                start(empty, "without tenants").close();
            }
            try (TestDatabase full = TestDatabase.migrated()) {
                long loading = System.nanoTime();
                load(full, issuer.url());
                tell(
                        "loading %,d tenants with %,d grants".formatted(TENANTS, TENANTS * 100),
                        since(loading));
                full.runAsSuperuser("ANALYZE");
                tell("tables and indexes of the configuration", size(full, "broker"));
                tell("tables and indexes of the log", size(full, "log"));
                try (RunningBroker broker = start(full, "with %,d tenants".formatted(TENANTS))) {
                    mint(broker, issuer);
                    edit(full, broker, issuer);
                    editInBulk(full, broker, issuer);
                    blockEverywhere(full, broker, issuer);
                }
                explain(full);
                whoCould(full);
                whoCouldMintAny(full);
            }
        }
        figures.forEach(System.out::println);
    }

    private void tell(String what, Object figure) {
        figures.add(
                "| %s | %s |"
                        .formatted(
                                what,
                                figure instanceof Duration time
                                        ? "%,d ms".formatted(time.toMillis())
                                        : figure));
    }

    private static String size(TestDatabase database, String schema) {
        return database.column(
                        """
                        SELECT sum(pg_total_relation_size(oid)) / 1048576 || ' MiB'
                          FROM pg_class WHERE relnamespace = '%s'::regnamespace AND relkind = 'r'
                        """
                                .formatted(schema))
                .getFirst();
    }

    private static Duration since(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos);
    }

    private static void load(TestDatabase database, String issuer)
            throws IOException, InterruptedException {
        String sql = Files.readString(Path.of("src/test/resources/scale/tenants.sql"));
        try (ExecutorService two = Executors.newFixedThreadPool(2)) {
            for (int from = 1; from <= TENANTS; from += CHUNK) {
                String chunk =
                        sql.replace("{from}", Integer.toString(from))
                                .replace(
                                        "{to}",
                                        Integer.toString(Math.min(TENANTS, from + CHUNK - 1)))
                                .replace("{issuer}", issuer);
                two.execute(() -> database.admin(chunk));
            }
            two.shutdown();
            if (!two.awaitTermination(1, TimeUnit.HOURS)) {
                throw new IllegalStateException("loading takes too long");
            }
        }
    }

    private RunningBroker start(TestDatabase database, String state) {
        long before = heap();
        long starting = System.nanoTime();
        RunningBroker broker = RunningBroker.on(database, UNLIMITED);
        tell("start " + state, since(starting));
        tell("heap of a broker " + state, "%.1f MiB".formatted((heap() - before) / 1048576.0));
        return broker;
    }

    private static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private static String token(IssuerStandIn issuer, int tenant) {
        return issuer.sign(
                "repo:t%d/app50:ref:refs/heads/main".formatted(tenant), "mintmark-t" + tenant);
    }

    private void mint(RunningBroker broker, IssuerStandIn issuer) {
        mint(broker, issuer, 1);
        long before = heap();
        for (String state : List.of("first mint of a tenant", "second mint of a tenant")) {
            List<Duration> times = new ArrayList<>();
            for (int i = 0; i < TOUCHED; i++) {
                long started = System.nanoTime();
                mint(broker, issuer, 2 + i * (TENANTS - 2) / TOUCHED);
                times.add(since(started));
            }
            times.sort(null);
            tell(state + ", median", micros(times.get(TOUCHED / 2)));
            tell(state + ", 99 of 100", micros(times.get(TOUCHED * 99 / 100)));
        }
        tell(
                "heap for each tenant that minted",
                "%,d KiB".formatted((heap() - before) / 1024 / TOUCHED));
    }

    private static String micros(Duration time) {
        return "%.1f ms".formatted(time.toNanos() / 1e6);
    }

    private static void mint(RunningBroker broker, IssuerStandIn issuer, int tenant) {
        assertEquals(200, broker.mint(token(issuer, tenant), "key1").status());
    }

    private void edit(TestDatabase database, RunningBroker broker, IssuerStandIn issuer) {
        String subject = "repo:t7/app50:ref:refs/heads/new";
        String token = issuer.sign(subject, "mintmark-t7");
        assertEquals(403, broker.mint(token, "key1").status());
        database.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('t7', 'ci7', '%s', 'key1')"
                        .formatted(subject));
        long committed = System.nanoTime();
        Eventually.holds(() -> broker.mint(token, "key1").status() == 200);
        tell("from the commit of a new grant to the first mint on it", since(committed));
        database.admin("DELETE FROM broker.subject_grant WHERE subject = '%s'".formatted(subject));
        assertEquals(403, broker.mint(token, "key1").status());
        tell("mints on a revoked grant", "0");
    }

    private void editInBulk(TestDatabase database, RunningBroker broker, IssuerStandIn issuer) {
        long started = System.nanoTime();
        database.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) SELECT 't8', 'ci8', 'bulk:' || n, 'key1' FROM generate_series(1, %d) AS n"
                        .formatted(BULK));
        tell("%,d grants of one tenant in one transaction".formatted(BULK), since(started));
        long committed = System.nanoTime();
        String token = issuer.sign("bulk:4711", "mintmark-t8");
        Eventually.holds(() -> broker.mint(token, "key1").status() == 200);
        tell("from its commit to the first mint on one of them", since(committed));
    }

    private void blockEverywhere(
            TestDatabase database, RunningBroker broker, IssuerStandIn issuer) {
        for (int tenant = 1; tenant <= Math.min(TENANTS, 2 * TOUCHED); tenant++) {
            mint(broker, issuer, tenant);
        }
        database.admin(
                "INSERT INTO broker.blocked_subject (subject, reason) VALUES ('nobody', 'x')");
        List<Duration> times = new ArrayList<>();
        for (int tenant = 1; tenant <= Math.min(TENANTS, 2 * TOUCHED); tenant++) {
            long started = System.nanoTime();
            mint(broker, issuer, tenant);
            times.add(since(started));
        }
        times.sort(null);
        tell(
                "first mint of a tenant after a block in all tenants, median",
                micros(times.get(times.size() / 2)));
    }

    private void whoCould(TestDatabase database) {
        database.admin(
                "INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('t8', '%1$s'), ('t9', '%1$s')"
                        .formatted(Who.TENANT_ADMIN.login()));
        for (Who asking : List.of(Who.AUDITOR, Who.TENANT_ADMIN)) {
            for (String tenant : List.of("t9", "t8")) {
                long started = System.nanoTime();
                List<String> found =
                        database.column(
                                asking,
                                "SELECT count(*) FROM audit.who_could_mint('%s', 'key1', now() - interval '1 second')"
                                        .formatted(tenant));
                tell(
                        "who could mint a key with %s grants, asked by %s"
                                .formatted(found.getFirst(), asking),
                        since(started));
            }
        }
    }

    /** One end of the range of {@code audit evidence}. */
    private void whoCouldMintAny(TestDatabase database) {
        long started = System.nanoTime();
        List<String> found =
                database.column(
                        Who.AUDITOR,
                        """
                        SELECT count(*)
                          FROM broker.tenant AS t
                         CROSS JOIN LATERAL internal.who_could_mint_any(t.name, NULL, now()) AS w
                        """);
        tell("who could mint any key, %s grants".formatted(found.getFirst()), since(started));
    }

    private void explain(TestDatabase database) {
        for (String tenant : List.of("9", "8")) {
            String question =
                    "SELECT count(*) FROM broker.explain('ci%1$s', 'repo:t%1$s/app50:ref:refs/heads/main', '{}')"
                            .formatted(tenant);
            long started = System.nanoTime();
            database.assertRows(question, "5");
            tell(
                    tenant.equals("8")
                            ? "broker.explain at a tenant with 100,100 grants, login included"
                            : "broker.explain at a tenant with 100 grants, login included",
                    since(started));
        }
    }
}
