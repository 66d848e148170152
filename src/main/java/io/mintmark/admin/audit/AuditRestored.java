package io.mintmark.admin.audit;

import io.mintmark.audit.checkpoint.AuditKey;
import io.mintmark.audit.checkpoint.Checkpoint.Declaration;
import io.mintmark.audit.checkpoint.Checkpoint.Named;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.LostRow;
import io.mintmark.audit.log.LostRows;
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

/**
 * The first command after a restore: keeps all replicas from minting, also those that nobody has
 * stopped or that start too early, until {@code declare-gap}.
 */
@Command(
        name = "restored",
        description = {
            "Compares a restored database with kept checkpoints, and reports what it lost.",
            "If a checkpoint is lost, replicas with AUDIT_ON_LOSS=stop mint nothing until",
            "audit declare-gap. Run this command first after a restore: it prints the lost changes, and",
            "the command that declares them once the revocations among them are repeated.",
            "New rows get ids that no lost row can have had.",
            "Needs AUDIT_SIGNING_KEY_FILE and the service's login."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:no kept checkpoint is lost",
            "1:checkpoints are lost; replicas are stopped"
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
                    "A file written by mintmark audit export --all, to list lost changes by"
                            + " name.")
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
            List<LostRow> reported = rows.unacknowledged();
            Optional<Declaration> gap = gap(log, trusted);
            Optional<Named> newest =
                    gap.flatMap(lost ->
                            lost.checkpoints().stream()
                                    .max(Comparator.comparingLong(Named::number)));
            newest.map(lost -> new LostRow(LostRow.Kind.CHECKPOINT, "", lost.number(), lost.hash()))
                    .ifPresent(lost -> rows.report(List.of(lost)));
            if (newest.isEmpty() && reported.isEmpty()) {
                System.out.println(
                        "No kept checkpoint is lost, and no replica has reported a lost row.");
                return 0;
            }
            System.out.println(
                    "Replicas with AUDIT_ON_LOSS=stop are stopped: they mint nothing until you"
                            + " run mintmark audit declare-gap.");
            gap.ifPresent(AuditRestored::print);
            LostChanges changes = LostChanges.of(gap, reported);
            print(changes);
            Optional.ofNullable(export)
                    .map(file -> ExportedChanges.lost(file, log))
                    .ifPresent(names -> names.forEach(System.out::println));
            System.out.println(next(gap.isPresent(), changes));
            return 1;
        } catch (QueryFailed e) {
            if (!QueryFailed.lacksPrivilege(e)) {
                throw e;
            }
            throw new CommandFailed(
                    "login '%s' may not stop replicas; set DATABASE_USERNAME to the service's login"
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

    private static void print(LostChanges changes) {
        if (changes.names().isEmpty()) {
            System.out.println(
                    "No change of the configuration that a checkpoint or a replica has recorded"
                            + " is lost.");
        }
        changes.names().forEach(name -> System.out.println("Lost: " + name));
    }

    private String next(boolean isGap, LostChanges changes) {
        String command = isGap ? "declare-gap --checkpoints " + checkpoints : "acknowledge-loss";
        return changes.names().isEmpty()
                ? "Next: mintmark audit %s --reason TEXT".formatted(command)
                : "Next: repeat lost revocations and blocks (docs/run/restore.sql lists them), then run mintmark audit %s --answered %s --reason TEXT"
                        .formatted(command, changes.code());
    }
}
