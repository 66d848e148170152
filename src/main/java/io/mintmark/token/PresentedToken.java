package io.mintmark.token;

import io.mintmark.outbound.Secret;

/** A text that a client presented as its identity token; nothing is known of it yet. */
public record PresentedToken(Secret text) {}
