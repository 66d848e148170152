package io.mintmark.admin.audit;

import io.mintmark.audit.checkpoint.AuditKey;
import io.mintmark.audit.checkpoint.Checkpoint.Declaration;
import io.mintmark.audit.checkpoint.Checkpoint.Named;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.LostRow;
import io.mintmark.audit.log.LostRows;
import io.mintmark.audit.log.MissingRows;
import io.mintmark.auditor.command.KeptCheckpoints;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.auditor.verify.LostTails;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Logins;
import io.mintmark.base.sql.QueryFailed;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The first command after a restore: keeps all replicas from minting, also those that nobody has
 * stopped or that start too early, until the loss is declared.
 */
@Command(
        name = "restored",
        description = {
            "Compares a restored database with kept checkpoints and an export, and reports what it",
            "lost. If it lost a checkpoint, or a change of the configuration that is in the export,",
            "replicas with AUDIT_ON_LOSS=stop mint nothing until audit declare-gap or audit",
            "acknowledge-loss. Run this command first after a restore: it prints the lost changes.",
            "Repeat the lost revocations and blocks, then run the command that it prints.",
            "New rows get ids that no lost row can have had.",
            "Needs AUDIT_SIGNING_KEY_FILE and the service's login."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:no kept checkpoint, no change of the export and no row that a replica reported is lost",
            "1:rows are lost, and replicas with AUDIT_ON_LOSS=stop mint nothing; or the command failed"
        },
        mixinStandardHelpOptions = true)
public final class AuditRestored implements Callable<Integer> {
    private final Supplier<SettingsReader> settings;

    @Option(
            names = "--checkpoints",
            paramLabel = "FILE",
            required = true,
            description = "Checkpoints kept outside the database: the broker's output.")
    private @Nullable Path checkpoints;

    @Option(
            names = "--export",
            paramLabel = "FILE",
            description =
                    "A file of mintmark audit export --all. With it, the command also lists lost changes that no kept checkpoint seals.")
    private @Nullable Path export;

    public AuditRestored(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    @Override
    public Integer call() {
        SettingsReader reader = settings.get();
        SealingKeys keys = AuditKey.read(reader.audit(), new HeldKeys(reader.pkcs11()));
        TrustedKeys trusted = new TrustedKeys(keys.published());
        DatabaseLogin login = Logins.service(reader.database());
        try (Database database = new Database(login);
                PostgresLog log = PostgresLog.of(reader.database())) {
            LostRows rows = new LostRows(database, trusted);
            rows.skipIds();
            Optional<Declaration> gap = gap(log, trusted);
            List<ExportedChanges.Lost> exported =
                    export == null
                            ? List.of()
                            : ExportedChanges.lost(export, new MissingRows(database));
            rows.report(found(gap, exported));
            List<LostRow> reported = rows.unacknowledged();
            if (gap.isEmpty() && reported.isEmpty()) {
                System.out.println(nothing());
                return 0;
            }
            LostChanges changes = LostChanges.of(gap, reported);
            String command =
                    gap.isPresent()
                            ? "declare-gap --checkpoints " + checkpoints
                            : "acknowledge-loss";
            System.out.printf(
                    "Replicas with AUDIT_ON_LOSS=stop mint nothing until you run mintmark audit %s.%n",
                    gap.isPresent() ? "declare-gap" : "acknowledge-loss");
            gap.ifPresent(AuditRestored::print);
            print(changes, exported);
            System.out.println(next(command, changes));
            return 1;
        } catch (QueryFailed e) {
            if (!QueryFailed.lacksPrivilege(e)) {
                throw e;
            }
            throw new CommandFailed(
                    "login '%s' may not record the loss; set DATABASE_USERNAME to the service's login"
                            .formatted(login.username()));
        }
    }

    private Optional<Declaration> gap(PostgresLog log, TrustedKeys trusted) {
        try {
            return new KeptCheckpoints(checkpoints)
                    .read(kept ->
                            new LostTails(log, trusted)
                                    .find(kept, List.of(), log::gaps, "restored"));
        } catch (IllegalArgumentException e) {
            throw new CommandFailed("--checkpoints: a checkpoint in the file " + e.getMessage());
        }
    }

    private static void print(Declaration lost) {
        System.out.printf(
                "Lost: %d checkpoints, and rows of mints in %d chains.%n",
                lost.checkpoints().size(), lost.events().size());
    }

    /** The newest lost checkpoint, and each lost change. */
    private static List<LostRow> found(
            Optional<Declaration> gap, List<ExportedChanges.Lost> exported) {
        Stream<LostRow> checkpoint =
                gap
                        .flatMap(lost ->
                                lost.checkpoints().stream()
                                        .max(Comparator.comparingLong(Named::number)))
                        .map(lost ->
                                new LostRow(
                                        LostRow.Kind.CHECKPOINT, "", lost.number(), lost.hash()))
                        .stream();
        return Stream.concat(checkpoint, exported.stream().map(ExportedChanges.Lost::row)).toList();
    }

    private String nothing() {
        return export == null
                ? "No kept checkpoint is lost, and no replica has reported a lost row. Changes that no kept checkpoint seals may be lost: to compare them too, pass --export FILE."
                : "No kept checkpoint and no change of the export is lost, and no replica has"
                        + " reported a lost row.";
    }

    private static void print(LostChanges changes, List<ExportedChanges.Lost> exported) {
        if (changes.isEmpty()) {
            System.out.println(
                    "All configuration changes that a checkpoint, the export or a replica has recorded are present.");
        }
        changes.lines(exported).forEach(System.out::println);
    }

    private static String next(String command, LostChanges changes) {
        return changes.isEmpty()
                ? "Next: mintmark audit %s --reason TEXT".formatted(command)
                : "Next: repeat the lost revocations and blocks (docs/run/restore.sql lists them), then run mintmark audit %s --answered %s --reason TEXT"
                        .formatted(command, changes.code());
    }
}
