package io.mintmark.admin.audit;

import io.mintmark.audit.checkpoint.Checkpoint.Declaration;
import io.mintmark.audit.checkpoint.Checkpoint.LostEnd;
import io.mintmark.audit.log.LostRow;
import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.output.CommandFailed;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Changes of the configuration that a database lost, revocations perhaps. Replicas that stopped
 * mint again only after somebody has answered for this list, whose code stands for it: a list that
 * became longer meanwhile has another code.
 */
final class LostChanges {
    private static final int CODE = 12;

    private final List<String> names;

    private LostChanges(List<String> names) {
        this.names = List.copyOf(names);
    }

    /**
     * @param gap what kept checkpoints say
     * @param reported what replicas had read, whether or not a checkpoint sealed it
     */
    static LostChanges of(Optional<Declaration> gap, List<LostRow> reported) {
        Stream<String> sealed =
                gap.stream().flatMap(lost -> lost.changes().stream()).map(LostChanges::name);
        Stream<String> read =
                reported.stream()
                        .filter(row -> row.kind() == LostRow.Kind.CHANGE)
                        .map(row -> row.name() + ", which a replica had read");
        return new LostChanges(Stream.concat(sealed, read).sorted().toList());
    }

    private static String name(LostEnd end) {
        return "changes of %s, revisions %d to %d"
                .formatted(
                        end.chain()
                                .map(name -> "tenant " + name)
                                .orElse("the tables without tenant"),
                        end.first(),
                        end.last());
    }

    List<String> names() {
        return names;
    }

    /** Stands for the whole list. */
    String code() {
        byte[] list = String.join("\n", names).getBytes(StandardCharsets.UTF_8);
        return HexFormat.of().formatHex(CanonicalForm.sha256().digest(list)).substring(0, CODE);
    }

    /**
     * Requires that somebody has answered for them, if there are any.
     *
     * @param answered the code that was given
     * @throws CommandFailed if it isn't this list's
     */
    void requireAnswered(Optional<String> answered) {
        if (!names.isEmpty() && !answered.equals(Optional.of(code()))) {
            throw new CommandFailed(
                    ("replicas stay stopped, because configuration changes are lost: %s; repeat"
                                    + " the revocations and blocks among them, then add"
                                    + " --answered with"
                                    + " the code that mintmark audit restored prints now")
                            .formatted(String.join("; ", names)));
        }
    }
}
