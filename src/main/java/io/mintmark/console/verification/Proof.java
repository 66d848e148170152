package io.mintmark.console.verification;

import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.auditor.result.VerificationResult;
import io.mintmark.auditor.verify.Verification;
import io.mintmark.auditor.verify.Verification.Summary;
import io.mintmark.console.Viewer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Verifies the log in the background. Viewers share one run at a time. */
public final class Proof {
    private static final Logger log = LoggerFactory.getLogger(Proof.class);

    private final Function<Viewer, PostgresLog> open;
    private final Function<VerificationResult, Optional<String>> recorder;
    private final Optional<Supplier<TrustedKeys>> keys;
    private final InstantSource clock;
    private final AtomicReference<@Nullable ProofRun> last = new AtomicReference<>();
    private volatile @Nullable ProofRun conclusive;

    /**
     * @param open the log in one snapshot, with the viewer's permissions
     * @param recorder keeps a result in the database, or returns why it can't
     * @param keys the trusted keys, read anew for each run; without any, nothing can be proven here
     */
    public Proof(
            Function<Viewer, PostgresLog> open,
            Function<VerificationResult, Optional<String>> recorder,
            Optional<Supplier<TrustedKeys>> keys,
            InstantSource clock) {
        this.open = open;
        this.recorder = recorder;
        this.keys = keys;
        this.clock = clock;
    }

    /** Whether there are keys to trust. */
    public boolean isPossible() {
        return keys.isPresent();
    }

    /** The keys that are trusted now; none if their file can't be read. */
    public TrustedKeys trusted() {
        try {
            return keys.map(Supplier::get).orElseGet(() -> new TrustedKeys(List.of()));
        } catch (RuntimeException e) {
            log.warn("The file of CONSOLE_AUDIT_KEYS_FILE can't be read", e);
            return new TrustedKeys(List.of());
        }
    }

    /** The log in one snapshot, for a viewer of all tenants; to be closed. */
    public PostgresLog log(Viewer viewer) {
        return open.apply(viewer);
    }

    /** The current run, or else the last one. */
    public Optional<ProofRun> last() {
        return Optional.ofNullable(last.get());
    }

    /** The last run with a result: one that read every row, or that found something. */
    public Optional<ProofRun> conclusive() {
        ProofRun now = last.get();
        return now != null && now.isConclusive()
                ? Optional.of(now)
                : Optional.ofNullable(conclusive);
    }

    /**
     * The last run with a result, unless it was clean. One that breaks off without a finding
     * changes nothing.
     */
    public Optional<ProofRun> failed() {
        return conclusive().filter(run -> !run.isClean());
    }

    /**
     * Starts a run, unless one is in progress.
     *
     * @param expected the approximate number of rows
     */
    public void begin(Viewer viewer, long expected) {
        ProofRun before = last.get();
        boolean underWay = before != null && before.end().isEmpty();
        if (keys.isEmpty() || underWay) {
            return;
        }
        ProofRun run = new ProofRun(viewer.name(), clock.instant(), expected);
        conclusive = conclusive().orElse(null);
        if (last.compareAndSet(before, run)) {
            Thread.ofVirtual()
                    .name("console-verification")
                    .start(() -> run(run, viewer, keys.get()));
        }
    }

    private void run(ProofRun run, Viewer viewer, Supplier<TrustedKeys> trusted) {
        Optional<Summary> summary = Optional.empty();
        Optional<String> failure = Optional.empty();
        try (PostgresLog reader = open.apply(viewer)) {
            summary = Optional.of(new Verification(reader, trusted.get(), run).run(Stream.empty()));
        } catch (RuntimeException e) {
            log.warn("A verification of the log did not complete", e);
            failure = Optional.of(String.valueOf(e.getMessage()));
        }
        run.result(clock.instant(), summary)
                .flatMap(recorder)
                .ifPresent(why ->
                        log.warn("The result of a verification was not recorded, because {}", why));
        run.end(clock.instant(), summary, failure);
        log.info("{} verified the log: {}", viewer.name(), run.verdict());
    }
}
