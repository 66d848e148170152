package io.mintmark.auditor.witness;

import io.mintmark.audit.note.NoteKey;

import java.io.IOException;

/** A witness in a process of its own, which a test kills and starts again. */
public interface KillableWitness extends AutoCloseable {
    /** Verifies its cosignatures. */
    NoteKey key();

    /** Where it listens, before {@code /add-checkpoint}. */
    String url();

    /** Starts it, and waits until it listens. */
    void start() throws IOException;

    /** Kills it ({@code SIGKILL}). */
    void kill();

    /** Halts from now on between the write of a head and the answer. */
    void stall() throws IOException;

    /** Whether it has written a head since then, and hasn't answered. */
    boolean isStalled();

    @Override
    void close() throws IOException;
}
