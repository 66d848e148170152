package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.LogTree;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.note.Base64Text;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.SignedNote;
import io.mintmark.audit.note.TreeHead;

import java.util.Optional;

/**
 * Compares the note beside each checkpoint with the tree over the checkpoints up to it, and with
 * the key that the checkpoint names. All notes are of one growing tree, so each is consistent with
 * those before it. A part of a log lacks the leaves before it, so its notes aren't judged.
 */
final class LogNotes {
    private final Noted noted;
    private final Findings findings;
    private boolean known;
    private LogTree tree = new LogTree();
    private long last;

    /** Takes each note that holds. */
    interface Noted {
        /**
         * Takes the note of a checkpoint.
         *
         * @param tree that the note is about
         * @param text of the note
         * @param key that signed it
         */
        void noted(SignedCheckpoint signed, LogTree tree, String text, NoteKey key);
    }

    /**
     * @param whole whether the log has all checkpoints
     */
    LogNotes(boolean whole, Noted noted, Findings findings) {
        this.known = whole;
        this.noted = noted;
        this.findings = findings;
    }

    /** The next checkpoint of the log, whoever signed it. */
    void stored(SignedCheckpoint signed) {
        known &= signed.number() == last + 1; // a gap is reported elsewhere
        if (!known) {
            return;
        }
        last = signed.number();
        tree = tree.with(signed);
        Optional<String> raw = signed.unverified().flatMap(Checkpoint::noteKey);
        if (raw.isPresent() && signed.note().isEmpty()) {
            wrong("lacks its note");
        } else if (raw.isEmpty() && signed.note().isPresent()) {
            wrong("has a note, but doesn't name the note's key");
        } else if (raw.isPresent()) {
            judge(signed);
        }
    }

    private void judge(SignedCheckpoint signed) {
        Optional<NoteKey> key = signed.noteKey();
        SignedNote note = key.isPresent() ? SignedNote.parse(signed.note().orElseThrow()) : null;
        if (note == null) {
            wrong("has a note that can't be read");
            return;
        }
        String origin = key.get().name();
        String root = Base64Text.of(tree.leaves().root());
        if (!origin.endsWith("/audit/" + tree.number())) {
            wrong(
                    "has a note that names the log '%s', but the name must end with /audit/%d"
                            .formatted(origin, tree.number()));
        } else if (!note.text().equals(new TreeHead(origin, tree.size(), root).text())) {
            known = false; // so are all notes after it, if a checkpoint was changed
            wrong("has a note whose tree doesn't match the log's checkpoints");
        } else if (!note.isSignedBy(key.get())) {
            wrong("has a note with an invalid signature");
        } else {
            noted.noted(signed, tree, note.text(), key.get());
        }
    }

    private void wrong(String predicate) {
        findings.wrong("Checkpoint %d %s".formatted(last, predicate));
    }
}
