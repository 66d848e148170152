package io.mintmark.broker.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.verdict.Unavailable;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/** How often the keys of many sources are fetched again together. */
final class FetchPaceTest {
    private static final Instant START = Instant.parse("2026-07-01T12:00:00Z");
    private static final Jwt TOKEN =
            TestKey.parsed(
                    TestKey.es256("signer").sign("{\"alg\":\"ES256\",\"kid\":\"other\"}", "{}"));

    private final AtomicInteger fetches = new AtomicInteger();
    private final ManualClock clock = new ManualClock(START);
    private final IssuerKeys keys =
            new IssuerKeys(
                    (_, _, _) -> {
                        fetches.incrementAndGet();
                        throw new IOException("hostile");
                    },
                    Runnable::run,
                    clock,
                    SourceKeys.BETWEEN_RENEWALS);

    @Test
    void forty_sources_wait_no_longer_than_one() {
        FetchPace pace = new FetchPace();
        for (int i = 0; i < 40; i++) {
            assertEquals(
                    START.plus(SourceKeys.BETWEEN_RENEWALS),
                    pace.from(START, SourceKeys.BETWEEN_RENEWALS));
        }
    }

    @Test
    void a_thousand_issuers_that_fail_are_asked_again_twenty_times_a_second_in_all() {
        askAll(1_000);
        assertEquals(1_000, fetches.get());
        for (int second = 0; second < 120; second++) {
            clock.pass(Duration.ofSeconds(1));
            askAll(1_000);
        }
        int again = fetches.get() - 1_000;
        assertTrue(again <= 120 * 20 + 1, again + " fetches");
        assertTrue(again >= 1_000, again + " fetches, but each issuer has its turn");
    }

    @Test
    void a_few_issuers_that_fail_are_asked_again_after_five_seconds() {
        askAll(20);
        clock.pass(SourceKeys.AFTER_FAILURE);
        askAll(20);
        assertEquals(40, fetches.get());
    }

    private void askAll(int issuers) {
        for (int i = 0; i < issuers; i++) {
            IdentityProvider provider = provider("https://issuer-%d.example".formatted(i));
            assertThrows(Unavailable.class, () -> keys.check(TOKEN, provider, KeyWait.ALLOWED));
        }
    }

    private static IdentityProvider provider(String issuer) {
        return TestProviders.of("ci", "acme", issuer, "mintmark");
    }
}
