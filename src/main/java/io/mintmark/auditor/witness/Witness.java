package io.mintmark.auditor.witness;

import io.mintmark.audit.note.Base64Text;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.SignedNote;
import io.mintmark.audit.note.TreeHead;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.audit.tree.ConsistencyProof;
import io.mintmark.audit.tree.TreeHash;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;

/**
 * Cosigns the heads of logs that only grow (c2sp.org/tlog-witness). Of each log it remembers the
 * last head that it cosigned, and never cosigns one that isn't consistent with it: a log that shows
 * two histories gets a cosignature for one of them at most.
 */
public final class Witness implements AutoCloseable {
    private static final int MOST_HASHES = 63;
    private static final String OLD = "old ";

    private final WitnessPolicy policy;
    private final WitnessState state;
    private final InstantSource clock;

    /** An answer to {@code add-checkpoint}. */
    record Answer(int status, String type, String body) {
        private static final String TEXT = "text/plain; charset=utf-8";

        static Answer refused(int status, String why) {
            return new Answer(status, TEXT, why + "\n");
        }

        static Answer conflict(long size) {
            return new Answer(409, "text/x.tlog.size", size + "\n");
        }
    }

    private record Submission(long old, List<byte[]> proof, SignedNote note, TreeHead head) {}

    /**
     * Opens the state.
     *
     * @param name of the key, if one has to be made
     */
    public Witness(WitnessPolicy policy, Path state, String name, InstantSource clock)
            throws IOException {
        this.policy = policy;
        this.state = new WitnessState(state, name);
        this.clock = clock;
    }

    /** The key that its cosignatures are verified with. */
    public NoteKey key() {
        return state.key().published();
    }

    /**
     * Answers a request. The head is on disk before its cosignature is returned.
     *
     * @throws IOException if the state can't be written; then nothing is cosigned
     */
    synchronized Answer addCheckpoint(String request) throws IOException {
        Submission submitted;
        try {
            submitted = parse(request);
        } catch (IllegalArgumentException e) {
            return Answer.refused(400, String.valueOf(e.getMessage()));
        }
        TreeHead head = submitted.head();
        List<NoteKey> keys = policy.keys(head.origin());
        if (keys.isEmpty()) {
            return Answer.refused(404, "the policy of this witness doesn't list this log");
        }
        if (keys.stream().noneMatch(submitted.note()::isSignedBy)) {
            return Answer.refused(403, "the checkpoint is not signed by a key of the log");
        }
        if (submitted.old() > head.size()) {
            return Answer.refused(
                    400, "the old size is larger than the size of the checkpoint's tree");
        }
        TreeHead last = state.head(head.origin()).orElseGet(() -> empty(head.origin()));
        if (submitted.old() != last.size()) {
            return Answer.conflict(last.size());
        }
        return advance(submitted, last);
    }

    private Answer advance(Submission submitted, TreeHead last) throws IOException {
        TreeHead head = submitted.head();
        if (head.size() == last.size() && !head.base64().equals(last.base64())) {
            return Answer.conflict(last.size());
        }
        if (!ConsistencyProof.holds(last, head, submitted.proof())) {
            return Answer.refused(422, "the consistency proof is invalid");
        }
        state.advance(head);
        String line = state.key().cosign(submitted.note().text(), clock.instant()).line();
        return new Answer(200, Answer.TEXT, line);
    }

    private static TreeHead empty(String origin) {
        return new TreeHead(origin, 0, Base64Text.of(new TreeHash().root()));
    }

    private static Submission parse(String request) {
        int blank = request.indexOf("\n\n");
        if (blank < 0 || !request.startsWith(OLD)) {
            throw new IllegalArgumentException(
                    "a request must be 'old SIZE', a proof, an empty line and a checkpoint");
        }
        List<String> lines = List.of(request.substring(0, blank).split("\n", -1));
        List<String> hashes = lines.subList(1, lines.size());
        if (hashes.size() > MOST_HASHES) {
            throw new IllegalArgumentException("a proof must have at most 63 hashes");
        }
        SignedNote note = SignedNote.parse(request.substring(blank + 2));
        return new Submission(
                TreeHead.size(lines.getFirst().substring(OLD.length())),
                hashes.stream().map(Base64Text::bytes).toList(),
                note,
                TreeHead.parse(note.text()));
    }

    @Override
    public void close() throws IOException {
        state.close();
    }
}
