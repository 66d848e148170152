package io.mintmark.cli;

import io.mintmark.audit.Checkpoint.Declaration;
import io.mintmark.audit.Gap;
import io.mintmark.audit.SealingKeys;
import io.mintmark.audit.SignedCheckpoint;
import io.mintmark.audit.TrustedKeys;
import io.mintmark.config.SettingsReader;
import io.mintmark.postgres.Database;
import io.mintmark.postgres.DatabaseLogin;
import io.mintmark.postgres.PostgresLog;
import io.mintmark.postgres.PostgresSeals;
import io.mintmark.wiring.AuditKey;
import io.mintmark.wiring.Logins;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** What whoever has the signing key can say of the log, signed; verify tells it. */
final class AuditDeclarations {
    private final Supplier<SettingsReader> settings;

    AuditDeclarations(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    abstract class Declare implements Callable<Integer> {
        @Option(
                names = "--reason",
                required = true,
                description = "What happened, for those who will have to believe it.")
        private String reason = "";

        @Override
        public final Integer call() {
            if (reason.isBlank()) {
                throw new CommandFailed("--reason: say what happened");
            }
            SettingsReader reader = settings.get();
            SealingKeys keys = AuditKey.read(reader.audit().signingKeyFile());
            DatabaseLogin login = Logins.service(reader.database());
            Declaration declaration = declaration(login, new TrustedKeys(keys.published()));
            try (Database database = new Database(login)) {
                SignedCheckpoint sealed =
                        new PostgresSeals(database, "audit declaration")
                                .seal(
                                        true,
                                        unsealed ->
                                                Optional.of(
                                                        keys.declare(
                                                                unsealed,
                                                                "audit declaration",
                                                                declaration)))
                                .orElseThrow();
                System.out.println(sealed.line());
                System.err.println(
                        "mintmark: verify exits with 3 from now on, unless it is given --accept-gap "
                                + sealed.hash());
            }
            return 0;
        }

        private Declaration declaration(DatabaseLogin login, TrustedKeys keys) {
            try (PostgresLog log = new PostgresLog(login)) {
                return declaration(log, keys, reason);
            }
        }

        abstract Declaration declaration(PostgresLog log, TrustedKeys keys, String reason);
    }

    /** {@code audit declare-gap}. */
    @Command(
            name = "declare-gap",
            description = {
                "Says in a signed checkpoint what a restore lost of the log's end.",
                "It names each checkpoint that is lost, and the end of each chain that it had sealed.",
                "Needs AUDIT_SIGNING_KEY_FILE and the service's login."
            },
            mixinStandardHelpOptions = true)
    final class DeclareGap extends Declare {
        @Option(
                names = "--checkpoints",
                paramLabel = "FILE",
                required = true,
                description = "Checkpoints that were kept elsewhere: the broker's output.")
        private @Nullable Path checkpoints;

        @Override
        Declaration declaration(PostgresLog log, TrustedKeys keys, String reason) {
            try {
                return new KeptCheckpoints(checkpoints)
                        .read(kept -> new Gap(log, keys).find(kept, reason))
                        .orElseThrow(() ->
                                new CommandFailed(
                                        "every checkpoint of the file is in the log, so"
                                                + " there is no gap"));
            } catch (IllegalArgumentException e) {
                throw new CommandFailed("--checkpoints: one of them " + e.getMessage());
            }
        }
    }

    /** {@code audit disown-checkpoint}. */
    @Command(
            name = "disown-checkpoint",
            description = {
                "Says in a signed checkpoint that another one in the log is no broker's.",
                "Only one that no key of AUDIT_SIGNING_KEY_FILE vouches for can be disowned.",
                "Needs the service's login."
            },
            mixinStandardHelpOptions = true)
    final class Disown extends Declare {
        @Parameters(paramLabel = "NUMBER", description = "Its number.")
        private long number;

        @Override
        Declaration declaration(PostgresLog log, TrustedKeys keys, String reason) {
            return new Declaration(
                    reason,
                    List.of(
                            new Gap(log, keys)
                                    .foreign(number)
                                    .orElseThrow(() ->
                                            new CommandFailed(
                                                    "checkpoint %d isn't in the log, or it is a broker's"
                                                            .formatted(number)))),
                    List.of(),
                    List.of());
        }
    }
}
