package io.mintmark.broker.metrics;

import io.mintmark.base.metrics.Meters;
import io.mintmark.base.metrics.Metric;

import java.time.Duration;
import java.util.function.Supplier;

/** Times questions to a store, under the outcome that they had. */
final class Timed {
    private final Meters meters;
    private final Metric metric;

    Timed(Meters meters, Metric metric) {
        this.meters = meters;
        this.metric = metric;
        meters.announce(metric, outcome(true));
        meters.announce(metric, outcome(false));
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
            meters.time(metric, taken, outcome(succeeded));
        }
    }

    static String outcome(boolean succeeded) {
        return succeeded ? "succeeded" : "failed";
    }
}
