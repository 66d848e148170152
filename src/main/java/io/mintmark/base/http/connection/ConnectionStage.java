package io.mintmark.base.http.connection;

import io.mintmark.base.config.ServerBounds;

import java.time.Duration;

/** The stages of a connection, and the time that its client may take for each. */
enum ConnectionStage {
    HANDSHAKE,
    IDLE,
    HEADERS,
    BODY,
    ANSWER,
    LINGERING,
    CLOSED;

    /** The time for which a client may go on sending after its last response. */
    private static final Duration AFTER_LAST = Duration.ofSeconds(2);

    Duration timeout(ServerBounds bounds) {
        return switch (this) {
            case IDLE -> bounds.idleTimeout();
            case HANDSHAKE, HEADERS -> bounds.headerTimeout();
            case BODY -> bounds.bodyTimeout();
            case ANSWER -> bounds.answerTimeout();
            case LINGERING, CLOSED -> AFTER_LAST;
        };
    }
}
