package io.mintmark.broker.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** How many bytes of key sets are kept, and whose. */
final class KeySourcesTest {
    private static final long MOST = 8 << 20;
    private static final TestKey SIGNER = TestKey.es256("signer");
    private static final String SMALL = "{\"keys\":[" + SIGNER.publicJwk() + "]}";
    private static final Jwt TOKEN =
            TestKey.parsed(SIGNER.sign("{\"alg\":\"ES256\",\"kid\":\"signer\"}", "{}"));

    private final Map<String, String> published = new HashMap<>();
    private final Map<String, Integer> fetches = new HashMap<>();
    private final IssuerKeys keys =
            new IssuerKeys(
                    this::fetch,
                    Runnable::run,
                    InstantSource.fixed(Instant.EPOCH),
                    SourceKeys.BETWEEN_RENEWALS,
                    MOST);

    private KeySet fetch(KeySource source, TenantName owner, Object enough) {
        fetches.merge(source.issuer(), 1, Integer::sum);
        String json = published.getOrDefault(source.issuer(), SMALL);
        return TestKey.keySet(json);
    }

    @Test
    void many_issuers_of_as_many_large_keys_as_fit_into_an_answer_keep_within_the_bytes() {
        String large = LargeKeys.set(SIGNER.publicJwk(), LargeKeys.MOST - 1);
        check("acme", "https://small.example");
        long before = LiveHeap.bytes();
        for (int i = 0; i < 100; i++) {
            String issuer = "https://issuer-%d.example".formatted(i);
            published.put(issuer, large);
            check("tenant-" + i, issuer);
            assertTrue(keys.bytes() <= MOST, () -> keys.bytes() + " bytes");
        }
        long held = LiveHeap.bytes() - before;
        assertTrue(held <= MOST, held + " bytes");
    }

    @Test
    void a_tenant_with_many_issuers_takes_its_own_share_only() {
        String large = LargeKeys.set(SIGNER.publicJwk(), 63);
        check("globex", "https://globex.example");
        for (int i = 0; i < 50; i++) {
            String issuer = "https://issuer-%d.example".formatted(i);
            published.put(issuer, large);
            check("acme", issuer);
        }
        assertTrue(keys.bytes() <= MOST / 8 + 4096, () -> keys.bytes() + " bytes");
        check("globex", "https://globex.example");
        assertEquals(1, fetches.get("https://globex.example"));
        check("acme", "https://issuer-0.example");
        assertEquals(2, fetches.get("https://issuer-0.example"));
        check("acme", "https://issuer-49.example");
        assertEquals(1, fetches.get("https://issuer-49.example"));
    }

    @Test
    void an_issuer_that_several_tenants_trust_is_in_no_tenants_share() {
        String large = LargeKeys.set(SIGNER.publicJwk(), 63);
        check("acme", "https://shared.example");
        check("globex", "https://shared.example");
        for (int i = 0; i < 50; i++) {
            String issuer = "https://issuer-%d.example".formatted(i);
            published.put(issuer, large);
            check("acme", issuer);
        }
        check("globex", "https://shared.example");
        assertEquals(1, fetches.get("https://shared.example"));
    }

    @Test
    void what_was_used_last_stays() {
        String large = LargeKeys.set(SIGNER.publicJwk(), 63);
        for (int i = 0; i < 100; i++) {
            String issuer = "https://issuer-%d.example".formatted(i);
            published.put(issuer, large);
            check("tenant-" + i, issuer);
            check("acme", "https://acme.example");
        }
        assertEquals(1, fetches.get("https://acme.example"));
    }

    /** While a fetch is in flight its source stays, or a second fetch could begin. */
    @Test
    void a_source_that_is_being_fetched_is_not_dropped() {
        AtomicInteger begun = new AtomicInteger();
        try (IssuerStandIn issuer = IssuerStandIn.start()) {
            KeySetFetch overHttp =
                    new KeySetFetch(new GuardedHttp(new Destinations(List.of("127.0.0.1"))));
            IssuerKeys tiny =
                    new IssuerKeys(
                            overHttp,
                            task -> {
                                begun.incrementAndGet();
                                Thread.ofVirtual().start(task);
                            },
                            InstantSource.system(),
                            SourceKeys.BETWEEN_RENEWALS,
                            1);
            issuer.hang();
            for (int i = 0; i < 3; i++) {
                assertThrows(
                        Unavailable.class,
                        () ->
                                tiny.check(
                                        TOKEN,
                                        issuer.provider("acme"),
                                        _ -> {
                                            issuer.awaitRequest();
                                            throw new Unavailable("full", Duration.ZERO);
                                        }));
            }
            assertEquals(1, begun.get());
        }
    }

    /** A lookup by all requests; a lock would have all tenants wait for whoever holds it. */
    @Test
    void what_is_there_is_found_while_another_thread_changes_the_cache() {
        KeySources sources = new KeySources(MOST, MOST, source -> new SourceKeys(source, shared()));
        IdentityProvider acme = provider("acme", "https://acme.example");
        SourceKeys entered = sources.of(acme.keys(), acme.tenant());
        CompletableFuture<SourceKeys> found;
        synchronized (sources) {
            found =
                    CompletableFuture.supplyAsync(
                            () -> sources.of(acme.keys(), acme.tenant()),
                            task -> Thread.ofVirtual().start(task));
            assertSame(entered, found.orTimeout(Eventually.SECONDS, TimeUnit.SECONDS).join());
        }
    }

    /** Sorting by a value that requests change would now and then fail, and with it a fetch. */
    @Test
    void sources_are_dropped_while_requests_use_the_others() throws Exception {
        int kept = 1_000;
        KeySources sources =
                new KeySources(
                        kept * 1_024L, kept * 1_024L, source -> new SourceKeys(source, shared()));
        AtomicBoolean over = new AtomicBoolean();
        List<IdentityProvider> providers =
                IntStream.range(0, kept + 500)
                        .mapToObj(i ->
                                provider("tenant-" + i, "https://issuer-%d.example".formatted(i)))
                        .toList();
        List<Thread> requests =
                IntStream.range(0, 3)
                        .mapToObj(_ ->
                                Thread.ofPlatform()
                                        .start(() ->
                                                useAll(
                                                        providers.subList(0, kept / 2),
                                                        sources,
                                                        over)))
                        .toList();
        try {
            for (IdentityProvider provider : providers) {
                var _ = sources.of(provider.keys(), provider.tenant());
                assertTrue(sources.bytes() <= kept * 1_024L);
            }
        } finally {
            over.set(true);
            for (Thread request : requests) {
                request.join();
            }
        }
    }

    private static void useAll(
            List<IdentityProvider> providers, KeySources sources, AtomicBoolean over) {
        while (!over.get()) {
            for (IdentityProvider provider : providers) {
                var _ = sources.of(provider.keys(), provider.tenant());
            }
        }
    }

    private SourceKeys.Shared shared() {
        return new SourceKeys.Shared(
                this::fetch,
                Runnable::run,
                InstantSource.fixed(Instant.EPOCH),
                SourceKeys.BETWEEN_RENEWALS,
                new FetchPace(),
                _ -> {});
    }

    private void check(String tenant, String issuer) {
        var _ = keys.check(TOKEN, provider(tenant, issuer), KeyWait.ALLOWED);
    }

    private static IdentityProvider provider(String tenant, String issuer) {
        return TestProviders.of("ci", tenant, issuer, "mintmark");
    }
}
