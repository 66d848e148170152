package io.mintmark.endtoend;

import io.mintmark.Main;

/** The program, with errors that a debugger can throw in its threads. */
@SuppressWarnings("StaticAssignmentOfThrowable") // a debugger finds them there
public final class Sabotaged {
    static final Error STACK_OVERFLOW = new StackOverflowError("for the test");
    static final Error OUT_OF_MEMORY = new OutOfMemoryError("for the test");

    private Sabotaged() {}

    /** Starts it. */
    public static void main(String... arguments) {
        if (STACK_OVERFLOW.equals(OUT_OF_MEMORY)) {
            throw new AssertionError("two errors");
        }
        Main.main(arguments);
    }
}
