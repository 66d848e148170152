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
    /** Numbers that are shown of the checkpoints of a declaration. */
    private static final int SHOWN = 20;

    private final Findings findings;
    private final List<Declaration> declarations = new ArrayList<>();

    Declarations(Findings findings) {
        this.findings = findings;
    }

    /** A checkpoint that holds declares this. */
    void add(SignedCheckpoint signed, Declaration declared) {
        declarations.add(declared);
        findings.declared(
                ("Checkpoint %d declares %d checkpoints lost or foreign (%s), and the ends of %d"
                                + " chains of events and %d of changes lost. The reason given: %s")
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

    /** Whether one says that this checkpoint is lost or doesn't belong to the log. */
    boolean name(Named checkpoint) {
        return declarations.stream().anyMatch(each -> each.checkpoints().contains(checkpoint));
    }

    /** Whether one says that rows of events are lost. */
    boolean loseEvents() {
        return declarations.stream().anyMatch(each -> !each.events().isEmpty());
    }

    /** Whether one says that this row is lost. */
    boolean loseEvent(Position row) {
        return declarations.stream()
                .flatMap(each -> each.events().stream())
                .anyMatch(end -> end.has(row));
    }

    /** The same of a change. */
    boolean loseChange(Position row) {
        return declarations.stream()
                .flatMap(each -> each.changes().stream())
                .anyMatch(end -> end.has(row));
    }
}
