package io.mintmark.base.http.connection;

import io.mintmark.base.limit.Network;

import java.util.Optional;

/** Memory for the answer that this thread is about to write, until the answer is written. */
public final class AnswerHold implements AutoCloseable {
    /** The length up to which a response needs no hold, in bytes. */
    public static final int LEAST = AnswerMemory.LEAST_COUNTED;

    /** The length of the pieces that a shared document is sent in, in bytes. */
    public static final int PIECE = AnswerMemory.PIECE;

    private final Runnable end;

    AnswerHold(Runnable end) {
        this.end = end;
    }

    /**
     * Holds memory for a response of so many bytes; empty if clients that don't read hold too much.
     */
    public static Optional<AnswerHold> of(Network client, long bytes) {
        return GuardedConnection.answerMemory((memory, state) -> memory.hold(state, client, bytes))
                .orElseGet(AnswerHold::uncounted);
    }

    /**
     * Holds memory for a piece of a document that is made once and sent to many clients.
     *
     * @param document the same array for all of them
     */
    public static Optional<AnswerHold> ofShared(Network client, byte[] document) {
        return GuardedConnection.answerMemory(
                        (memory, state) -> memory.holdShared(state, client, document))
                .orElseGet(AnswerHold::uncounted);
    }

    /** Holds memory for a response that must not be lost, even if too much is held already. */
    public static AnswerHold anyway(Network client, long bytes) {
        return GuardedConnection.answerMemory(
                        (memory, state) -> memory.holdAnyway(state, client, bytes))
                .orElseGet(() -> new AnswerHold(() -> {}));
    }

    /** A hold that counts nothing, for a port that isn't guarded. */
    private static Optional<AnswerHold> uncounted() {
        return Optional.of(new AnswerHold(() -> {}));
    }

    @Override
    public void close() {
        end.run();
    }
}
