package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.json.StrictJson;

import java.util.function.Function;

/** A parsed document of an issuer, or the reason why it can't be used. */
sealed interface Parsed<T> {

    record Usable<T>(T value) implements Parsed<T> {}

    /**
     * The document can't be used.
     *
     * @param fault a predicate without its subject, such as "is empty", that quotes nothing
     */
    record Unusable<T>(String fault) implements Parsed<T> {}

    static <T> Parsed<T> usable(T value) {
        return new Usable<>(value);
    }

    static <T> Parsed<T> unusable(String fault) {
        return new Unusable<>(fault);
    }

    /**
     * A JSON object.
     *
     * @param longest the maximum number of bytes
     */
    static Parsed<ObjectNode> object(byte[] utf8, int longest) {
        return StrictJson.object(utf8, longest)
                .map(Parsed::usable)
                .orElseGet(() -> unusable(StrictJson.objection(utf8)));
    }

    default <R> Parsed<R> then(Function<? super T, Parsed<R>> next) {
        return switch (this) {
            case Usable<T>(T value) -> next.apply(value);
            case Unusable<T>(String fault) -> new Unusable<>(fault);
        };
    }
}
