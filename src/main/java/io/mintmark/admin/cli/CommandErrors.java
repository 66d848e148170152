package io.mintmark.admin.cli;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.auditor.explain.GivenClaims.UnusableClaims;
import io.mintmark.base.config.InvalidSettings;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.QuestionFailed;
import io.mintmark.base.start.StartFailed;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.identity.UnusableSigningKeysException;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.PrintStream;

/**
 * Reports in one line whatever keeps a command from its work. Stack traces are for faults of the
 * broker itself.
 */
final class CommandErrors {
    private static final Logger log = LoggerFactory.getLogger(CommandErrors.class);
    private static final int FAILED = 1;
    private static final int MISUSED = 2;

    private final PrintStream errors;

    CommandErrors(PrintStream errors) {
        this.errors = errors;
    }

    /** Reports the failure, and returns the exit status. */
    int report(Exception failure) {
        switch (failure) {
            case InvalidSettings settings -> settings.complaints().forEach(this::report);
            case StartFailed _,
                    CommandFailed _,
                    DatabaseUnfit _,
                    QuestionFailed _,
                    UnusableClaims _,
                    UnusableSigningKeysException _,
                    StoreUnreachable _,
                    Unavailable _ ->
                    report(String.valueOf(failure.getMessage()));
            default -> log.error("The command failed", failure);
        }
        return failure instanceof InvalidSettings ? MISUSED : FAILED;
    }

    private void report(String complaint) {
        errors.println("mintmark: " + complaint);
    }
}
