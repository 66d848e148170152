package io.mintmark.cli;

import io.mintmark.audit.Findings;
import io.mintmark.audit.Verification;
import io.mintmark.audit.VisibleText;

import java.io.PrintStream;
import java.util.Set;

/** Prints what verifying finds. */
final class AuditReport implements Findings {
    private static final int MOST = 1_000;

    private final PrintStream out;
    private final Set<String> accepted;
    private final Progress progress = new Progress();
    private long wrong;
    private long foreign;
    private long unaccepted;

    AuditReport(PrintStream out) {
        this(out, Set.of());
    }

    /**
     * @param accepted hashes of checkpoints whose declarations are believed
     */
    AuditReport(PrintStream out, Set<String> accepted) {
        this.out = out;
        this.accepted = accepted;
    }

    @Override
    public void wrong(String sentence) {
        wrong++;
        if (wrong <= MOST) {
            progress.clear();
            out.println("WRONG: " + VisibleText.of(sentence));
        }
    }

    @Override
    public void foreign(String sentence) {
        foreign++;
        if (foreign <= MOST) {
            progress.clear();
            out.println("WRONG: " + VisibleText.of(sentence));
        }
    }

    @Override
    public void declared(String sentence, String hash) {
        boolean known = accepted.contains(hash);
        unaccepted += known ? 0 : 1;
        progress.clear();
        out.printf(
                "%s: %s%n  %s%n",
                known ? "accepted" : "DECLARED",
                VisibleText.of(sentence),
                known ? hash : "who believes that accepts it with --accept-gap " + hash);
    }

    @Override
    public void told(String sentence) {
        progress.clear();
        out.println("note: " + VisibleText.of(sentence));
    }

    @Override
    public void progress(long rows) {
        progress.show(rows);
    }

    void end(Verification.Summary summary) {
        progress.clear();
        out.printf(
                "%,d events and %,d changes in their chains, under %,d checkpoints%s.%n",
                summary.events(),
                summary.changes(),
                summary.checkpoints(),
                summary.sealedAt().map(at -> ", the last of " + at).orElse(""));
        if (summary.unsealed() > 0) {
            out.printf(
                    summary.whole()
                            ? "note: %,d rows came after the last checkpoint; their end isn't"
                                    + " proven yet.%n"
                            : "note: %,d rows are under no checkpoint that is there and holds.%n",
                    summary.unsealed());
        }
        out.println(
                summary.kept()
                        .map(last ->
                                ("note: the checkpoints kept elsewhere end with number %d of %s;"
                                                + " a tail after it could be cut off unnoticed.")
                                        .formatted(last.number(), last.sealedAt()))
                        .orElse(
                                "note: without --checkpoints a tail that was cut off together with"
                                        + " its checkpoints goes unnoticed."));
        out.println(verdict());
    }

    private String verdict() {
        if (wrong > 0) {
            return "The log is NOT as it was written: %,d findings.".formatted(wrong + foreign);
        }
        if (foreign == 0 && unaccepted > 0) {
            return "Nothing was changed, and nothing is missing but what was declared: %,d declarations are not accepted."
                    .formatted(unaccepted);
        }
        return foreign == 0
                ? "Nothing was changed, and nothing is missing."
                : "Of what brokers wrote nothing was changed, and nothing is missing; but %,d checkpoints were put into the log that none of them made."
                        .formatted(foreign);
    }

    /** Whether nothing is wrong with what brokers wrote, whatever was put beside it. */
    boolean isIntact() {
        return wrong == 0;
    }

    /** Whether nothing is wrong at all, but for what was declared. */
    boolean isClean() {
        return wrong + foreign == 0;
    }

    /** Whether somebody declared something that isn't accepted. */
    boolean isUnaccepted() {
        return unaccepted > 0;
    }
}
