package io.mintmark.base.time;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * This replica's clock, and the database's, which all replicas share. The database's is known from
 * its last answer that had the time, and is carried on from there by a clock that only goes
 * forward. It is behind the real one by the time that the answer took, and ahead only by how much
 * the two have drifted apart since.
 *
 * <p>While a machine is suspended {@link System#nanoTime} stands still on Linux. After that the
 * database's clock seems to be behind until the next answer, and this replica's seems wrong.
 */
public final class Clocks {
    /** The maximum deviation of this replica's clock from the database's. */
    public static final Duration TOLERANCE = Duration.ofSeconds(30);

    /** The answer was made between two readings of the clock that only goes forward. */
    private record Answer(Instant time, long asked, long came) {}

    private final InstantSource own;
    private final LongSupplier nanos;
    private volatile @Nullable Answer last;

    /**
     * @param own this replica's
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    public Clocks(InstantSource own, LongSupplier nanos) {
        this.own = own;
        this.nanos = nanos;
    }

    /** Clocks for this replica. {@link System#nanoTime} is the clock that only goes forward. */
    public static Clocks of(InstantSource own) {
        return new Clocks(own, System::nanoTime);
    }

    /** The replica's own clock, without comparison. */
    public InstantSource own() {
        return own;
    }

    /** A clock that only goes forward, in nanoseconds from an arbitrary point. */
    public long nanos() {
        return nanos.getAsLong();
    }

    /**
     * Asks the database something, and takes the time from its answer.
     *
     * @param time the database's clock while it answered
     */
    public <T> T asking(Supplier<T> question, Function<? super T, Instant> time) {
        long asked = nanos.getAsLong();
        T answer = question.get();
        last = new Answer(time.apply(answer), asked, nanos.getAsLong());
        return answer;
    }

    /** The least that the database's clock shows now; before all times if it was never asked. */
    public Instant database() {
        Answer answer = last;
        return answer == null ? Instant.MIN : bounds(answer).earliest();
    }

    /**
     * Now, by both clocks as far as their difference is beyond doubt; by this replica's alone if
     * the database was never asked.
     */
    public TimeBounds now() {
        Answer answer = last;
        Instant here = own.instant();
        if (answer == null) {
            return TimeBounds.of(here);
        }
        TimeBounds there = bounds(answer);
        return new TimeBounds(
                here.isBefore(there.latest()) ? here : there.latest(),
                here.isAfter(there.earliest()) ? here : there.earliest());
    }

    /**
     * A sentence for clients on how far this replica's clock certainly deviates from the
     * database's; empty if the deviation is tolerable.
     */
    public Optional<String> fault() {
        Answer answer = last;
        return answer == null ? Optional.empty() : fault(ahead(own.instant(), bounds(answer)));
    }

    /** Between which times the database's clock is now. */
    private TimeBounds bounds(Answer answer) {
        long now = nanos.getAsLong();
        return new TimeBounds(
                answer.time().plusNanos(now - answer.came()),
                answer.time().plusNanos(now - answer.asked()));
    }

    /**
     * The minimum by which the local clock is ahead; negative if it is behind, zero if the bounds
     * allow both.
     */
    private static Duration ahead(Instant here, TimeBounds there) {
        if (here.isAfter(there.latest())) {
            return Duration.between(there.latest(), here);
        }
        return here.isBefore(there.earliest())
                ? Duration.between(there.earliest(), here)
                : Duration.ZERO;
    }

    private static Optional<String> fault(Duration ahead) {
        return ahead.abs().compareTo(TOLERANCE) <= 0
                ? Optional.empty()
                : Optional.of(
                        "this replica's clock is %d s %s the database's clock; the maximum is %d s"
                                .formatted(
                                        ahead.abs().toSeconds(),
                                        ahead.isNegative() ? "behind" : "ahead of",
                                        TOLERANCE.toSeconds()));
    }
}
