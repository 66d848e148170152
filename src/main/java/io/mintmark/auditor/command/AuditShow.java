package io.mintmark.auditor.command;

import io.mintmark.auditor.export.PostgresExport;
import io.mintmark.auditor.export.PostgresExport.By;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.output.ExportedRow;
import io.mintmark.base.output.Times;
import io.mintmark.base.sql.Logins;
import io.mintmark.base.tenant.MintId;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Stream;

@Command(
        name = "show",
        description =
                "Shows mints with token, grant and its author, provider and outcome, or changes of"
                        + " the configuration; latest first.",
        mixinStandardHelpOptions = true)
public final class AuditShow implements Callable<Integer> {
    private static final List<String> OUTCOMES =
            List.of("issued", "failed", "withheld", "denied", "rejected", "none");

    private final Supplier<SettingsReader> settings;

    @ArgGroup(multiplicity = "1")
    private Sought sought = new Sought();

    @Option(
            names = "--most",
            defaultValue = "50",
            description = "The maximum number of mints; 50 by default.")
    private int most;

    @Option(names = "--tenant", description = "Only mints of this tenant.")
    private @Nullable String tenant;

    @Option(
            names = "--outcome",
            description =
                    "Only mints with this outcome: issued, failed, withheld, denied, rejected, or"
                            + " none for mints without an outcome.")
    private @Nullable String outcome;

    @Option(
            names = "--from",
            paramLabel = "TIME",
            description = "The start, inclusive: 2026-03-01 (UTC) or 2026-03-01T12:00:00Z.")
    private @Nullable String from;

    @Option(names = "--to", paramLabel = "TIME", description = "The end, exclusive.")
    private @Nullable String to;

    private long count;

    public AuditShow(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    /** The search criterion: exactly one of these. */
    static final class Sought {
        @Option(names = "--mint", paramLabel = "ID", description = "A mint id.")
        private @Nullable String mint;

        @Option(names = "--subject", description = "A subject.")
        private @Nullable String subject;

        @Option(names = "--actor", description = "Who acted for a subject, such as an agent.")
        private @Nullable String actor;

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

        @Option(
                names = "--by",
                paramLabel = "LOGIN",
                description = "Changes of the configuration by this SQL login.")
        private @Nullable String by;

        /** The option that selects the mints, and its value. */
        Map.Entry<By, String> given() {
            if (mint != null) {
                return Map.entry(By.MINT, mintId(mint));
            }
            return Stream.of(
                            entry(By.SUBJECT, subject),
                            entry(By.ACTOR, actor),
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
        PostgresExport.Narrowed narrowed =
                new PostgresExport.Narrowed(
                        Optional.ofNullable(tenant),
                        Optional.ofNullable(outcome).map(AuditShow::known),
                        Times.of("--from", from),
                        Times.of("--to", to));
        try (PostgresExport rows = new PostgresExport(Logins.service(settings.get().database()))) {
            if (sought.by != null) {
                showChanges(rows, sought.by, narrowed);
            } else {
                showMints(rows, narrowed);
            }
        }
        if (sought.subject != null || sought.actor != null) {
            System.err.println(
                    "mintmark: rejected tokens are left out: nothing proves their subject and"
                            + " actor, so the log records neither. To list them: SELECT * FROM"
                            + " audit.denial WHERE kind = 'rejected'");
        }
        if (count == 0) {
            System.err.println("mintmark: no entry of the audit log that you may see matches");
        }
        return count == 0 ? 1 : 0;
    }

    private void showMints(PostgresExport rows, PostgresExport.Narrowed narrowed) {
        Timeline timeline = new Timeline(System.out);
        Map.Entry<By, String> what = sought.given();
        rows.timeline(
                what.getKey(),
                what.getValue(),
                narrowed,
                most,
                row -> {
                    timeline.print(ExportedRow.parse(row));
                    count++;
                });
    }

    private void showChanges(PostgresExport rows, String by, PostgresExport.Narrowed narrowed) {
        if (outcome != null) {
            throw new CommandFailed(
                    "--outcome: changes have no outcome; leave out --outcome or --by");
        }
        ChangeText changes = new ChangeText(System.out);
        rows.changes(
                by,
                narrowed,
                most,
                row -> {
                    changes.print(ExportedRow.parse(row));
                    count++;
                });
    }

    private static String known(String outcome) {
        if (!OUTCOMES.contains(outcome)) {
            throw new CommandFailed(
                    "--outcome: '%s' is not an outcome; use one of %s"
                            .formatted(outcome, String.join(", ", OUTCOMES)));
        }
        return outcome;
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
