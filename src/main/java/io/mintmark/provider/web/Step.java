package io.mintmark.provider.web;

import io.mintmark.provider.MintResult.NotMinted;

import java.util.function.Function;

/** The result of one step of a mint. */
public sealed interface Step<T> {

    /** The next step can be taken. */
    record Done<T>(T value) implements Step<T> {}

    /** There won't be a credential. */
    record Stopped<T>(NotMinted why) implements Step<T> {}

    /** Takes the next step, if there is one to be taken. */
    default <U> Step<U> then(Function<? super T, Step<U>> next) {
        return switch (this) {
            case Done<T>(T value) -> next.apply(value);
            case Stopped<T>(NotMinted why) -> new Stopped<>(why);
        };
    }
}
