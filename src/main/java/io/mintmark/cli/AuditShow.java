package io.mintmark.cli;

import io.mintmark.config.SettingsReader;
import io.mintmark.postgres.PostgresExport;
import io.mintmark.postgres.PostgresExport.By;
import io.mintmark.tenant.MintId;
import io.mintmark.wiring.Logins;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** {@code audit show}. */
@Command(
        name = "show",
        description =
                "Tells what happened: token, grant and who made it, provider, outcome; the"
                        + " latest first.",
        mixinStandardHelpOptions = true)
final class AuditShow implements Callable<Integer> {
    private final Supplier<SettingsReader> settings;

    @ArgGroup(multiplicity = "1")
    private Sought sought = new Sought();

    @Option(
            names = "--most",
            defaultValue = "50",
            description = "How many mints at most; 50 if not given.")
    private int most;

    private long count;

    AuditShow(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    /** What is looked for: exactly one of them. */
    static final class Sought {
        @Option(names = "--mint", paramLabel = "ID", description = "A mint id.")
        private @Nullable String mint;

        @Option(names = "--subject", description = "A subject.")
        private @Nullable String subject;

        @Option(
                names = "--credential",
                paramLabel = "ID",
                description = "A credential's public id, such as ASIA….")
        private @Nullable String credential;
    }

    @Override
    public Integer call() {
        Timeline timeline = new Timeline(System.out);
        try (PostgresExport rows = new PostgresExport(Logins.service(settings.get().database()))) {
            rows.timeline(
                    by(),
                    what(),
                    most,
                    row -> {
                        timeline.print(ExportedRow.parse(row));
                        count++;
                    });
        }
        if (count == 0) {
            System.err.println("mintmark: the audit log has nothing of it");
        }
        return count == 0 ? 1 : 0;
    }

    private static String mintId(String text) {
        try {
            return new MintId(UUID.fromString(text)).toString();
        } catch (IllegalArgumentException e) {
            throw new CommandFailed(
                    "--mint: '%s' is no mint id, such as 0199f2c4-1c4e-7000-8a5b-0123456789ab"
                            .formatted(text));
        }
    }

    private By by() {
        return sought.mint != null ? By.MINT : sought.subject != null ? By.SUBJECT : By.CREDENTIAL;
    }

    private String what() {
        return Optional.ofNullable(sought.mint)
                .map(AuditShow::mintId)
                .or(() -> Optional.ofNullable(sought.subject))
                .or(() -> Optional.ofNullable(sought.credential))
                .orElseThrow();
    }
}
