package io.mintmark.audit.checkpoint;

import io.mintmark.audit.note.NoteKey;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Seals the log: at start, a minute after each checkpoint, after many rows, and at shutdown.
 * Replicas share the work; the first one seals for all.
 */
public final class Sealer implements AutoCloseable {
    static final long ROWS = 10_000;

    private static final Logger log = LoggerFactory.getLogger(Sealer.class);
    private static final Duration PERIOD = Duration.ofSeconds(60);
    private static final Duration TICK = Duration.ofSeconds(1);

    /** The interval between looks at all chains; the others are at chains that grew lately. */
    private static final Duration EVERYTHING = Duration.ofHours(1);

    /** The maximum time of a checkpoint, above the database's time-outs. */
    private static final Duration LONGEST_SEAL = Duration.ofMinutes(1);

    private final SealStore store;
    private final SealingKeys keys;
    private final Succession succession;
    private final String broker;
    private final LongSupplier nanos;
    private final LongSupplier rows;
    private final Consumer<String> printer;
    private final Duration tick;
    private final BackgroundThread thread;
    private long next;
    private long nextEverything;
    private long sealedRows;
    private boolean first = true;
    private boolean failing;
    private boolean refused;
    private @Nullable NoteKey announced;

    /**
     * @param keyReplaced whether these keys may replace the key of the last checkpoint
     * @param nanos a time that only goes on, such as {@link System#nanoTime}; what time it is says
     *     the store
     * @param rows how many rows this replica has written so far
     * @param printer takes each checkpoint as one line, to be kept elsewhere
     */
    public Sealer(
            SealStore store,
            SealingKeys keys,
            boolean keyReplaced,
            String broker,
            LongSupplier nanos,
            LongSupplier rows,
            Consumer<String> printer) {
        this(store, keys, keyReplaced, broker, nanos, rows, printer, TICK);
    }

    /**
     * @param tick how long it sleeps each time
     */
    Sealer(
            SealStore store,
            SealingKeys keys,
            boolean keyReplaced,
            String broker,
            LongSupplier nanos,
            LongSupplier rows,
            Consumer<String> printer,
            Duration tick) {
        this.store = store;
        this.keys = keys;
        this.succession = new Succession(keys, keyReplaced);
        this.broker = broker;
        this.nanos = nanos;
        this.rows = rows;
        this.printer = printer;
        this.tick = tick;
        this.thread =
                BackgroundThread.repeating(ThreadName.AUDIT_SEALER, Duration.ZERO, this::sealIfDue);
    }

    /** Seals now and from now on. */
    public Sealer start() {
        var _ = thread.start();
        return this;
    }

    private Duration sealIfDue() {
        boolean many = rows.getAsLong() - sealedRows >= ROWS;
        if (first || many || nanos.getAsLong() - next >= 0) {
            seal(first || many);
        }
        return tick;
    }

    private void seal(boolean now) {
        long count = rows.getAsLong();
        boolean everything = (first || nanos.getAsLong() - nextEverything >= 0) && !failing;
        try {
            Optional<SignedCheckpoint> sealed =
                    store.seal(everything, unsealed -> checkpoint(unsealed, now));
            sealed.ifPresent(checkpoint -> CheckpointLines.of(checkpoint).forEach(printer));
            sealed.flatMap(SignedCheckpoint::noteKey).ifPresent(this::announce);
            if (everything && sealed.isPresent()) {
                nextEverything = nanos.getAsLong() + EVERYTHING.toNanos();
            }
            sealedRows = count;
            first = false;
            failing = false;
            refused = false;
        } catch (Succession.Replaced e) {
            refuse(e);
        } catch (RuntimeException e) {
            if (everything) {
                nextEverything = nanos.getAsLong() + EVERYTHING.toNanos(); // what grew goes first
            }
            warn(e);
        }
    }

    /** Logs this log's key for witnesses. The key has another name after a declared loss. */
    private void announce(NoteKey key) {
        if (!key.equals(announced)) {
            log.info("The key of this log for witnesses is {}", key.text());
            announced = key;
        }
    }

    /**
     * Logs that the keys are replaced. Tries again as seldom as it seals, because only an operator
     * can change that.
     */
    private void refuse(Succession.Replaced e) {
        if (!refused) {
            log.error(e.getMessage());
        }
        refused = true;
        lookAgainIn(PERIOD);
    }

    private void warn(RuntimeException e) {
        if (!failing) {
            log.warn(
                    "No checkpoint of the audit log can be written now; the broker keeps retrying",
                    e);
        }
        failing = true;
        lookAgainIn(TICK);
    }

    private void lookAgainIn(Duration time) {
        next = nanos.getAsLong() + time.toNanos();
    }

    /** A checkpoint of a time that is still to come is of a clock that was wrong: it saves none. */
    private Optional<SignedCheckpoint> checkpoint(SealStore.Unsealed unsealed, boolean now) {
        succession.require(unsealed);
        Duration age =
                unsealed.last()
                        .map(last -> Duration.between(last.sealedAt(), unsealed.now()))
                        .orElse(PERIOD);
        if (!now && !age.isNegative() && age.compareTo(PERIOD) < 0) {
            lookAgainIn(PERIOD.minus(age));
            return Optional.empty();
        }
        lookAgainIn(PERIOD);
        return Optional.of(keys.seal(unsealed, broker, List.of()));
    }

    /** Seals a last time; to be called when no more rows are written. */
    @Override
    public void close() {
        if (thread.stop(LONGEST_SEAL)) {
            seal(true);
        }
    }
}
