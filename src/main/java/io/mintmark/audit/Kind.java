package io.mintmark.audit;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The event that a row of the audit log records. */
public enum Kind {
    /** The broker is about to ask the access provider; nothing has been sent yet. */
    REQUESTED(1),
    /** A credential was obtained and may be handed out. */
    ISSUED(2),
    /** No credential was obtained. */
    FAILED(2),
    /** A credential was obtained and is not handed out. */
    WITHHELD(2),
    /** The subject may not have the key, or there is no such key. */
    DENIED(2),
    /** A token of a known issuer was not accepted. */
    REJECTED(2),
    /** The mint's credential doesn't work any more. */
    ENDED(3);

    private final int step;
    private final String word = name().toLowerCase(Locale.ROOT);

    Kind(int step) {
        this.step = step;
    }

    /** 1 for the intent, 2 for the outcome, 3 for the end. A mint has at most one row of each. */
    public int step() {
        return step;
    }

    /** The kind that the column {@code kind} names; empty for what no broker writes. */
    public static Optional<Kind> of(@Nullable String word) {
        return Arrays.stream(values()).filter(kind -> kind.word.equals(word)).findFirst();
    }

    /** The value in the column {@code kind}. */
    public String word() {
        return word;
    }
}
