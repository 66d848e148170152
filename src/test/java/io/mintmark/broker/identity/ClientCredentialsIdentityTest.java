package io.mintmark.broker.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.identity.TokenService.IssuedToken;
import io.mintmark.broker.token.ManualClock;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.identity.NoBrokerTokenException;
import io.mintmark.provider.identity.NoBrokerTokenException.Kind;
import io.mintmark.provider.identity.TokenOrder;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

class ClientCredentialsIdentityTest {
    private static final Duration LIFE = Duration.ofMinutes(10);
    private static final TokenOrder ORDER =
            new TokenOrder(
                    new TenantName("acme"),
                    new KeyName("deploy"),
                    new MintId(UUID.fromString("01980f5e-8a00-7000-8000-0123456789ab")),
                    "https://far.example",
                    false,
                    Map.of());

    private final ManualClock clock = new ManualClock(Instant.parse("2026-07-29T12:00:00Z"));
    private final Service service = new Service();
    private Duration life = LIFE;

    @AutoClose
    private final ClientCredentialsIdentity identity =
            new ClientCredentialsIdentity(service, clock, new Random(1));

    /** Gives tokens that say which they are, or refuses, and can be held up. */
    private final class Service implements TokenService {
        private final AtomicInteger asked = new AtomicInteger();
        private volatile boolean down;
        private volatile CountDownLatch gate = new CountDownLatch(0);

        @Override
        public IssuedToken issue() {
            int number = asked.incrementAndGet();
            Unchecked.await(gate);
            if (down) {
                throw new NoBrokerTokenException(Kind.UNREACHABLE, "nobody there");
            }
            return new IssuedToken(new Secret("token-" + number), clock.instant().plus(life));
        }
    }

    @Test
    void its_tokens_are_access_tokens() {
        assertEquals("urn:ietf:params:oauth:token-type:access_token", identity.tokenType());
    }

    @Test
    void all_mints_share_a_token_until_shortly_before_it_expires() {
        assertTrue(identity.shared());
        assertEquals("token-1", token());
        clock.pass(LIFE.minusSeconds(11));
        assertEquals("token-1", token());

        clock.pass(Duration.ofSeconds(1));
        assertEquals("token-2", token());
    }

    @Test
    void mints_that_need_a_token_at_the_same_time_wait_for_one_request() throws Exception {
        service.gate = new CountDownLatch(1);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<String>> mints = new ArrayList<>();
            Callable<String> mint = this::token;
            for (int i = 0; i < 50; i++) {
                mints.add(threads.submit(mint));
            }
            awaitThenOpen(1);
            for (Future<String> each : mints) {
                assertEquals("token-1", each.get());
            }
        }
        assertEquals(1, service.asked.get());
    }

    @Test
    void the_next_token_is_asked_for_in_the_background_while_the_last_is_good() {
        token();
        clock.pass(LIFE.multipliedBy(74).dividedBy(100));
        identity.renewIfDue();
        assertEquals(1, service.asked.get());

        clock.pass(LIFE.multipliedBy(12).dividedBy(100));
        service.gate = new CountDownLatch(1);
        identity.renewIfDue();
        identity.renewIfDue();
        Eventually.holds(() -> service.asked.get() == 2);
        assertEquals("token-1", token());

        service.gate.countDown();
        Eventually.holds(() -> token().equals("token-2"));
        assertEquals(2, service.asked.get());
    }

    @Test
    void a_token_in_hand_is_used_while_the_identity_provider_is_down() {
        token();
        service.down = true;
        clock.pass(LIFE.multipliedBy(9).dividedBy(10));
        renew(2);

        assertEquals("token-1", token());
        assertEquals(Optional.empty(), identity.fault());

        clock.pass(LIFE.dividedBy(10));
        Eventually.holds(() -> identity.fault().orElse("").contains("no valid token"));
        assertEquals(Kind.UNREACHABLE, refusal().kind());
    }

    @Test
    void requests_in_the_background_become_rarer_while_they_fail() {
        service.down = true;
        assertEquals("nobody there", refusal().getMessage());
        List<Long> waits = new ArrayList<>();
        for (int i = 2; i <= 9; i++) {
            waits.add(secondsUntilRequest(i));
        }
        assertTrue(waits.getFirst() <= 1, waits::toString);
        assertTrue(waits.getLast() >= 15 && waits.getLast() <= 30, waits::toString);
    }

    @Test
    void a_mint_tries_at_once_whatever_became_of_the_last_request() {
        service.down = true;
        for (int i = 1; i <= 9; i++) {
            refusal();
            identity.renewIfDue();
        }
        service.down = false;
        assertTrue(token().startsWith("token-"));
        assertEquals(Optional.empty(), identity.fault());
    }

    @Test
    void many_mints_are_few_requests_while_the_identity_provider_is_down() throws Exception {
        service.down = true;
        long began = System.nanoTime();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<NoBrokerTokenException>> mints = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                mints.add(threads.submit(this::refusal));
            }
            for (Future<NoBrokerTokenException> each : mints) {
                assertEquals(Kind.UNREACHABLE, each.get().kind());
            }
        }
        long quarters = Duration.ofNanos(System.nanoTime() - began).toMillis() / 250;
        assertTrue(service.asked.get() <= quarters + 2, () -> service.asked + " requests");
    }

    @Test
    void a_token_that_a_provider_rejects_is_fetched_anew_once() {
        Secret first = new Secret(token());
        assertEquals(Optional.empty(), identity.insteadOf(first));
        clock.pass(Duration.ofSeconds(31));
        assertEquals(Optional.of(new Secret("token-2")), identity.insteadOf(first));
        assertEquals("token-2", token());
        assertEquals(Optional.of(new Secret("token-2")), identity.insteadOf(first));
        assertEquals(Optional.empty(), identity.insteadOf(new Secret("token-2")));
        assertEquals(2, service.asked.get());
    }

    @Test
    void providers_that_reject_it_take_nobodys_token_away() {
        Secret first = new Secret(token());
        service.down = true;
        clock.pass(Duration.ofSeconds(31));
        assertEquals(Optional.empty(), identity.insteadOf(first));
        assertEquals("token-1", token());
        assertEquals(Optional.empty(), identity.fault());
    }

    @Test
    void a_token_that_is_said_to_live_for_decades_is_used_for_an_hour() {
        life = Duration.ofDays(36_500);
        assertEquals("token-1", token());
        clock.pass(Duration.ofHours(1).minusSeconds(11));
        assertEquals("token-1", token());
        clock.pass(Duration.ofSeconds(1));
        assertEquals("token-2", token());
    }

    @Test
    void it_recovers_by_itself() {
        service.down = true;
        refusal();
        assertFalse(identity.fault().isEmpty());

        service.down = false;
        clock.pass(Duration.ofSeconds(2));
        renew(2);

        Eventually.holds(() -> identity.fault().isEmpty());
        assertEquals("token-2", token());
    }

    @Test
    void there_is_a_fault_until_the_first_token_is_there() {
        assertFalse(identity.fault().isEmpty());
        token();
        assertEquals(Optional.empty(), identity.fault());
    }

    @Test
    void a_token_that_expired_unnoticed_is_no_fault_before_its_renewal_has_failed() {
        token();
        clock.pass(LIFE.plusHours(1));
        assertEquals(Optional.empty(), identity.fault());

        service.down = true;
        refusal();
        assertFalse(identity.fault().isEmpty());
    }

    @Test
    void replicas_that_started_together_do_not_ask_together() {
        IssuedToken token = new IssuedToken(new Secret("x"), clock.instant().plus(LIFE));

        assertNotEquals(
                HeldToken.from(token, clock.instant(), new Random(1)).renewableFrom(),
                HeldToken.from(token, clock.instant(), new Random(2)).renewableFrom());
    }

    @Test
    void a_mint_that_nobody_waits_for_any_more_stops_waiting() throws Exception {
        service.gate = new CountDownLatch(1);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Kind> mint = threads.submit(() -> refusalUnderInterrupt());
            assertEquals(Kind.TIMED_OUT, mint.get());
        } finally {
            service.gate.countDown();
        }
    }

    private Kind refusalUnderInterrupt() {
        Thread.currentThread().interrupt();
        return refusal().kind();
    }

    /** Lets the clock tick until the background has asked for the n-th time. */
    private long secondsUntilRequest(int number) {
        long seconds = 0;
        while (service.asked.get() < number) {
            clock.pass(Duration.ofSeconds(1));
            seconds++;
            assertTrue(seconds <= 31);
            identity.renewIfDue();
            Eventually.holds(() -> !identity.isAsking());
        }
        return seconds;
    }

    /** Opens whatever happens: those who wait would hang for ever. */
    private void awaitThenOpen(int requests) {
        try {
            Eventually.holds(() -> service.asked.get() == requests);
        } finally {
            service.gate.countDown();
        }
    }

    private void renew(int requests) {
        identity.renewIfDue();
        Eventually.holds(() -> service.asked.get() == requests);
    }

    private String token() {
        return identity.token(ORDER).reveal();
    }

    private NoBrokerTokenException refusal() {
        return assertThrows(NoBrokerTokenException.class, this::token);
    }
}
