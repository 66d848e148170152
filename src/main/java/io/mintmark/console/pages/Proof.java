package io.mintmark.console.pages;

import io.mintmark.audit.Findings;
import io.mintmark.audit.TrustedKeys;
import io.mintmark.audit.Verification;
import io.mintmark.audit.Verification.Summary;
import io.mintmark.console.Viewer;
import io.mintmark.postgres.verify.PostgresLog;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Verifies the log in the background, once at a time for all who look. */
public final class Proof {
    private static final Logger log = LoggerFactory.getLogger(Proof.class);

    /** Findings that are shown; all are counted. */
    private static final int SHOWN = 100;

    /** Mints whose rows are marked on every page; each takes some 100 bytes. */
    private static final int MARKED = 10_000;

    private final Function<Viewer, PostgresLog> open;
    private final Optional<Supplier<TrustedKeys>> keys;
    private final InstantSource clock;
    private final AtomicReference<@Nullable Run> last = new AtomicReference<>();

    private volatile @Nullable Run conclusive;

    /**
     * @param open the log in one snapshot, with the viewer's permissions
     * @param keys the trusted keys, read anew for each run; without any, nothing can be proven here
     */
    public Proof(
            Function<Viewer, PostgresLog> open,
            Optional<Supplier<TrustedKeys>> keys,
            InstantSource clock) {
        this.open = open;
        this.keys = keys;
        this.clock = clock;
    }

    boolean isPossible() {
        return keys.isPresent();
    }

    /** The keys that are trusted now; none if their file can't be read. */
    TrustedKeys trusted() {
        try {
            return keys.map(Supplier::get).orElseGet(() -> new TrustedKeys(List.of()));
        } catch (RuntimeException e) {
            log.warn("The keys to trust can't be read", e);
            return new TrustedKeys(List.of());
        }
    }

    /** The current run, or else the last one. */
    Optional<Run> last() {
        return Optional.ofNullable(last.get());
    }

    /** The last run with a result: one that read every row, or that found something. */
    Optional<Run> conclusive() {
        Run now = last.get();
        return now != null && now.isConclusive()
                ? Optional.of(now)
                : Optional.ofNullable(conclusive);
    }

    /**
     * The failed verification that all pages show: the last one with a result, unless it was clean.
     * A run that breaks off without a finding changes nothing.
     */
    Optional<Run> failed() {
        return conclusive().filter(run -> !run.isClean());
    }

    /**
     * Starts a run, unless one is in progress.
     *
     * @param expected the approximate number of rows
     */
    void begin(Viewer viewer, long expected) {
        Run before = last.get();
        boolean underWay = before != null && before.end().isEmpty();
        if (keys.isEmpty() || underWay) {
            return;
        }
        Run run = new Run(viewer.name(), clock.instant(), expected);
        conclusive = conclusive().orElse(null);
        if (last.compareAndSet(before, run)) {
            Thread.ofVirtual()
                    .name("console-verification")
                    .start(() -> run(run, viewer, keys.get()));
        }
    }

    private void run(Run run, Viewer viewer, Supplier<TrustedKeys> trusted) {
        try (PostgresLog reader = open.apply(viewer)) {
            Summary summary = new Verification(reader, trusted.get(), run).run(Stream.empty());
            run.end(clock.instant(), Optional.of(summary), Optional.empty());
        } catch (RuntimeException e) {
            log.warn("A verification ended early", e);
            run.end(clock.instant(), Optional.empty(), Optional.of(String.valueOf(e.getMessage())));
        }
        log.info("{} had the log verified: {}", viewer.name(), run.verdict());
    }

    /** A run, which its thread writes and pages read. */
    static final class Run implements Findings {
        private final String by;
        private final Instant begun;
        private final long expected;
        private final List<Finding> findings = new ArrayList<>();
        private final Set<String> mints = new HashSet<>();
        private long rows;
        private long wrong;
        private long foreign;
        private long declared;
        private @Nullable End end;

        /** How it ended: with a summary, or with why it didn't get that far. */
        record End(Instant at, Optional<Summary> summary, Optional<String> failure) {}

        Run(String by, Instant begun, long expected) {
            this.by = by;
            this.begun = begun;
            this.expected = expected;
        }

        @Override
        public synchronized void wrong(String sentence) {
            wrong++;
            note(Finding.Kind.WRONG, sentence);
        }

        @Override
        public synchronized void foreign(String sentence) {
            foreign++;
            note(Finding.Kind.WRONG, sentence);
        }

        @Override
        public synchronized void ungranted(String mint, String why) {
            wrong("ungranted_mint: mint %s: %s".formatted(mint, why));
        }

        @Override
        public synchronized void altered(String sentence) {
            wrong(sentence);
        }

        @Override
        public synchronized void declared(String sentence, String hash) {
            declared++;
            note(Finding.Kind.DECLARED, sentence);
        }

        @Override
        public synchronized void doubtful(String sentence, String change) {
            declared++;
            note(Finding.Kind.DOUBT, sentence);
        }

        @Override
        public synchronized void told(String sentence) {
            note(Finding.Kind.NOTE, sentence);
        }

        @Override
        public synchronized void progress(long count, long sealed) {
            rows = count;
        }

        private void note(Finding.Kind kind, String sentence) {
            Finding finding = new Finding(kind, sentence);
            if (findings.size() < SHOWN) {
                findings.add(finding);
            }
            if (kind == Finding.Kind.WRONG && mints.size() < MARKED) {
                finding.mint().ifPresent(mints::add);
            }
        }

        private synchronized void end(
                Instant at, Optional<Summary> summary, Optional<String> failure) {
            summary.ifPresent(all -> rows = all.events() + all.changes());
            end = new End(at, summary, failure);
        }

        String by() {
            return by;
        }

        Instant begun() {
            return begun;
        }

        long expected() {
            return expected;
        }

        /** The number of rows, if the run read all of them. */
        synchronized Optional<Long> all() {
            return end != null && end.summary().isPresent() ? Optional.of(rows) : Optional.empty();
        }

        synchronized long rows() {
            return rows;
        }

        synchronized Optional<End> end() {
            return Optional.ofNullable(end);
        }

        synchronized List<Finding> findings() {
            return List.copyOf(findings);
        }

        /** Whether a row of this mint was altered. */
        synchronized boolean isWrong(String mint) {
            return mints.contains(mint);
        }

        synchronized boolean isWrong() {
            return wrongs() > 0;
        }

        private synchronized boolean isConclusive() {
            return isWrong() || (end != null && end.failure().isEmpty());
        }

        synchronized boolean isClean() {
            return wrong + foreign + declared == 0 && end != null && end.failure().isEmpty();
        }

        /** Rows a second so far. */
        synchronized long rate(Instant now) {
            Duration time = Duration.between(begun, end == null ? now : end.at());
            return rows * 1_000 / Math.max(time.toMillis(), 1);
        }

        /** Of a hundred. */
        synchronized long percent() {
            if (end != null) {
                return 100;
            }
            return expected <= 0 ? 0 : Math.min(99, rows * 100 / expected);
        }

        /** How long it will go on, about, if that can be said. */
        synchronized Optional<Duration> left(Instant now) {
            long rate = rate(now);
            return end != null || rate == 0 || expected <= rows
                    ? Optional.empty()
                    : Optional.of(Duration.ofSeconds((expected - rows) / rate + 1));
        }

        synchronized String verdict() {
            if (wrong > 0) {
                return "The log is NOT intact.";
            }
            if (end == null) {
                return "in progress";
            }
            if (end.failure().isPresent()) {
                return "Verification did not complete; the log's state is unknown.";
            }
            if (foreign > 0) {
                return "Of what brokers wrote nothing was changed%s; but there are checkpoints that none of them made."
                        .formatted(reach(end));
            }
            return "Nothing was changed%s%s."
                    .formatted(declared > 0 ? " but what was declared," : "", reach(end));
        }

        /** A database doesn't show what was cut off its end. */
        private static String reach(End end) {
            return " up to checkpoint %s, as this database has it"
                    .formatted(Frame.number(end.summary().map(Summary::last).orElse(0L)));
        }

        /** Whether there are more findings than the page shows. */
        synchronized boolean isCut() {
            return wrong + foreign + declared > SHOWN;
        }

        synchronized long wrongs() {
            return wrong + foreign;
        }
    }
}
