package io.mintmark.base.verdict;

import java.util.function.Function;

/**
 * The result of a rule: passed with a value, or refused with a reason. Broken infrastructure isn't
 * a verdict: it throws {@link Unavailable}.
 */
public sealed interface Verdict<T> {

    /** The rule holds; {@code value} is the proof. */
    record Passed<T>(T value) implements Verdict<T> {}

    /** The rule doesn't hold; {@code refusal} is what the client may know of it. */
    record Refused<T>(Refusal refusal) implements Verdict<T> {}

    static <T> Verdict<T> passed(T value) {
        return new Passed<>(value);
    }

    static <T> Verdict<T> refused(Refusal refusal) {
        return new Refused<>(refusal);
    }

    /** Applies the next rule if this one passed. */
    default <R> Verdict<R> then(Function<? super T, Verdict<R>> next) {
        return switch (this) {
            case Passed<T>(T value) -> next.apply(value);
            case Refused<T>(Refusal refusal) -> new Refused<>(refusal);
        };
    }

    /** Maps the proof, if there is one. */
    default <R> Verdict<R> map(Function<? super T, ? extends R> change) {
        return then(value -> new Passed<>(change.apply(value)));
    }
}
