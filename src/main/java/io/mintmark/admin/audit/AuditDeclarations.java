package io.mintmark.admin.audit;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.checkpoint.AuditKey;
import io.mintmark.audit.checkpoint.Checkpoint.Declaration;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.CheckpointLines;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.LastSeal;
import io.mintmark.audit.log.LostRow;
import io.mintmark.audit.log.LostRows;
import io.mintmark.audit.log.PostgresSeals;
import io.mintmark.auditor.command.KeptCheckpoints;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.auditor.verify.LostTails;
import io.mintmark.base.config.AuditSettings;
import io.mintmark.base.config.DatabaseSettings;
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
import picocli.CommandLine.Parameters;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** Signed declarations about the log by the owner of the signing key, which verify reports. */
public final class AuditDeclarations {
    private static final String DECLARER = "audit declaration";

    private final Supplier<SettingsReader> settings;

    public AuditDeclarations(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    /** {@code acknowledge-loss}, {@code declare-gap} and {@code disown-checkpoint}. */
    public List<Callable<Integer>> commands() {
        return List.of(new AcknowledgeLoss(), new DeclareGap(), new Disown());
    }

    private abstract class Declare implements Callable<Integer> {
        @Option(
                names = "--reason",
                required = true,
                description = "The reason, for auditors who accept the declaration.")
        private String reason = "";

        @Override
        public final Integer call() {
            if (reason.isBlank()) {
                throw new CommandFailed("--reason must not be blank; state what happened");
            }
            SettingsReader reader = settings.get();
            SealingKeys keys = AuditKey.read(reader.audit(), new HeldKeys(reader.pkcs11()));
            DatabaseLogin login = Logins.service(reader.database());
            TrustedKeys trusted = new TrustedKeys(keys.published());
            try (Database database = new Database(login)) {
                Declaration declaration =
                        declaration(reader.database(), new LostRows(database, trusted), trusted);
                requireSuccessor(reader.audit(), keys, new LastSeal(database));
                SignedCheckpoint sealed = sealed(database, keys, declaration);
                CheckpointLines.of(sealed).forEach(System.out::println);
                System.err.println(
                        "mintmark: from now on, mintmark audit verify exits with 3 unless it is"
                                + " run with --accept-gap "
                                + sealed.hash());
            } catch (StoreUnreachable | QueryFailed e) {
                if (!QueryFailed.lacksPrivilege(e)) {
                    throw e;
                }
                throw new CommandFailed(
                        "login '%s' may not write checkpoints; set DATABASE_USERNAME to the service's login"
                                .formatted(login.username()));
            }
            return 0;
        }

        /**
         * Requires that the keys continue the log. Keys that the log counts as lost may declare
         * only checkpoints that no broker made.
         */
        void requireSuccessor(AuditSettings settings, SealingKeys keys, LastSeal last) {
            AuditKey.foreign(settings, keys, last.signer(), last::signers)
                    .ifPresent(fault -> {
                        throw new CommandFailed(fault);
                    });
        }

        private static SignedCheckpoint sealed(
                Database database, SealingKeys keys, Declaration declaration) {
            return new PostgresSeals(database, DECLARER)
                    .seal(
                            true,
                            unsealed -> Optional.of(keys.declare(unsealed, DECLARER, declaration)))
                    .orElseThrow();
        }

        private Declaration declaration(
                DatabaseSettings settings, LostRows lost, TrustedKeys keys) {
            try (PostgresLog log = PostgresLog.of(settings)) {
                return declaration(log, lost, keys, reason);
            }
        }

        abstract Declaration declaration(
                PostgresLog log, LostRows lost, TrustedKeys keys, String reason);
    }

    /** A declaration after which replicas that stopped mint again. */
    private abstract class Opening extends Declare {
        @Option(
                names = "--answered",
                paramLabel = "CODE",
                description = {
                    "The code that `mintmark audit restored` prints. Give it after you have",
                    "repeated the lost revocations. Required if replicas with AUDIT_ON_LOSS=stop mint",
                    "nothing and changes of the configuration are lost."
                })
        private @Nullable String answered;

        void requireAnswered(LostChanges changes) {
            changes.requireAnswered(Optional.ofNullable(answered));
        }
    }

    /** The last rows of writers that replicas found missing and nobody has acknowledged. */
    private static List<Position> reported(LostRows lost) {
        return lost.unacknowledged().stream()
                .filter(row -> row.kind() == LostRow.Kind.EVENT)
                .map(row -> new Position(Optional.of(row.chain()), row.place(), row.hash()))
                .toList();
    }

    /** The reason with the lost changes that were reported, which no checkpoint may have sealed. */
    private static String withChanges(String reason, LostRows lost) {
        List<LostRow> changes =
                lost.unacknowledged().stream()
                        .filter(row -> row.kind() == LostRow.Kind.CHANGE)
                        .toList();
        return changes.isEmpty()
                ? reason
                : "%s (lost: %s)".formatted(reason, LostRow.names(changes));
    }

    /** {@code audit declare-gap}. */
    @Command(
            name = "declare-gap",
            description = {
                "Declares in a signed checkpoint which rows a restore lost.",
                "Names each lost checkpoint and the lost rows of each chain, even if a replica has",
                "written later rows since. Replicas that stopped minting then mint again.",
                "Needs AUDIT_SIGNING_KEY_FILE and the service's login."
            },
            mixinStandardHelpOptions = true)
    private final class DeclareGap extends Opening {
        @Option(
                names = "--checkpoints",
                paramLabel = "FILE",
                required = true,
                description = "Checkpoints kept outside the database: the broker's output.")
        private @Nullable Path checkpoints;

        @Override
        Declaration declaration(PostgresLog log, LostRows lost, TrustedKeys keys, String reason) {
            Declaration gap = gap(log, lost, keys, reason);
            List<LostRow> reported = lost.unacknowledged();
            if (!reported.isEmpty()) { // otherwise nothing is stopped that this would let go on
                requireAnswered(LostChanges.of(Optional.of(gap), reported));
            }
            return gap;
        }

        private Declaration gap(PostgresLog log, LostRows lost, TrustedKeys keys, String reason) {
            try {
                return new KeptCheckpoints(checkpoints)
                        .read(kept ->
                                new LostTails(log, keys)
                                        .find(
                                                kept,
                                                reported(lost),
                                                log::gaps,
                                                withChanges(reason, lost)))
                        .orElseThrow(() ->
                                new CommandFailed(
                                        "there is no gap to declare: the log has every checkpoint"
                                                + " of the file, and no row is missing"));
            } catch (IllegalArgumentException e) {
                throw new CommandFailed(
                        "--checkpoints: a checkpoint in the file " + e.getMessage());
            }
        }
    }

    /** {@code audit acknowledge-loss}. */
    @Command(
            name = "acknowledge-loss",
            description = {
                "Acknowledges in a signed checkpoint that the database lost its newest rows.",
                "Replicas that stopped minting (AUDIT_ON_LOSS=stop) then mint again.",
                "Names the rows that these replicas found missing. First repeat the revocations that the",
                "database lost.",
                "Needs AUDIT_SIGNING_KEY_FILE and the service's login."
            },
            mixinStandardHelpOptions = true)
    private final class AcknowledgeLoss extends Opening {
        @Override
        Declaration declaration(PostgresLog log, LostRows lost, TrustedKeys keys, String reason) {
            List<LostRow> rows = lost.unacknowledged();
            if (rows.isEmpty()) {
                throw new CommandFailed(
                        "there is nothing to acknowledge: no loss was reported, or every reported loss is already acknowledged. Losses are reported by replicas with AUDIT_ON_LOSS=stop and by mintmark audit restored");
            }
            requireAnswered(LostChanges.of(Optional.empty(), rows));
            String named = LostRow.names(rows);
            System.err.println("mintmark: acknowledging the loss of " + named);
            return new Declaration(
                    "%s (lost: %s)".formatted(reason, named),
                    List.of(),
                    new LostTails(log, keys).ends(reported(lost)),
                    List.of());
        }
    }

    /** {@code audit disown-checkpoint}. */
    @Command(
            name = "disown-checkpoint",
            description = {
                "Declares in a signed checkpoint that another checkpoint in the log is forged.",
                "Only a checkpoint that no key of AUDIT_SIGNING_KEY_FILE signed can be "
                        + "disowned.",
                "Needs the service's login."
            },
            mixinStandardHelpOptions = true)
    private final class Disown extends Declare {
        @Parameters(paramLabel = "NUMBER", description = "Its number.")
        private long number;

        /** The forged checkpoint may be the last one. */
        @Override
        void requireSuccessor(AuditSettings settings, SealingKeys keys, LastSeal last) {}

        @Override
        Declaration declaration(PostgresLog log, LostRows lost, TrustedKeys keys, String reason) {
            return new Declaration(
                    reason,
                    List.of(
                            new LostTails(log, keys)
                                    .foreign(number)
                                    .orElseThrow(() ->
                                            new CommandFailed(
                                                    "checkpoint %d can't be disowned: it isn't in the log, or a key of AUDIT_SIGNING_KEY_FILE signed it"
                                                            .formatted(number)))),
                    List.of(),
                    List.of());
        }
    }
}
