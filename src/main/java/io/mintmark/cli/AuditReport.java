package io.mintmark.cli;

import io.mintmark.audit.Findings;
import io.mintmark.audit.Verification;

import java.io.PrintStream;

/** Prints what verifying finds. */
final class AuditReport implements Findings {
    private static final int MOST = 1_000;

    private final PrintStream out;
    private final Progress progress = new Progress();
    private long wrong;
    private long foreign;

    AuditReport(PrintStream out) {
        this.out = out;
    }

    @Override
    public void wrong(String sentence) {
        wrong++;
        if (wrong <= MOST) {
            progress.clear();
            out.println("WRONG: " + sentence);
        }
    }

    @Override
    public void foreign(String sentence) {
        foreign++;
        if (foreign <= MOST) {
            progress.clear();
            out.println("WRONG: " + sentence);
        }
    }

    @Override
    public void told(String sentence) {
        progress.clear();
        out.println("note: " + sentence);
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
        return foreign == 0
                ? "Nothing was changed, and nothing is missing."
                : "Of what brokers wrote nothing was changed, and nothing is missing; but %,d checkpoints were put into the log that none of them made."
                        .formatted(foreign);
    }

    /** Whether nothing is wrong with what brokers wrote, whatever was put beside it. */
    boolean isIntact() {
        return wrong == 0;
    }

    /** Whether nothing is wrong at all. */
    boolean isClean() {
        return wrong + foreign == 0;
    }
}
