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
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Changes of the configuration that a database lost, revocations perhaps. Replicas that stopped
 * mint again only after somebody has answered for this list, whose code stands for it: a list that
 * became longer meanwhile has another code.
 */
final class LostChanges {
    private static final int CODE = 12;
    private static final int MOST_NAMED = 100;

    private final List<String> sealed;
    private final List<LostRow> reported;

    private LostChanges(List<String> sealed, List<LostRow> reported) {
        this.sealed = List.copyOf(sealed);
        this.reported = List.copyOf(reported);
    }

    /**
     * @param gap what kept checkpoints say
     * @param reported what replicas had read or an export has, whether or not a checkpoint sealed
     *     it
     */
    static LostChanges of(Optional<Declaration> gap, List<LostRow> reported) {
        return new LostChanges(
                gap.stream()
                        .flatMap(lost -> lost.changes().stream())
                        .map(LostChanges::name)
                        .sorted()
                        .toList(),
                reported.stream().filter(row -> row.kind() == LostRow.Kind.CHANGE).toList());
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

    boolean isEmpty() {
        return sealed.isEmpty() && reported.isEmpty();
    }

    /**
     * A line for each, in the order in which an export has them.
     *
     * @param exported what an export knows about them
     */
    List<String> lines(List<ExportedChanges.Lost> exported) {
        Set<LostRow> inExport =
                exported.stream().map(ExportedChanges.Lost::row).collect(Collectors.toSet());
        Set<LostRow> unanswered = Set.copyOf(reported);
        return Stream.of(
                        sealed.stream().map(name -> "Lost: " + name),
                        exported.stream()
                                .filter(each -> unanswered.contains(each.row()))
                                .map(ExportedChanges.Lost::text),
                        reported.stream()
                                .filter(row -> !inExport.contains(row))
                                .map(row -> "Lost: " + name(row)))
                .flatMap(lines -> lines)
                .toList();
    }

    private static String name(LostRow row) {
        return row.name() + ", which a replica had read or an export has";
    }

    private List<String> names() {
        return Stream.concat(sealed.stream(), reported.stream().map(LostChanges::name).sorted())
                .toList();
    }

    /** Stands for the whole list. */
    String code() {
        byte[] list = String.join("\n", names()).getBytes(StandardCharsets.UTF_8);
        return HexFormat.of().formatHex(CanonicalForm.sha256().digest(list)).substring(0, CODE);
    }

    /**
     * Requires that somebody has answered for them, if there are any.
     *
     * @param answered the code that was given
     * @throws CommandFailed if it isn't this list's
     */
    void requireAnswered(Optional<String> answered) {
        if (!isEmpty() && !answered.equals(Optional.of(code()))) {
            throw new CommandFailed(
                    "nothing was recorded, because the database lost changes of the configuration: %s. Repeat the revocations and blocks among these changes, run mintmark audit restored again, and pass the code that it prints as --answered"
                            .formatted(named()));
        }
    }

    private String named() {
        List<String> names = names();
        String first = String.join("; ", names.subList(0, Math.min(names.size(), MOST_NAMED)));
        return names.size() <= MOST_NAMED
                ? first
                : "%s; and %d more".formatted(first, names.size() - MOST_NAMED);
    }
}
