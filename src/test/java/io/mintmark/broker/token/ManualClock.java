package io.mintmark.broker.token;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A clock that goes on when it is told to. */
public final class ManualClock implements InstantSource {
    private volatile Instant now;

    public ManualClock(Instant start) {
        now = start;
    }

    @Override
    public Instant instant() {
        return now;
    }

    public void pass(Duration time) {
        now = now.plus(time);
    }
}
