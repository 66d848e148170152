package io.mintmark.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.outbound.Destinations;
import io.mintmark.outbound.GuardedHttp;
import io.mintmark.token.KeySet.Finding;
import io.mintmark.verdict.Unavailable;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The cache, in front of an issuer over HTTP; the clock goes on when told to. */
final class SigningKeysTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Issuer issuer = Issuer.start();
    private final ManualClock clock = new ManualClock(Instant.parse("2026-07-01T12:00:00Z"));
    private final Queue<Runnable> later = new ArrayDeque<>();
    private final SigningKeys keys = keys(Runnable::run);

    @AfterEach
    void stop() {
        issuer.close();
    }

    @Test
    void keys_are_fetched_once_for_five_minutes() {
        assertEquals(Finding.VERIFIED, check(keys));
        clock.pass(SourceKeys.FRESH.minus(SECOND));
        assertEquals(Finding.VERIFIED, check(keys));
        assertEquals(1, issuer.fetches());
        clock.pass(SECOND);
        assertEquals(Finding.VERIFIED, check(keys));
        assertEquals(2, issuer.fetches());
    }

    @Test
    void many_providers_share_the_keys_of_one_issuer() {
        check(keys);
        assertEquals(Finding.VERIFIED, keys.check(token(), issuer.keySource()));
        assertEquals(1, issuer.fetches());
    }

    @Test
    void nobody_waits_for_a_refetch() {
        SigningKeys background = keys(task -> runFirst(task));
        check(background);
        clock.pass(SourceKeys.FRESH);
        assertEquals(Finding.VERIFIED, check(background));
        assertEquals(Finding.VERIFIED, check(background));
        assertEquals(1, issuer.fetches());
        assertEquals(1, later.size());
        later.remove().run();
        assertEquals(2, issuer.fetches());
        check(background);
        assertEquals(0, later.size());
    }

    @Test
    void a_withdrawn_key_stops_working_with_the_refetch() {
        String old = issuer.sign("job", "mintmark");
        check(keys);
        issuer.rotate();
        clock.pass(SourceKeys.FRESH);
        check(keys, old);
        assertEquals(Finding.KEY_UNKNOWN, check(keys, old));
    }

    @Test
    void an_unknown_kid_fetches_at_once_and_then_not_for_ten_seconds() {
        check(keys);
        issuer.rotate();
        assertEquals(Finding.VERIFIED, check(keys));
        assertEquals(2, issuer.fetches());
        issuer.rotate();
        clock.pass(SourceKeys.BETWEEN_RENEWALS.minus(SECOND));
        assertEquals(Finding.KEY_UNKNOWN, check(keys));
        assertEquals(2, issuer.fetches());
        clock.pass(SECOND);
        assertEquals(Finding.VERIFIED, check(keys));
        assertEquals(3, issuer.fetches());
    }

    @Test
    void a_bad_signature_under_a_known_kid_fetches_nothing() {
        TestKey real = issuer.key();
        check(keys);
        issuer.use(TestKey.es256(real.id()));
        assertEquals(Finding.NOT_VERIFIED, check(keys));
        assertEquals(1, issuer.fetches());
    }

    @Test
    void keys_are_used_for_an_hour_while_the_issuer_is_down() {
        String token = issuer.sign("job", "mintmark");
        check(keys, token);
        issuer.goDown();
        clock.pass(SourceKeys.USABLE.minus(SECOND));
        assertEquals(Finding.VERIFIED, check(keys, token));
        clock.pass(SECOND);
        assertThrows(Unavailable.class, () -> check(keys, token));
    }

    @Test
    void recovery_is_noticed_within_five_seconds() {
        String token = issuer.sign("job", "mintmark");
        issuer.goDown();
        assertThrows(Unavailable.class, () -> check(keys, token));
        issuer.comeBack();
        assertThrows(Unavailable.class, () -> check(keys, token));
        assertEquals(0, issuer.fetches());
        clock.pass(SourceKeys.AFTER_FAILURE);
        assertEquals(Finding.VERIFIED, check(keys, token));
    }

    @Test
    void a_failure_says_which_issuer_and_when_to_come_back_and_no_more() {
        issuer.goDown();
        Unavailable first = assertThrows(Unavailable.class, () -> check(keys));
        assertEquals(
                "The signing keys of issuer '%s' can't be had at the moment."
                        .formatted(issuer.url()),
                first.getMessage());
        assertEquals(SourceKeys.AFTER_FAILURE, first.retryAfter());
        clock.pass(Duration.ofMillis(4500));
        Unavailable second = assertThrows(Unavailable.class, () -> check(keys));
        assertEquals(SECOND, second.retryAfter());
    }

    @Test
    void an_unknown_kid_is_nobodys_fault_while_the_issuer_is_down() {
        check(keys);
        issuer.rotate();
        issuer.goDown();
        assertThrows(Unavailable.class, () -> check(keys));
        clock.pass(SourceKeys.AFTER_FAILURE);
        assertThrows(Unavailable.class, () -> check(keys));
        issuer.comeBack();
        clock.pass(SourceKeys.BETWEEN_RENEWALS);
        assertEquals(Finding.VERIFIED, check(keys));
    }

    @Test
    void a_key_without_kid_that_is_replaced_is_noticed_too() {
        TestKey old = TestKey.es256("old");
        TestKey replacement = TestKey.es256("replacement");
        issuer.serve(Issuer.KEYS, nameless(old));
        assertEquals(Finding.VERIFIED, check(keys, old.sign("{\"alg\":\"ES256\"}", "{}")));
        issuer.serve(Issuer.KEYS, nameless(replacement));
        assertEquals(Finding.VERIFIED, check(keys, replacement.sign("{\"alg\":\"ES256\"}", "{}")));
    }

    @Test
    void one_fetch_serves_all_who_wait() throws Exception {
        SigningKeys shared = new SigningKeys(http(), clock);
        issuer.hang();
        List<CompletableFuture<Finding>> waiting = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 50; i++) {
                waiting.add(CompletableFuture.supplyAsync(() -> check(shared), threads));
            }
            issuer.resume();
        }
        for (CompletableFuture<Finding> one : waiting) {
            assertEquals(Finding.VERIFIED, one.get());
        }
        assertEquals(1, issuer.fetches());
    }

    @Test
    void an_issuer_that_hangs_keeps_nobody_else_waiting() {
        SigningKeys shared = new SigningKeys(http(), clock);
        try (Issuer other = Issuer.start()) {
            issuer.hang();
            CompletableFuture<Finding> hanging = CompletableFuture.supplyAsync(() -> check(shared));
            issuer.awaitRequest();
            assertEquals(
                    Finding.VERIFIED,
                    shared.check(
                            Jwt.parse(other.sign("job", "mintmark")).orElseThrow(),
                            other.keySource()));
            assertTrue(!hanging.isDone());
            issuer.resume();
            assertEquals(Finding.VERIFIED, hanging.join());
        }
    }

    private static String nameless(TestKey key) {
        String named = "\"kid\":\"%s\",".formatted(key.id());
        assertTrue(key.publicJwk().contains(named));
        return "{\"keys\":[%s]}".formatted(key.publicJwk().replace(named, ""));
    }

    private SigningKeys keys(Executor executor) {
        return new SigningKeys(new PublishedKeys(http()), executor, clock);
    }

    private static GuardedHttp http() {
        return new GuardedHttp(new Destinations(List.of("127.0.0.1")));
    }

    /** The first fetch is waited for; the others stay for the test to run. */
    private void runFirst(Runnable task) {
        if (issuer.fetches() == 0) {
            task.run();
        } else {
            later.add(task);
        }
    }

    private Jwt token() {
        return Jwt.parse(issuer.sign("job", "mintmark")).orElseThrow();
    }

    private Finding check(SigningKeys signingKeys) {
        return signingKeys.check(token(), issuer.keySource());
    }

    private Finding check(SigningKeys signingKeys, String token) {
        return signingKeys.check(Jwt.parse(token).orElseThrow(), issuer.keySource());
    }
}
