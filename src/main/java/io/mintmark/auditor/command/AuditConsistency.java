package io.mintmark.auditor.command;

import io.mintmark.auditor.reader.LogConsistency;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.sql.Logins;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

import java.util.concurrent.Callable;
import java.util.function.Supplier;

@Command(
        name = "consistency",
        description = {
            "Proves that the log's newest tree of checkpoints only grew between two sizes: no checkpoint in it was changed or removed.",
            "Prints the request that a witness answers: the old size, the hashes of the proof",
            "(RFC 9162) and the note about the new size."
        },
        mixinStandardHelpOptions = true)
public final class AuditConsistency implements Callable<Integer> {
    private final Supplier<SettingsReader> settings;

    @Parameters(
            index = "0",
            paramLabel = "FROM",
            description = "The old size; 0 is the empty tree.")
    private long from;

    @Parameters(index = "1", paramLabel = "TO", description = "The new size.")
    private long to;

    public AuditConsistency(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    @Override
    public Integer call() {
        try (LogConsistency log = new LogConsistency(Logins.service(settings.get().database()))) {
            if (from < 0 || from > to || to < 1 || to > log.size()) {
                throw new CommandFailed(
                        "FROM %d and TO %d must be sizes of the tree in ascending order; the tree has %d checkpoints"
                                .formatted(from, to, log.size()));
            }
            String note =
                    log.note(to)
                            .orElseThrow(() ->
                                    new CommandFailed(
                                            "the checkpoint with the size %d has no note, because AUDIT_NOTE_KEY_FILE was not set when the checkpoint was written; choose another TO"
                                                    .formatted(to)));
            System.out.println("old " + from);
            log.proof(from, to).forEach(System.out::println);
            System.out.print("\n" + note);
        }
        return 0;
    }
}
