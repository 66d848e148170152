package io.mintmark.broker.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.token.KeySet.Finding;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** The cache, in front of an issuer over HTTP; the clock goes on when told to. */
final class IssuerKeysTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    /** Where it is really waited for. */
    private static final Duration SHORT = Duration.ofMillis(300);

    @AutoClose private final IssuerStandIn issuer = IssuerStandIn.start();
    private final ManualClock clock = new ManualClock(Instant.parse("2026-07-01T12:00:00Z"));
    private final Queue<Runnable> later = new ArrayDeque<>();
    private final IssuerKeys keys = keys(Runnable::run);

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
        assertEquals(
                Finding.VERIFIED, keys.check(token(), issuer.provider("globex"), KeyWait.ALLOWED));
        assertEquals(1, issuer.fetches());
    }

    @Test
    void nobody_waits_for_a_refetch() {
        IssuerKeys background = keys(task -> runFirst(task));
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
    void an_unknown_kid_fetches_at_once_and_then_once_in_two_seconds() {
        check(keys);
        issuer.rotate();
        assertEquals(Finding.VERIFIED, check(keys));
        assertEquals(2, issuer.fetches());
        clock.pass(SourceKeys.BETWEEN_RENEWALS);
        issuer.rotate();
        assertEquals(Finding.VERIFIED, check(keys));
        assertEquals(3, keySets());
    }

    @Test
    void an_unknown_kid_in_between_waits_for_the_next_fetch() {
        check(keys);
        String forged =
                TestKey.es256("forged").sign("{\"alg\":\"ES256\",\"kid\":\"forged\"}", "{}");
        assertEquals(Finding.KEY_UNKNOWN, check(keys, forged));
        issuer.rotate();
        clock.pass(SourceKeys.BETWEEN_RENEWALS.minusMillis(100));
        assertEquals(Finding.VERIFIED, check(keys));
        assertEquals(3, keySets());
    }

    @Test
    void no_valid_token_is_refused_while_keys_change_under_strangers_made_up_kids()
            throws Exception {
        IssuerKeys shared =
                new IssuerKeys(
                        new KeySetFetch(http()),
                        task -> Thread.ofVirtual().start(task),
                        InstantSource.system(),
                        SHORT);
        check(shared);
        AtomicBoolean over = new AtomicBoolean();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 8; i++) {
                var _ = threads.submit(() -> forge(shared, over));
            }
            int before = keySets();
            Instant began = Instant.now();
            try {
                for (int i = 0; i < 4; i++) {
                    issuer.rotate();
                    assertEquals(Finding.VERIFIED, check(shared));
                }
            } finally {
                over.set(true);
            }
            long periods = Duration.between(began, Instant.now()).dividedBy(SHORT);
            assertTrue(keySets() - before <= periods + 2);
        }
    }

    @Test
    void no_more_than_some_wait_for_keys_that_may_never_come() throws Exception {
        check(keys);
        String forged =
                TestKey.es256("forged").sign("{\"alg\":\"ES256\",\"kid\":\"forged\"}", "{}");
        check(keys, forged);
        List<CompletableFuture<Finding>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < KeyWaiters.MOST + 10; i++) {
                all.add(CompletableFuture.supplyAsync(() -> check(keys, forged), threads));
            }
        }
        long told = all.stream().filter(CompletableFuture::isCompletedExceptionally).count();
        assertEquals(10, told);
        assertEquals(3, keySets());
    }

    private int keySets() {
        return Collections.frequency(issuer.fetched(), IssuerStandIn.KEYS);
    }

    private void forge(IssuerKeys shared, AtomicBoolean over) {
        String kid = UUID.randomUUID().toString();
        TestKey key = TestKey.es256(kid);
        while (!over.get()) {
            check(shared, key.sign("{\"alg\":\"ES256\",\"kid\":\"%s\"}".formatted(kid), "{}"));
        }
    }

    @Test
    void a_new_key_under_the_old_kid_is_fetched_and_the_old_one_works_no_more() {
        TestKey real = issuer.key();
        String old = issuer.sign("job", "mintmark");
        check(keys);
        issuer.use(TestKey.es256(real.id()));
        assertEquals(Finding.VERIFIED, check(keys));
        assertEquals(2, issuer.fetches());
        assertEquals(Finding.NOT_VERIFIED, check(keys, old));
    }

    @Test
    void forged_signatures_under_a_known_kid_fetch_once_in_two_seconds_and_do_not_wait() {
        check(keys);
        String forged = forgedUnderTheKnownKid();
        for (int i = 0; i < 100; i++) {
            assertEquals(Finding.NOT_VERIFIED, check(keys, forged));
        }
        assertEquals(2, issuer.fetches());
        clock.pass(SourceKeys.BETWEEN_RENEWALS);
        assertEquals(Finding.NOT_VERIFIED, check(keys, forged));
        assertEquals(3, issuer.fetches());
        assertEquals(Finding.VERIFIED, check(keys));
    }

    @Test
    void a_failed_signature_fetches_nothing_where_the_keys_came_after_the_token() {
        String forged = forgedUnderTheKnownKid();
        assertEquals(Finding.NOT_VERIFIED, check(keys, forged));
        assertEquals(1, issuer.fetches());
    }

    @Test
    void a_failed_signature_is_nobodys_fault_while_the_issuer_is_down() {
        check(keys);
        String forged = forgedUnderTheKnownKid();
        issuer.goDown();
        for (int i = 0; i < 3; i++) {
            assertThrows(Unavailable.class, () -> check(keys, forged));
        }
        assertEquals(Finding.VERIFIED, check(keys));
        issuer.comeBack();
        clock.pass(SourceKeys.AFTER_FAILURE);
        assertEquals(Finding.NOT_VERIFIED, check(keys, forged));
    }

    @Test
    void keys_in_the_row_are_not_fetched_for_a_failed_signature() {
        KeySource inline =
                new KeySource(
                        issuer.url(),
                        Optional.of(issuer.jwks()),
                        Optional.empty(),
                        Optional.empty());
        for (int i = 0; i < 2; i++) {
            assertEquals(
                    Finding.NOT_VERIFIED,
                    keys.check(
                            TestKey.parsed(forgedUnderTheKnownKid()),
                            issuer.provider("acme", inline),
                            KeyWait.ALLOWED));
        }
        assertEquals(0, issuer.fetches());
    }

    @Test
    void ignored_keys_are_named_once() {
        try (LogBook log = LogBook.open()) {
            issuer.use(issuer.key(), TestKey.rsa("weak", 1024));
            check(keys);
            clock.pass(SourceKeys.FRESH);
            check(keys);
            assertEquals(2, issuer.fetches());
            assertEquals(1, log.linesWith("'weak' is an RSA key of 1024 bits").size());
        }
    }

    private String forgedUnderTheKnownKid() {
        String kid = issuer.key().id();
        return TestKey.es256(kid).sign("{\"alg\":\"ES256\",\"kid\":\"%s\"}".formatted(kid), "{}");
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
                "The signing keys of issuer '%s' can't be fetched at the moment."
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
        clock.pass(SourceKeys.AFTER_FAILURE);
        assertEquals(Finding.VERIFIED, check(keys));
    }

    @Test
    void a_key_without_kid_that_is_replaced_is_noticed_too() {
        TestKey old = TestKey.es256("old");
        TestKey replacement = TestKey.es256("replacement");
        issuer.serve(IssuerStandIn.KEYS, nameless(old));
        assertEquals(Finding.VERIFIED, check(keys, old.sign("{\"alg\":\"ES256\"}", "{}")));
        issuer.serve(IssuerStandIn.KEYS, nameless(replacement));
        assertEquals(Finding.VERIFIED, check(keys, replacement.sign("{\"alg\":\"ES256\"}", "{}")));
    }

    @Test
    void a_key_that_only_discovery_names_is_found_beside_a_stale_set() {
        IssuerStandIn elsewhere = IssuerStandIn.start();
        try (elsewhere) {
            name(elsewhere);
            check(keys);
            assertEquals(Finding.VERIFIED, check(keys, byKeyOf(elsewhere)));
            assertEquals(Finding.VERIFIED, check(keys));
        }
    }

    @Test
    void keys_that_discovery_names_stay_with_each_refetch() {
        IssuerStandIn elsewhere = IssuerStandIn.start();
        try (elsewhere) {
            name(elsewhere);
            String token = byKeyOf(elsewhere);
            check(keys, token);
            clock.pass(SourceKeys.FRESH);
            check(keys);
            int fetches = issuer.fetches();
            assertEquals(Finding.VERIFIED, check(keys, token));
            assertEquals(fetches, issuer.fetches());
        }
    }

    @Test
    void keys_that_discovery_names_are_used_for_an_hour_while_it_is_down() {
        IssuerStandIn elsewhere = IssuerStandIn.start();
        String token = byKeyOf(elsewhere);
        try (elsewhere) {
            name(elsewhere);
            check(keys, token);
        }
        clock.pass(SourceKeys.USABLE.minus(SECOND));
        assertEquals(Finding.VERIFIED, check(keys, token));
        clock.pass(SECOND);
        assertThrows(Unavailable.class, () -> check(keys, token));
    }

    @Test
    void a_made_up_kid_is_unavailable_while_discovery_is_down_and_known_ones_go_on() {
        IssuerStandIn elsewhere = IssuerStandIn.start();
        name(elsewhere);
        elsewhere.close();
        assertThrows(Unavailable.class, () -> check(keys, byKeyOf(elsewhere)));
        assertEquals(Finding.VERIFIED, check(keys));
        clock.pass(SourceKeys.FRESH);
        issuer.rotate();
        assertEquals(Finding.VERIFIED, check(keys));
    }

    private void name(IssuerStandIn elsewhere) {
        issuer.serve(
                IssuerStandIn.DISCOVERY,
                "{\"issuer\":\"%s\",\"jwks_uri\":\"%s\"}"
                        .formatted(issuer.url(), elsewhere.url() + IssuerStandIn.KEYS));
    }

    private static String byKeyOf(IssuerStandIn elsewhere) {
        elsewhere.use(TestKey.es256("elsewhere"));
        return elsewhere.sign("job", "mintmark");
    }

    @Test
    void no_more_than_some_wait_for_the_first_keys_and_each_asks_whether_it_may() throws Exception {
        IssuerKeys shared = new IssuerKeys(http(), clock);
        AtomicInteger asked = new AtomicInteger();
        issuer.hang();
        List<CompletableFuture<Finding>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < KeyWaiters.MOST + 10; i++) {
                all.add(
                        CompletableFuture.supplyAsync(
                                () -> check(shared, _ -> asked.incrementAndGet()), threads));
            }
            Eventually.holds(() ->
                    all.stream().filter(CompletableFuture::isDone).count() == 10
                            && asked.get() == KeyWaiters.MOST);
            assertTrue(
                    all.stream()
                            .filter(CompletableFuture::isDone)
                            .allMatch(CompletableFuture::isCompletedExceptionally));
            issuer.resume();
        }
        assertEquals(
                KeyWaiters.MOST,
                all.stream().filter(one -> !one.isCompletedExceptionally()).count());
        assertEquals(Finding.VERIFIED, check(shared, _ -> asked.incrementAndGet()));
        assertEquals(KeyWaiters.MOST, asked.get());
    }

    @Test
    void a_request_that_may_not_wait_leaves_its_place_to_another() {
        IssuerKeys shared = new IssuerKeys(http(), clock);
        issuer.hang();
        for (int i = 0; i < 2 * KeyWaiters.MOST; i++) {
            assertThrows(
                    Unavailable.class,
                    () ->
                            check(
                                    shared,
                                    _ -> {
                                        throw new Unavailable("full", SECOND);
                                    }));
        }
        issuer.resume();
        assertEquals(Finding.VERIFIED, check(shared));
    }

    private Finding check(IssuerKeys signingKeys, KeyWait wait) {
        return signingKeys.check(token(), issuer.provider("acme"), wait);
    }

    @Test
    void that_a_tenant_has_too_much_in_flight_is_not_the_issuers_failure() {
        AtomicBoolean busy = new AtomicBoolean(true);
        KeySetFetch published = new KeySetFetch(http());
        IssuerKeys shared =
                new IssuerKeys(
                        (source, owner, enough) -> {
                            if (owner.value().equals("acme") && busy.get()) {
                                throw ofBusyTenant();
                            }
                            return published.fetch(source, owner, enough);
                        },
                        Runnable::run,
                        clock,
                        SourceKeys.BETWEEN_RENEWALS);
        Unavailable acme = assertThrows(Unavailable.class, () -> check(shared));
        assertEquals(SECOND, acme.retryAfter());
        assertEquals(
                Finding.VERIFIED,
                shared.check(token(), issuer.provider("globex"), KeyWait.ALLOWED));
        assertEquals(Finding.VERIFIED, check(shared));
    }

    private static OutboundFailure ofBusyTenant() {
        return OutboundFailure.busy("too much");
    }

    @Test
    void one_fetch_serves_all_who_wait() throws Exception {
        IssuerKeys shared = new IssuerKeys(http(), clock);
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
        IssuerKeys shared = new IssuerKeys(http(), clock);
        try (IssuerStandIn other = IssuerStandIn.start()) {
            issuer.hang();
            CompletableFuture<Finding> hanging = CompletableFuture.supplyAsync(() -> check(shared));
            issuer.awaitRequest();
            assertEquals(
                    Finding.VERIFIED,
                    shared.check(
                            TestKey.parsed(other.sign("job", "mintmark")),
                            other.provider("acme"),
                            KeyWait.ALLOWED));
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

    private IssuerKeys keys(Executor executor) {
        return new IssuerKeys(
                new KeySetFetch(http()), executor, clock, SourceKeys.BETWEEN_RENEWALS);
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
        return TestKey.parsed(issuer.sign("job", "mintmark"));
    }

    private Finding check(IssuerKeys signingKeys) {
        return signingKeys.check(token(), issuer.provider("acme"), KeyWait.ALLOWED);
    }

    private Finding check(IssuerKeys signingKeys, String token) {
        return signingKeys.check(TestKey.parsed(token), issuer.provider("acme"), KeyWait.ALLOWED);
    }
}
