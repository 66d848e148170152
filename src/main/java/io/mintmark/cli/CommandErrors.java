package io.mintmark.cli;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.cli.output.CommandFailed;
import io.mintmark.config.InvalidSettings;
import io.mintmark.identity.UnusableSigningKeysException;
import io.mintmark.postgres.admin.GivenClaims.UnusableClaims;
import io.mintmark.postgres.connection.DatabaseUnfit;
import io.mintmark.postgres.connection.QuestionFailed;
import io.mintmark.verdict.Unavailable;
import io.mintmark.wiring.StartFailed;

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
