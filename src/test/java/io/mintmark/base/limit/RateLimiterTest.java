package io.mintmark.base.limit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.config.Cidr;
import io.mintmark.base.config.RateLimitSettings;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;

class RateLimiterTest {
    private static final Duration WINDOW = Duration.ofMinutes(1);
    private static final ClientAddress ADA = client("198.51.100.1");
    private static final ClientAddress BOB = client("198.51.100.2");

    private final FakeTime time = new FakeTime();
    private final Windows<Network> windows = new Windows<>(WINDOW, time);
    private final RateLimiter limiter =
            new RateLimiter(
                    new RateLimitSettings(true, 100, WINDOW, 20, List.of(), List.of()), time, time);

    @Test
    void the_first_request_begins_the_window() {
        time.advance(Duration.ofMillis(250));

        assertEquals(
                new RateDecision(
                        true, 100, 99, WINDOW, FakeTime.START.plusSeconds(61), Duration.ZERO),
                limiter.decide(ADA));
    }

    @Test
    void twenty_requests_fit_into_a_second() {
        assertEquals(20, allowedOf(25, ADA));
        assertEquals(
                new RateDecision(
                        false,
                        100,
                        0,
                        WINDOW,
                        FakeTime.START.plusSeconds(1),
                        Duration.ofSeconds(1)),
                limiter.decide(ADA));

        time.advance(Duration.ofMillis(999));
        assertFalse(limiter.decide(ADA).allowed());

        time.advance(Duration.ofMillis(1));
        assertEquals(79, limiter.decide(ADA).remaining());
        assertEquals(19, allowedOf(25, ADA));
    }

    @Test
    void a_second_begins_with_the_first_request_of_a_burst() {
        limiter.decide(ADA);
        time.advance(Duration.ofMillis(5900));

        int before = allowedOf(10, ADA);
        time.advance(Duration.ofMillis(200));
        int after = allowedOf(20, ADA);

        assertEquals(20, before + after);
    }

    @Test
    void a_hundred_requests_fit_into_a_minute() {
        spendTheWindow();

        time.advance(Duration.ofSeconds(6));
        assertEquals(
                new RateDecision(
                        false, 100, 0, WINDOW, FakeTime.START.plus(WINDOW), Duration.ofSeconds(50)),
                limiter.decide(ADA));

        time.advance(Duration.ofSeconds(50));
        assertEquals(99, limiter.decide(ADA).remaining());
    }

    @Test
    void a_spent_window_outlasts_a_full_second() {
        spendTheWindow();

        RateDecision refused = limiter.decide(ADA);

        assertEquals(FakeTime.START.plus(WINDOW), refused.resetAt());
        assertEquals(Duration.ofSeconds(56), refused.retryAfter());
    }

    @Test
    void refused_requests_count_for_nothing() {
        spendTheWindow();
        time.advance(Duration.ofMillis(55_500));
        assertEquals(0, allowedOf(100, ADA));

        time.advance(Duration.ofMillis(500));
        assertEquals(20, allowedOf(20, ADA));
    }

    @Test
    void the_next_window_begins_with_the_next_request() {
        limiter.decide(ADA);
        time.advance(Duration.ofSeconds(90));

        assertEquals(FakeTime.START.plusSeconds(150), limiter.decide(ADA).resetAt());
    }

    @Test
    void waiting_is_told_in_whole_seconds_and_never_too_short() {
        spendTheWindow();
        time.advance(Duration.ofMillis(100));

        assertEquals(Duration.ofSeconds(56), limiter.decide(ADA).retryAfter());
    }

    @Test
    void clients_do_not_share_a_limit() {
        allowedOf(25, ADA);

        assertEquals(99, limiter.decide(BOB).remaining());
    }

    @Test
    void requests_at_the_same_time_are_counted_exactly()
            throws InterruptedException, ExecutionException {
        Callable<Integer> client = () -> allowedOf(50, ADA);
        List<Future<Integer>> results;
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            results = threads.invokeAll(Stream.generate(() -> client).limit(20).toList());
        }
        int allowed = 0;
        for (Future<Integer> result : results) {
            allowed += result.get();
        }
        assertEquals(20, allowed);
    }

    @Test
    void there_is_a_bound_to_the_addresses_that_are_remembered() {
        for (int i = 0; i < 8 * Windows.MOST; i++) {
            windows.of(
                    client("%d.%d.%d.1".formatted(i >> 16 & 255, i >> 8 & 255, i & 255)).network());
        }

        assertTrue(windows.count() <= Windows.MOST, () -> "" + windows.count());
    }

    @Test
    void on_a_busy_day_those_who_come_by_once_are_forgotten_first() {
        comeByOnce(0, Windows.MOST);
        spendTheWindow();
        comeByOnce(Windows.MOST, 5 * Windows.MOST);

        assertFalse(limiter.decide(ADA).allowed());
    }

    @Test
    void a_changed_limit_applies_to_the_window_that_is_running() {
        var window = windows.of(ADA.network());
        assertEquals(1, window.take(2));
        assertEquals(0, window.take(2));
        assertEquals(-1, window.take(2));
        assertEquals(0, window.take(3));
        assertEquals(-1, window.take(1));
        assertEquals(0, window.take(4));
    }

    @Test
    void windows_that_are_over_are_forgotten() {
        windows.of(ADA.network());
        assertEquals(1, windows.count());

        time.advance(WINDOW);
        assertEquals(0, windows.count());
    }

    /** Five bursts, a second apart: four seconds have passed and the fifth is full. */
    private void spendTheWindow() {
        for (int i = 0; i < 5; i++) {
            time.advance(Duration.ofSeconds(i == 0 ? 0 : 1));
            assertEquals(20, allowedOf(20, ADA));
        }
    }

    private void comeByOnce(int from, int to) {
        for (int i = from; i < to; i++) {
            limiter.decide(client("2001:db8:%x:%x::1".formatted(i >> 16, i & 0xffff)));
        }
    }

    private int allowedOf(int requests, ClientAddress client) {
        return Math.toIntExact(
                IntStream.range(0, requests).filter(i -> limiter.decide(client).allowed()).count());
    }

    private static ClientAddress client(String address) {
        return new ClientAddress(Cidr.address(address));
    }
}
