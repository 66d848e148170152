package io.mintmark.auditor.command;

import com.nimbusds.jose.jwk.ECKey;

import io.mintmark.audit.checkpoint.AuditKey;
import io.mintmark.audit.checkpoint.PublicKeys;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.auditor.reader.ExportedLog;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.auditor.verify.LogReader;
import io.mintmark.auditor.verify.Verification;
import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.output.Progress;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.sql.Logins;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;

@Command(
        name = "verify",
        description =
                "Verifies that no row of the log was changed or removed, or lists the "
                        + "rows that were.",
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:nothing is wrong",
            "1:something is wrong, or can't be read",
            "3:only declarations or doubts were found, and they are not accepted"
        },
        mixinStandardHelpOptions = true)
public final class AuditVerify implements Callable<Integer> {
    /** Each thread has a batch of rows in memory. */
    private static final int MOST_THREADS = 256;

    private final Supplier<SettingsReader> settings;

    @Option(
            names = "--keys",
            paramLabel = "FILE",
            description =
                    "Public keys to trust, PEM. By default, the keys of AUDIT_SIGNING_KEY_FILE.")
    private @Nullable Path keys;

    @Option(
            names = "--cell-keys",
            paramLabel = "FILE",
            description =
                    "Public audit keys of the cells from which tenants came, PEM. By default, "
                            + "AUDIT_CELL_KEYS_FILE.")
    private @Nullable Path cellKeys;

    @Option(
            names = "--checkpoints",
            paramLabel = "FILE",
            description =
                    "Checkpoints kept outside the database: the broker's output. Other "
                            + "lines are ignored.")
    private @Nullable Path checkpoints;

    @Option(
            names = "--policy",
            paramLabel = "FILE",
            description =
                    "Also checks that a quorum of witnesses cosigned the log; the file is a"
                            + " policy in the format of c2sp.org/tlog-policy.")
    private @Nullable Path policy;

    @Option(
            names = "--export",
            paramLabel = "FILE",
            arity = "1..*",
            description = "Verifies a file written by audit export --all, instead of the database.")
    private List<Path> exports = List.of();

    @Option(
            names = "--format",
            converter = ExportFormat.Converter.class,
            description = "The format of --export: jsonl, which is the default, or ocsf.")
    private ExportFormat format = ExportFormat.JSONL;

    @Option(
            names = "--accept-gap",
            paramLabel = "HASH",
            description =
                    "Accepts the declaration in the checkpoint with this hash, or the doubts about the change with this hash. May be repeated.")
    private Set<String> accepted = Set.of();

    @Option(
            names = "--threads",
            paramLabel = "NUMBER",
            description = "Threads that decode and check rows. By default, one for each processor.")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(
            names = "--progress",
            description =
                    "Prints the progress to standard error, even if standard error is not a terminal.")
    private boolean watched;

    @Option(
            names = "--no-record",
            description =
                    "Does not record the result in audit.verification, so the console does not show it.")
    private boolean unrecorded;

    public AuditVerify(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    @Override
    public Integer call() {
        if (threads < 1 || threads > MOST_THREADS) {
            throw new CommandFailed(
                    "--threads: %d is not a number from 1 to %d".formatted(threads, MOST_THREADS));
        }
        exports.forEach(file -> ExportKind.requireProvable(file, format));
        SettingsReader reader = settings.get();
        List<ECKey> own =
                keys == null
                        ? AuditKey.read(reader.auditKeyToTrust(), new HeldKeys(reader.pkcs11()))
                                .published()
                        : PublicKeys.read(keys, "--keys");
        TrustedKeys trusted = new TrustedKeys(own);
        TrustedKeys cells = new TrustedKeys(withCells(own, reader));
        KeptCheckpoints kept = new KeptCheckpoints(checkpoints);
        AuditReport report = new AuditReport(System.out, accepted, new Progress(watched));
        Optional<WitnessPolicy> witnesses = Optional.ofNullable(policy).map(WitnessPolicy::read);
        if (exports.isEmpty()) {
            verify(
                    reader.database(),
                    log -> new Verification(log, trusted, cells, witnesses, report),
                    kept,
                    report);
        } else {
            try (ExportedLog log = new ExportedLog(exports, format::row, report, threads)) {
                report.end(
                        kept.read(new Verification(log, trusted, cells, witnesses, report)::run));
            }
        }
        return report.status();
    }

    /**
     * The keys together with those of other cells. A tenant may have returned on a statement that
     * followed one of this cell.
     */
    private List<ECKey> withCells(List<ECKey> own, SettingsReader reader) {
        List<ECKey> all = new ArrayList<>(own);
        Optional.ofNullable(cellKeys)
                .or(reader::cellKeysFile)
                .map(file -> PublicKeys.read(file, "--cell-keys"))
                .ifPresent(all::addAll);
        return all;
    }

    private void verify(
            DatabaseSettings database,
            Function<LogReader, Verification> verification,
            KeptCheckpoints kept,
            AuditReport report) {
        long began = System.nanoTime();
        Verification.Summary summary;
        try (PostgresLog log = PostgresLog.of(database, threads)) {
            summary = kept.read(verification.apply(log)::run);
        }
        report.end(summary);
        if (!unrecorded) {
            report.result(summary, Duration.ofNanos(System.nanoTime() - began))
                    .record(Logins.service(database))
                    .ifPresent(why ->
                            System.err.printf(
                                    "mintmark: the result was not recorded in the database, because %s. To verify without recording the result, use --no-record%n",
                                    why));
        }
    }
}
