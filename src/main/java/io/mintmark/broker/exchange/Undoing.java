package io.mintmark.broker.exchange;

import io.mintmark.audit.Event;
import io.mintmark.base.limit.SharedPermits;
import io.mintmark.base.limit.SharedPermits.Permit;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.Undo;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Revokes credentials that are not handed out, if their type can. Each is on record as withheld by
 * then, or its row is queued: if it can't be revoked, it works until the expiry in that row. If it
 * was revoked, a further row says so, which is queued behind the other.
 *
 * <p>A credential that comes after the deadline is different: its mint is on record as failed,
 * which may be written later than the end.
 */
final class Undoing {
    /**
     * The maximum number of concurrent revocations. Each revocation holds a connection, which no
     * tenant's limit of calls counts.
     */
    static final int MOST = 64;

    /** The maximum number of concurrent revocations for one tenant, whose provider may hang. */
    static final int MOST_OF_TENANT = 8;

    private static final Logger log = LoggerFactory.getLogger(Undoing.class);

    private final Records records;
    private final InstantSource clock;
    private final Duration timeout;
    private final SharedPermits<TenantName> running = new SharedPermits<>(MOST, MOST_OF_TENANT);

    /**
     * @param timeout how long the revocation of a credential may take
     */
    Undoing(Records records, InstantSource clock, Duration timeout) {
        this.records = records;
        this.clock = clock;
        this.timeout = timeout;
    }

    /** Starts to revoke the credential of an outcome, if there is one and its type can. */
    void start(TenantName tenant, Outcome outcome) {
        outcome.undo()
                .ifPresent(undo ->
                        start(tenant, outcome.order().events().mintId(), undo, outcome::ended));
    }

    /**
     * Starts to revoke a mint's credential, unless too many are being revoked; doesn't wait.
     *
     * @param ended the row that says when it was revoked
     */
    void start(TenantName tenant, MintId mintId, Undo undo, Function<Instant, Event> ended) {
        Optional<Permit> permit = running.acquire(tenant, 1);
        if (permit.isEmpty()) {
            warn(mintId, "too many credentials are being revoked");
            return;
        }
        Map<String, String> context = MDC.getCopyOfContextMap();
        Thread.ofVirtual()
                .name("undo-" + mintId)
                .start(() -> {
                    MDC.setContextMap(context == null ? Map.of() : context);
                    try (Permit _ = permit.get()) {
                        undo(mintId, undo, ended);
                    }
                });
    }

    private void undo(MintId mintId, Undo undo, Function<Instant, Event> ended) {
        Optional<String> why = result(undo);
        if (why.isPresent()) {
            warn(mintId, why.get());
        } else {
            log.info(
                    "Mint {}: the credential was not returned to the client, and was revoked at its provider",
                    mintId);
            records.recordLater(List.of(ended.apply(clock.instant())));
        }
    }

    private static void warn(MintId mintId, String why) {
        log.warn(
                "Mint {}: the credential was not returned to the client and can't be revoked, so it is valid until it expires: {}",
                mintId,
                why);
    }

    /** The result of a revocation. The message of an exception could quote a secret. */
    private Optional<String> result(Undo undo) {
        try {
            return undo.undo(clock.instant().plus(timeout));
        } catch (RuntimeException e) {
            return Optional.of(e.getClass().getName());
        }
    }
}
