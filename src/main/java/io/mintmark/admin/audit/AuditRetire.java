package io.mintmark.admin.audit;

import io.mintmark.audit.checkpoint.AuditKey;
import io.mintmark.audit.checkpoint.CheckpointLines;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.PostgresRetirement;
import io.mintmark.auditor.command.AuditReport;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Logins;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.time.Duration;
import java.time.YearMonth;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

@Command(
        name = "retire",
        description = {
            "Removes whole months from the log and records that in a signed checkpoint.",
            "The tables of these months, log.event_YYYY_MM, stay: dump them, then drop them.",
            "First verifies the rows of these months and the rows next to them.",
            "Needs a login of the owner's role and AUDIT_SIGNING_KEY_FILE."
        },
        mixinStandardHelpOptions = true)
public final class AuditRetire implements Callable<Integer> {
    private final Supplier<SettingsReader> settings;

    @Option(
            names = "--before",
            paramLabel = "YYYY-MM",
            required = true,
            description = "The first month to keep, such as 2026-03.")
    private String before = "";

    @Option(
            names = "--wait",
            paramLabel = "DURATION",
            defaultValue = "PT10M",
            description =
                    "How long to wait for other readers of the log, such as PT1H; by default,"
                            + " PT10M.")
    private Duration timeout = Duration.ZERO;

    public AuditRetire(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    @Override
    public Integer call() {
        YearMonth month = month(before);
        SettingsReader reader = settings.get();
        SealingKeys keys = AuditKey.read(reader.audit(), new HeldKeys(reader.pkcs11()));
        DatabaseLogin login = Logins.service(reader.database());
        if (!verifies(reader.database(), month, keys)) {
            System.err.println(
                    "mintmark: nothing was retired, because the verification of these"
                            + " months has findings");
            return 1;
        }
        Optional<SignedCheckpoint> sealed =
                new PostgresRetirement(login, timeout)
                        .retire(
                                month,
                                (unsealed, months) -> keys.seal(unsealed, "audit retire", months));
        sealed.map(CheckpointLines::of)
                .ifPresentOrElse(
                        lines -> lines.forEach(System.out::println),
                        () ->
                                System.err.println(
                                        "mintmark: nothing was retired, because the log has no month before "
                                                + month));
        return 0;
    }

    private static boolean verifies(DatabaseSettings settings, YearMonth before, SealingKeys keys) {
        try (PostgresLog log = PostgresLog.of(settings)) {
            return AuditReport.verify(
                            log.before(before), new TrustedKeys(keys.published()), System.err)
                    .isIntact();
        }
    }

    private static YearMonth month(String text) {
        try {
            return YearMonth.parse(text);
        } catch (DateTimeParseException e) {
            throw new CommandFailed(
                    "--before: '%s' is not a month; write it like 2026-03".formatted(text));
        }
    }
}
