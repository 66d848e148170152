package io.mintmark.metrics;

import java.time.Duration;
import java.util.function.Supplier;

/** Times questions to a store, under the outcome that they had. */
final class Timed {
    private final Meters meters;
    private final String name;

    Timed(Meters meters, String name) {
        this.meters = meters;
        this.name = name;
    }

    <T> T ask(Supplier<T> question) {
        long began = System.nanoTime();
        boolean succeeded = false;
        try {
            T answer = question.get();
            succeeded = true;
            return answer;
        } finally {
            Duration taken = Duration.ofNanos(System.nanoTime() - began);
            meters.time(name, taken, "outcome", outcome(succeeded));
        }
    }

    static String outcome(boolean succeeded) {
        return succeeded ? "succeeded" : "failed";
    }
}
