package io.mintmark.endtoend;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * What one tenant's costliest rules cost the others; prints the rows of {@code
 * docs/internals/performance.md}. Run by name: {@code mvn test -Dtest=CostlyRules}.
 */
class CostlyRules {
    private static final int REQUESTS = Integer.getInteger("requests", 3_000);
    private static final int A_SECOND = Integer.getInteger("rate", 100);
    private static final int SENDERS = 8;

    @Test
    void of_one_tenant_beside_others() throws Exception {
        try (World world = new World(Map.of("LOG_LEVEL", "warning"))) {
            addOther(world);
            Eventually.holds(() -> list(world, "other") == 200);
            print("alone", () -> others(world));
            print("beside %d requests a second of a tenant with one rule", () -> beside(world));
            world.admin(CostlyRulesTest.WORST_GLOBS);
            Eventually.holds(() -> world.broker().keys(costly(world)).status() == 503);
            print("beside %d requests a second of one with the costliest", () -> beside(world));
        }
    }

    private static void addOther(World world) {
        world.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('other');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('other', 'other', '%s', '{other}');
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('other', 'own', 'jwt', '{}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('other', 'api', 'own', 600, '{"audience": "https://api.example.com"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('other', 'other', 'ci:main', 'api');
                INSERT INTO broker.subject_grant (tenant, idp, subject, match, key)
                VALUES ('acme', 'ci', 'a:**', 'glob', 'api');
                """
                        .formatted(world.issuer().url()));
    }

    private static String costly(World world) {
        return world.issuer().sign(CostlyRulesTest.LONGEST_SUBJECT, World.AUDIENCE);
    }

    private static int list(World world, String audience) {
        return world.broker().keys(world.issuer().sign(World.SUBJECT, audience)).status();
    }

    /** Lists of another tenant, one after the other; the milliseconds that each took, sorted. */
    private static List<Double> others(World world) {
        List<Double> taken = new ArrayList<>();
        String token = world.issuer().sign(World.SUBJECT, "other");
        for (int i = 0; i < REQUESTS; i++) {
            long began = System.nanoTime();
            int status = world.broker().keys(token).status();
            taken.add((System.nanoTime() - began) / 1e6);
            if (status != 200) {
                throw new AssertionError("status " + status);
            }
        }
        taken.sort(null);
        return taken;
    }

    private static List<Double> beside(World world) {
        String token = costly(world);
        try (ScheduledExecutorService senders = Executors.newScheduledThreadPool(SENDERS)) {
            long each = TimeUnit.SECONDS.toMicros(SENDERS) / A_SECOND;
            for (int i = 0; i < SENDERS; i++) {
                var _ =
                        senders.scheduleAtFixedRate(
                                () -> world.broker().keys(token),
                                each * i / SENDERS,
                                each,
                                TimeUnit.MICROSECONDS);
            }
            List<Double> taken = others(world);
            senders.shutdownNow();
            return taken;
        }
    }

    /** The second time; the first one warms up. */
    private static void print(String what, Supplier<List<Double>> measured) {
        List<Double> sorted = Stream.generate(measured).skip(1).findFirst().orElseThrow();
        System.out.printf(
                "| others' list of keys, %s | median %.2f ms, 99 of 100 within %.2f ms |%n",
                what.formatted(A_SECOND),
                sorted.get(sorted.size() / 2),
                sorted.get(sorted.size() * 99 / 100));
    }
}
