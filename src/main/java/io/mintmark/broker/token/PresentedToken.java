package io.mintmark.broker.token;

import io.mintmark.base.outbound.Secret;

/** A text that a client presented as its identity token; nothing is known of it yet. */
public record PresentedToken(Secret text) {}
