package io.mintmark.broker.token;

import io.mintmark.base.outbound.Secret;

import java.util.Optional;

/**
 * A text that a client presented as its identity token; nothing is known of it yet.
 *
 * @param actor what it presented as the token of who acts for the subject
 */
public record PresentedToken(Secret text, Optional<Secret> actor) {

    /** A token without an actor's beside it. */
    public PresentedToken(Secret text) {
        this(text, Optional.empty());
    }

    /** Adds the token of an actor. */
    public PresentedToken actingBy(Secret token) {
        return new PresentedToken(text, Optional.of(token));
    }

    /** The length of both tokens, in characters. */
    public int length() {
        return text.length() + actor.map(Secret::length).orElse(0);
    }
}
