package io.mintmark.base.limit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.config.Cidr;
import io.mintmark.base.config.RateLimitSettings;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Random clients at random times, held against the plainest thing that could be right. */
class RateLimiterModelTest {
    private static final int CLIENTS = 5;

    @RepeatedTest(100)
    void every_decision_is_that_of_the_model(RepetitionInfo repetition) {
        Random random = new Random(repetition.getCurrentRepetition());
        RateLimitSettings settings = settings(random);
        FakeTime time = new FakeTime();
        RateLimiter limiter = new RateLimiter(settings, time, time);
        Map<Integer, Model> models = new HashMap<>();
        for (int step = 0; step < 2_000; step++) {
            time.advance(pause(random));
            int client = random.nextInt(CLIENTS);
            Model model = models.computeIfAbsent(client, any -> new Model(settings));
            RateDecision decision = limiter.decide(address(client));

            assertEquals(model.decide(time.passed()), decision.allowed(), "step " + step);
            assertEquals(decision.allowed() ? model.remaining() : 0, decision.remaining());
        }
    }

    private static RateLimitSettings settings(Random random) {
        Duration window = Duration.ofSeconds(1 + random.nextInt(100));
        return new RateLimitSettings(
                true, 1 + random.nextInt(60), window, 1 + random.nextInt(20), List.of(), List.of());
    }

    /** Mostly bursts, sometimes to the nanosecond a second or more. */
    private static Duration pause(Random random) {
        return switch (random.nextInt(10)) {
            case 0 -> Duration.ofSeconds(random.nextInt(20));
            case 1 -> Duration.ofNanos(random.nextLong(1_000_000_000L));
            case 2 -> Duration.ofMillis(random.nextInt(200));
            default -> Duration.ZERO;
        };
    }

    private static ClientAddress address(int client) {
        return new ClientAddress(Cidr.address("198.51.100." + client));
    }

    /** Two windows of one client. */
    private static final class Model {
        private final Counter window;
        private final Counter second;

        Model(RateLimitSettings settings) {
            this.window = new Counter(settings.requests(), settings.window());
            this.second = new Counter(settings.burst(), Duration.ofSeconds(1));
        }

        boolean decide(Duration now) {
            List<Counter> counters = List.of(window, second);
            counters.forEach(counter -> counter.begin(now));
            boolean allowed = counters.stream().allMatch(Counter::hasRoom);
            if (allowed) {
                counters.forEach(counter -> counter.taken.add(now));
            }
            return allowed;
        }

        int remaining() {
            return window.size - window.taken.size();
        }
    }

    private static final class Counter {
        private final int size;
        private final Duration length;
        private final List<Duration> taken = new ArrayList<>();
        private Duration end = Duration.ZERO;

        Counter(int size, Duration length) {
            this.size = size;
            this.length = length;
        }

        void begin(Duration now) {
            if (now.compareTo(end) >= 0) {
                end = now.plus(length);
                taken.clear();
            }
        }

        boolean hasRoom() {
            return taken.size() < size;
        }
    }
}
