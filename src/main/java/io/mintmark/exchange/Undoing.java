package io.mintmark.exchange;

import io.mintmark.mint.Undo;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * Ends credentials that are not handed out, if their type can. Each is on record as withheld by
 * then, with its expiry: if it can't be ended, it works until that time.
 */
final class Undoing {
    private static final Logger log = LoggerFactory.getLogger(Undoing.class);

    /**
     * How many credentials are being ended at a time. Each holds a connection, which no tenant's
     * limit of calls counts.
     */
    private static final int MOST = 64;

    private final InstantSource clock;
    private final Duration patience;
    private final Semaphore permits = new Semaphore(MOST);

    /**
     * @param patience how long ending a credential may take
     */
    Undoing(InstantSource clock, Duration patience) {
        this.clock = clock;
        this.patience = patience;
    }

    /**
     * Starts to end the credential of an outcome, if not too many are being ended. No request waits
     * for it.
     */
    void start(Outcome outcome) {
        outcome.undo()
                .ifPresent(undo -> {
                    if (permits.tryAcquire()) {
                        start(outcome, undo);
                    } else {
                        tell(outcome, "too many are being ended");
                    }
                });
    }

    private void start(Outcome outcome, Undo undo) {
        Map<String, String> context = MDC.getCopyOfContextMap();
        Thread.ofVirtual()
                .name("undo-" + outcome.order().events().mintId())
                .start(() -> {
                    MDC.setContextMap(context == null ? Map.of() : context);
                    try {
                        undo(outcome, undo);
                    } finally {
                        permits.release();
                    }
                });
    }

    private void undo(Outcome outcome, Undo undo) {
        result(undo)
                .ifPresentOrElse(
                        why -> tell(outcome, why),
                        () ->
                                log.info(
                                        "Mint {}: the withheld credential was ended",
                                        outcome.order().events().mintId()));
    }

    private static void tell(Outcome outcome, String why) {
        log.warn(
                "Mint {}: the withheld credential can't be ended: {}",
                outcome.order().events().mintId(),
                why);
    }

    /** The message of an exception could quote a secret. */
    private Optional<String> result(Undo undo) {
        try {
            return undo.undo(clock.instant().plus(patience));
        } catch (RuntimeException e) {
            return Optional.of(e.getClass().getName());
        }
    }
}
