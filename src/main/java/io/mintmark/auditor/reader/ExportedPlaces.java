package io.mintmark.auditor.reader;

import io.mintmark.audit.canonical.ExportedLine;
import io.mintmark.audit.checkpoint.Cosignature;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.auditor.reader.PlacedLine.Chain;

import java.util.Optional;

/** The positions of an export's lines in chains. */
final class ExportedPlaces {
    /** Groups of lines, in the order in which an export has them. */
    static final int CHANGE = 0;

    static final int EVENT = 1;
    static final int CHECKPOINT = 2;
    static final int COSIGNATURE = 3;

    static final Chain CHECKPOINTS = new Chain(CHECKPOINT, Optional.empty());

    /** The maximum length of a chain's name, in bytes. Actual names are much shorter. */
    private static final int LONGEST_NAME = 128;

    private ExportedPlaces() {}

    /** The cosignatures of a tree, which are placed by the size that it had. */
    private static Chain tree(Cosignature signed) {
        return new Chain(COSIGNATURE, Optional.of("%018d".formatted(signed.tree())));
    }

    /** The line at its place; empty if no export writes it. */
    static Optional<PlacedLine> line(ExportedLine row, String text, String origin) {
        if (row.has("checkpoint")) {
            return SignedCheckpoint.in(text)
                    .map(signed -> new PlacedLine(CHECKPOINTS, signed.number(), origin, text));
        }
        if (row.has("cosignature")) {
            return Cosignature.in(row)
                    .map(signed -> new PlacedLine(tree(signed), signed.size(), origin, text));
        }
        boolean event = row.has("mint_id");
        ExportedColumns columns = event ? ExportedColumns.EVENT : ExportedColumns.CHANGE;
        Chain chain = new Chain(event ? EVENT : CHANGE, columns.chain(row));
        return columns.fit(row) && chain.name().orElse("").length() <= LONGEST_NAME
                ? Optional.of(new PlacedLine(chain, columns.place(row), origin, text))
                : Optional.empty();
    }
}
