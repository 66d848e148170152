package io.mintmark.auditor.reader;

import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.note.SignedNote;
import io.mintmark.audit.note.TreeHead;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A note about a tree of checkpoints, with the way to it from the checkpoints of a receipt.
 *
 * @param note signed by the log, and by witnesses if any cosigned the checkpoints
 * @param leaves the checkpoints that the tree has
 */
public record ReceiptNote(String note, List<Leaf> leaves) {
    /**
     * A checkpoint in the tree.
     *
     * @param checkpoint which of the receipt's, from 0
     * @param index which leaf, from 0
     * @param path from the leaf to the root, in base64
     */
    public record Leaf(int checkpoint, long index, List<String> path) {}

    /**
     * The note beside the newest of some checkpoints, or the first later one that most witnesses
     * cosigned; empty if it has none.
     */
    static Optional<ReceiptNote> of(List<SignedCheckpoint> checkpoints, CheckpointTrees trees) {
        return checkpoints.stream()
                .max(Comparator.comparingLong(SignedCheckpoint::number))
                .filter(newest -> newest.noteKey().isPresent())
                .flatMap(newest ->
                        newest.note().map(note -> of(checkpoints, newest.number(), note, trees)));
    }

    private static ReceiptNote of(
            List<SignedCheckpoint> checkpoints, long newest, String note, CheckpointTrees trees) {
        TreeHead own = head(note);
        long before = newest - own.size();
        String cosigned = trees.cosigned(before, own).orElse(note);
        long size = head(cosigned).size();
        List<Leaf> leaves = new ArrayList<>();
        for (int i = 0; i < checkpoints.size(); i++) {
            long index = checkpoints.get(i).number() - before - 1;
            if (index >= 0) { // others are leaves of the tree before a declared loss
                leaves.add(new Leaf(i, index, trees.path(before, index, size)));
            }
        }
        return new ReceiptNote(cosigned, leaves);
    }

    private static TreeHead head(String note) {
        return TreeHead.parse(SignedNote.parse(note).text());
    }
}
