package io.mintmark.auditor.command;

import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.text.VisibleText;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.auditor.result.VerificationResult;
import io.mintmark.auditor.verify.Findings;
import io.mintmark.auditor.verify.RetirementVerification;
import io.mintmark.auditor.verify.Verification;
import io.mintmark.base.output.Progress;

import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Prints the findings of a verification. */
public final class AuditReport implements Findings {
    private static final int MOST = 1_000;
    private static final int UNACCEPTED = 3;

    /**
     * Maximum characters of a sentence, which may contain text of an attacker who altered the log.
     */
    private static final int LONGEST = 2_000;

    private final PrintStream out;
    private final Set<String> accepted;
    private final InstantSource clock = InstantSource.system();
    private final Progress progress;
    private final List<String> first = new ArrayList<>();
    private long wrong;
    private long foreign;
    private long ungranted;
    private long altered;
    private long unaccepted;

    AuditReport(PrintStream out) {
        this(out, Set.of(), new Progress());
    }

    /** Verifies the log, without checkpoints that were kept elsewhere, and prints the findings. */
    public static AuditReport verify(PostgresLog log, TrustedKeys keys, PrintStream out) {
        AuditReport report = new AuditReport(out);
        report.end(new Verification(log, keys, report).run(Stream.empty()));
        return report;
    }

    /** Verifies months that are to be retired, and prints the findings. */
    public static AuditReport verify(
            RetirementVerification.Months months, TrustedKeys keys, PrintStream out) {
        AuditReport report = new AuditReport(out);
        long rows = new RetirementVerification(months, keys, report).run();
        report.progress.clear();
        out.printf(
                "%,d rows were verified: those of these months, and those just before and after.%n",
                rows);
        return report;
    }

    /**
     * @param accepted hashes of checkpoints whose declarations are accepted, and of changes whose
     *     doubts are
     */
    AuditReport(PrintStream out, Set<String> accepted, Progress progress) {
        this.out = out;
        this.progress = progress;
        this.accepted = accepted;
    }

    @Override
    public void wrong(String sentence) {
        wrong++;
        print(wrong, "WRONG: " + sentence);
    }

    @Override
    public void foreign(String sentence) {
        foreign++;
        print(foreign, "WRONG: " + sentence);
    }

    @Override
    public void ungranted(String mint, String why) {
        ungranted++;
        print(ungranted, "WRONG: ungranted_mint %s: %s".formatted(mint, why));
    }

    @Override
    public void altered(String sentence) {
        altered++;
        print(altered, "WRONG: " + sentence);
    }

    @Override
    public void declared(String sentence, String hash) {
        unlessAccepted("DECLARED", sentence, hash);
    }

    @Override
    public void doubtful(String sentence, String change) {
        unlessAccepted("DOUBT", sentence, change);
    }

    private void unlessAccepted(String what, String sentence, String hash) {
        boolean known = accepted.contains(hash);
        unaccepted += known ? 0 : 1;
        print(
                unaccepted,
                "%s: %s".formatted(known ? "accepted" : what, sentence),
                "  " + (known ? hash : "to accept it, use --accept-gap " + hash));
    }

    @Override
    public void told(String sentence) {
        print(0, "note: " + sentence);
    }

    private void print(long count, String... lines) {
        if (count > 0 && first.size() < VerificationResult.FINDINGS) {
            first.add(lines[0]);
        }
        if (count <= MOST) {
            progress.clear();
            for (String line : lines) {
                boolean fits = line.length() <= LONGEST;
                out.println(VisibleText.of(fits ? line : line.substring(0, LONGEST) + "…"));
            }
        }
    }

    @Override
    public void progress(long rows, long expected) {
        progress.show(rows, expected);
    }

    void end(Verification.Summary summary) {
        progress.clear();
        out.printf(
                "Read %,d events and %,d configuration changes, sealed by %,d checkpoints.%n",
                summary.events(), summary.changes(), summary.checkpoints());
        if (summary.part().isPresent()) {
            printPart(summary);
        } else {
            printEnd(summary);
        }
        out.println(
                new AuditVerdict(wrong, foreign, ungranted, altered, unaccepted).sentence(summary));
    }

    private void printPart(Verification.Summary summary) {
        out.printf(
                "This is a part of a log: the rows that were sealed after checkpoint %d%s and up to"
                        + " checkpoint %d%s.%n",
                summary.part().orElseThrow().after(),
                summary.begunAt().map(at -> " of " + at).orElse(""),
                summary.part().orElseThrow().upTo(),
                summary.sealedAt().map(at -> " of " + at).orElse(""));
    }

    private void printEnd(Verification.Summary summary) {
        summary.sealedAt()
                .ifPresent(at ->
                        out.printf(
                                "The newest checkpoint is number %d of %s, %s.%n",
                                summary.last(), at, ago(at, clock.instant())));
        if (summary.unsealed() > 0) {
            out.printf(
                    summary.whole()
                            ? "note: %,d rows are newer than the last checkpoint. Until a checkpoint seals them, a verification can't detect whether even newer rows were removed.%n"
                            : "note: %,d rows are not covered by a valid checkpoint.%n",
                    summary.unsealed());
        }
        out.println(
                summary.kept()
                        .map(last ->
                                "note: the newest checkpoint kept elsewhere is number %d of %s, %s. This run can't detect whether later rows were removed."
                                        .formatted(
                                                last.number(),
                                                last.sealedAt(),
                                                ago(last.sealedAt(), clock.instant())))
                        .orElse(
                                "note: this run can't detect whether the newest rows were removed"
                                        + " together with their checkpoints. To detect it, pass"
                                        + " --checkpoints FILE with the checkpoints that the brokers"
                                        + " printed."));
    }

    /** Returns the age of a time in its largest unit, such as "3 days ago". */
    static String ago(Instant then, Instant now) {
        Duration age = Duration.between(then, now);
        if (age.isNegative()) {
            return "which is in the future";
        }
        if (age.toMinutes() < 1) {
            return units(age.toSeconds(), "second");
        }
        if (age.toHours() < 1) {
            return units(age.toMinutes(), "minute");
        }
        return age.toDays() < 2 ? units(age.toHours(), "hour") : units(age.toDays(), "day");
    }

    private static String units(long count, String unit) {
        return "%d %s%s ago".formatted(count, unit, count == 1 ? "" : "s");
    }

    /** The result of this report as a row for the database. */
    VerificationResult result(Verification.Summary summary, Duration time) {
        return new VerificationResult(
                time,
                Optional.of(summary),
                summary.events() + summary.changes(),
                wrong + foreign + ungranted + altered,
                unaccepted,
                List.copyOf(first),
                Optional.empty());
    }

    /** Whether all rows that brokers wrote are intact, even if rows were added. */
    public boolean isIntact() {
        return wrong == 0;
    }

    /** The exit status of a command that verifies. */
    public int status() {
        boolean isClean = wrong + foreign + ungranted + altered == 0;
        return !isClean ? 1 : unaccepted > 0 ? UNACCEPTED : 0;
    }
}
