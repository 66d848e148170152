package io.mintmark.console.verification;

import io.mintmark.auditor.result.VerificationResult;
import io.mintmark.auditor.verify.Findings;
import io.mintmark.auditor.verify.Verification.Summary;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** A run, which its thread writes and pages read. */
public final class ProofRun implements Findings {
    /** Findings that are shown; all are counted. */
    private static final int SHOWN = 100;

    /** Mints whose rows are marked on every page; each takes some 100 bytes. */
    private static final int MARKED = 10_000;

    private final String by;
    private final Instant begun;
    private final long expected;
    private final List<Finding> findings = new ArrayList<>();
    private final Set<String> mints = new HashSet<>();
    private long rows;
    private long wrong;
    private long foreign;
    private long declared;
    private long doubts;
    private @Nullable End end;

    /** The end of a run, with its summary or the reason why it failed. */
    public record End(Instant at, Optional<Summary> summary, Optional<String> failure) {}

    ProofRun(String by, Instant begun, long expected) {
        this.by = by;
        this.begun = begun;
        this.expected = expected;
    }

    /** The run as it is now, for a page that reads it several times. */
    public synchronized ProofRun asItIs() {
        ProofRun seen = new ProofRun(by, begun, expected);
        seen.findings.addAll(findings);
        seen.mints.addAll(mints);
        seen.rows = rows;
        seen.wrong = wrong;
        seen.foreign = foreign;
        seen.declared = declared;
        seen.doubts = doubts;
        seen.end = end;
        return seen;
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
        doubts++;
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

    /** The result for the database; empty if it proves nothing, because the run failed. */
    synchronized Optional<VerificationResult> result(Instant now, Optional<Summary> summary) {
        return summary.isEmpty() && !isWrong()
                ? Optional.empty()
                : Optional.of(
                        new VerificationResult(
                                Duration.between(begun, now),
                                summary,
                                summary.map(all -> all.events() + all.changes()).orElse(rows),
                                wrongs(),
                                declared + doubts,
                                findings.stream()
                                        .filter(one -> one.kind() != Finding.Kind.NOTE)
                                        .map(Finding::sentence)
                                        .toList(),
                                Optional.of(by)));
    }

    synchronized void end(Instant at, Optional<Summary> summary, Optional<String> failure) {
        summary.ifPresent(all -> rows = all.events() + all.changes());
        end = new End(at, summary, failure);
    }

    /** The user who started the run. */
    public String by() {
        return by;
    }

    /** When the run began. */
    public Instant begun() {
        return begun;
    }

    /** The number of rows that it was to read, as estimated when it began. */
    public long expected() {
        return expected;
    }

    /** The number of rows, if the run read all of them. */
    public synchronized Optional<Long> all() {
        return end != null && end.summary().isPresent() ? Optional.of(rows) : Optional.empty();
    }

    /** The number of rows that it has read. */
    public synchronized long rows() {
        return rows;
    }

    /** How the run ended; empty while it is in progress. */
    public synchronized Optional<End> end() {
        return Optional.ofNullable(end);
    }

    /** The first findings; {@link #isCut} says whether there were more. */
    public synchronized List<Finding> findings() {
        return List.copyOf(findings);
    }

    /** Whether the run found a row of this mint wrong. */
    public synchronized boolean isWrong(String mint) {
        return mints.contains(mint);
    }

    /** Whether the run found anything wrong, apart from declared gaps and warnings. */
    public synchronized boolean isWrong() {
        return wrongs() > 0;
    }

    synchronized boolean isConclusive() {
        return isWrong() || (end != null && end.failure().isEmpty());
    }

    /** Whether the run read everything and found nothing. */
    public synchronized boolean isClean() {
        return noted() == 0 && end != null && end.failure().isEmpty();
    }

    /** The number of rows per second, until the run's end or until now. */
    public synchronized long rate(Instant now) {
        Duration time = Duration.between(begun, end == null ? now : end.at());
        return rows * 1_000 / Math.max(time.toMillis(), 1);
    }

    /** The share of the expected rows that the run has read, in percent; 100 once it has ended. */
    public synchronized long percent() {
        if (end != null) {
            return 100;
        }
        return expected <= 0 ? 0 : Math.min(99, rows * 100 / expected);
    }

    /** The estimated time left; empty while it can't be estimated. */
    public synchronized Optional<Duration> left(Instant now) {
        long rate = rate(now);
        return end != null || rate == 0 || expected <= rows
                ? Optional.empty()
                : Optional.of(Duration.ofSeconds((expected - rows) / rate + 1));
    }

    /** The result as a sentence, or that there is none yet. */
    public synchronized String verdict() {
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
            return "No row that a broker wrote was changed%s. But the log has checkpoints that no broker signed."
                    .formatted(reach(end));
        }
        return "Nothing was changed%s%s.%s"
                .formatted(
                        declared > 0 ? " except what was declared," : "",
                        reach(end),
                        doubts > 0 ? " Explain or accept the doubts." : "");
    }

    /**
     * The limits of the result in words: a database doesn't show rows that were removed from its
     * end.
     */
    private static String reach(End end) {
        return " up to checkpoint %s, as this database has it"
                .formatted(
                        String.format(
                                Locale.ENGLISH,
                                "%,d",
                                end.summary().map(Summary::last).orElse(0L)));
    }

    /** Whether there are more findings than {@link #findings} has. */
    public synchronized boolean isCut() {
        return noted() > SHOWN;
    }

    private long noted() {
        return wrong + foreign + declared + doubts;
    }

    /** The number of findings that are wrong. */
    public synchronized long wrongs() {
        return wrong + foreign;
    }
}
