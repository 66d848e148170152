package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** How long a tenant's requests take while another's, or a stranger's, are in the way. */
final class Latency {
    /** What a busy build machine adds to the few milliseconds of a mint. */
    private static final Duration NOISE = Duration.ofMillis(50);

    private Latency() {}

    /** The median of so many requests, all of which must be answered with 200. */
    static Duration median(int count, Supplier<Answer> request) {
        List<Duration> taken = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long began = System.nanoTime();
            assertEquals(200, request.get().status());
            taken.add(Duration.ofNanos(System.nanoTime() - began));
        }
        return taken.stream().sorted().toList().get(count / 2);
    }

    /** At most twice, beyond noise. Prints both, so that a run on an idle machine shows them. */
    static void assertAtMostTwice(Duration usual, Duration attacked) {
        String figures =
                "median %.1f ms, %.1f ms under attack"
                        .formatted(usual.toNanos() / 1e6, attacked.toNanos() / 1e6);
        System.out.println(figures);
        assertTrue(attacked.compareTo(usual.multipliedBy(2).plus(NOISE)) <= 0, figures);
    }
}
