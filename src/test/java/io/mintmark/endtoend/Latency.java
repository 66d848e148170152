package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;
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
            taken.add(time(request));
        }
        return taken.stream().sorted().toList().get(count / 2);
    }

    /**
     * Asserts that requests are answered with 200 while a flood keeps all processors busy. Prints
     * the median and the longest time.
     *
     * @param longest no request takes longer; the median is at most a twentieth of it, and ten
     *     times {@code usual} more
     * @param usual the median on the same machine without the flood
     */
    static void assertAnswered(
            Duration longest, Duration usual, BooleanSupplier isOver, Supplier<Answer> request) {
        List<Duration> taken = new ArrayList<>();
        while (!isOver.getAsBoolean()) {
            taken.add(time(request));
        }
        taken.sort(Comparator.naturalOrder());
        Duration median = taken.get(taken.size() / 2);
        String figures =
                "median %.1f ms, longest %.1f ms of %d in a flood"
                        .formatted(
                                median.toNanos() / 1e6,
                                taken.getLast().toNanos() / 1e6,
                                taken.size());
        System.out.println(figures);
        assertTrue(taken.getLast().compareTo(longest) <= 0, figures);
        Duration limit = longest.dividedBy(20).plus(usual.multipliedBy(10));
        assertTrue(median.compareTo(limit) <= 0, figures);
    }

    /**
     * Asserts that it takes less than this. A loaded machine delays any one measurement, so it is
     * measured again until one is below the limit; what always takes longer never is.
     */
    static void assertTakes(Duration limit, Supplier<Duration> measured) {
        Eventually.holds(Eventually.PATIENCE, measured, taken -> taken.compareTo(limit) < 0);
    }

    /** Returns how long it takes until this holds. */
    static Duration until(BooleanSupplier condition) {
        long began = System.nanoTime();
        Eventually.holds(condition);
        return Duration.ofNanos(System.nanoTime() - began);
    }

    /** Returns how long it takes until the request is answered, which must be with 200. */
    static Duration time(Supplier<Answer> request) {
        long began = System.nanoTime();
        Answer answer = request.get();
        assertEquals(200, answer.status(), answer::toString);
        return Duration.ofNanos(System.nanoTime() - began);
    }

    /**
     * At most twice, beyond noise. Prints both, so that a run on an idle machine shows them.
     * Measured again while something else takes the processors, as {@link #assertTakes} does.
     */
    static void assertAtMostTwice(Duration usual, Supplier<Duration> attacked) {
        Duration limit = usual.multipliedBy(2).plus(NOISE);
        assertTakes(
                limit,
                () -> {
                    Duration taken = attacked.get();
                    System.out.printf(
                            "median %.1f ms, %.1f ms under attack%n",
                            usual.toNanos() / 1e6, taken.toNanos() / 1e6);
                    return taken;
                });
    }
}
