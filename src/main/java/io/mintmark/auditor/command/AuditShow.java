package io.mintmark.auditor.command;

import io.mintmark.auditor.export.PostgresExport;
import io.mintmark.auditor.export.PostgresExport.By;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.output.ExportedRow;
import io.mintmark.base.sql.Logins;
import io.mintmark.base.tenant.MintId;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Stream;

@Command(
        name = "show",
        description =
                "Shows mints with token, grant and its author, provider and outcome; latest "
                        + "first.",
        mixinStandardHelpOptions = true)
public final class AuditShow implements Callable<Integer> {
    private final Supplier<SettingsReader> settings;

    @ArgGroup(multiplicity = "1")
    private Sought sought = new Sought();

    @Option(
            names = "--most",
            defaultValue = "50",
            description = "The maximum number of mints; 50 by default.")
    private int most;

    private long count;

    public AuditShow(Supplier<SettingsReader> settings) {
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

        @Option(
                names = "--request",
                paramLabel = "ID",
                description = "A request, by its X-Request-ID.")
        private @Nullable String request;

        @Option(
                names = "--key",
                paramLabel = "NAME",
                description = "A key, in every tenant that you may see.")
        private @Nullable String key;

        /** What to look for, by the option that was given. */
        Map.Entry<By, String> given() {
            if (mint != null) {
                return Map.entry(By.MINT, mintId(mint));
            }
            return Stream.of(
                            entry(By.SUBJECT, subject),
                            entry(By.CREDENTIAL, credential),
                            entry(By.REQUEST, request),
                            entry(By.KEY, key))
                    .flatMap(Optional::stream)
                    .findFirst()
                    .orElseThrow();
        }

        private static Optional<Map.Entry<By, String>> entry(By by, @Nullable String what) {
            return Optional.ofNullable(what).map(text -> Map.entry(by, text));
        }
    }

    @Override
    public Integer call() {
        Timeline timeline = new Timeline(System.out);
        Map.Entry<By, String> what = sought.given();
        try (PostgresExport rows = new PostgresExport(Logins.service(settings.get().database()))) {
            rows.timeline(
                    what.getKey(),
                    what.getValue(),
                    most,
                    row -> {
                        timeline.print(ExportedRow.parse(row));
                        count++;
                    });
        }
        if (count == 0) {
            System.err.println("mintmark: the audit log has no such entry");
        }
        return count == 0 ? 1 : 0;
    }

    private static String mintId(String text) {
        try {
            return new MintId(UUID.fromString(text)).toString();
        } catch (IllegalArgumentException e) {
            throw new CommandFailed(
                    ("--mint: '%s' is not a mint id such as "
                                    + "0199f2c4-1c4e-7000-8a5b-0123456789ab")
                            .formatted(text));
        }
    }
}
