package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint.Declaration;
import io.mintmark.audit.checkpoint.Checkpoint.LostEnd;
import io.mintmark.audit.checkpoint.Checkpoint.Named;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.SignedCheckpoint;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Collects and reports the declarations of the owners of the signing key. */
final class Declarations {
    /** The number of a declaration's checkpoints that are shown. */
    private static final int SHOWN = 20;

    private final Findings findings;
    private final List<Declared> declarations = new ArrayList<>();

    /**
     * What a checkpoint declares.
     *
     * @param since the number of the first checkpoint from after the loss: the first lost one, or
     *     that of the declaration itself
     */
    record Declared(Declaration declaration, long since) {}

    Declarations(Findings findings) {
        this.findings = findings;
    }

    /** Adds the declaration in a checkpoint whose signature is valid. */
    void add(SignedCheckpoint signed, Declaration declared) {
        long since =
                declared.checkpoints().stream()
                        .mapToLong(Named::number)
                        .reduce(signed.number(), Math::min);
        declarations.add(new Declared(declared, since));
        findings.declared(
                "Checkpoint %d declares as lost or foreign: %d checkpoints (%s), the ends of %d chains of events, and the ends of %d chains of changes. The reason given: %s"
                        .formatted(
                                signed.number(),
                                declared.checkpoints().size(),
                                declared.checkpoints().stream()
                                        .limit(SHOWN)
                                        .map(named -> Long.toString(named.number()))
                                        .collect(Collectors.joining(", ")),
                                declared.events().size(),
                                declared.changes().size(),
                                declared.reason()),
                signed.hash());
        declared.events().forEach(end -> reportLost("chain ", end));
        declared.changes().forEach(end -> reportLost("the changes of tenant ", end));
    }

    private void reportLost(String what, LostEnd end) {
        findings.told(
                "Declared lost: rows %d to %d of %s%s"
                        .formatted(end.first(), end.last(), what, end.chain().orElse("(none)")));
    }

    List<Declared> all() {
        return declarations;
    }

    /** Whether a declaration states that this checkpoint is lost or doesn't belong to the log. */
    boolean name(Named checkpoint) {
        return declarations.stream()
                .anyMatch(each -> each.declaration().checkpoints().contains(checkpoint));
    }

    /** Whether a declaration states that rows of events are lost. */
    boolean loseEvents() {
        return declarations.stream().anyMatch(each -> !each.declaration().events().isEmpty());
    }

    /** Whether a declaration states that this row of {@code audit.event} is lost. */
    boolean loseEvent(Position row) {
        return declarations.stream()
                .flatMap(each -> each.declaration().events().stream())
                .anyMatch(end -> end.has(row));
    }

    /** Whether a declaration states that this row of {@code audit.config_change} is lost. */
    boolean loseChange(Position row) {
        return declarations.stream()
                .flatMap(each -> each.declaration().changes().stream())
                .anyMatch(end -> end.has(row));
    }
}
