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
                    "note: %,d rows came after the last checkpoint; their end isn't proven yet.%n",
                    summary.unsealed());
        }
        out.println(
                wrong == 0
                        ? "Nothing was changed, and nothing is missing."
                        : "The log is NOT as it was written: %,d findings.".formatted(wrong));
    }

    long wrong() {
        return wrong;
    }
}
