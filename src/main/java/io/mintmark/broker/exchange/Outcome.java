package io.mintmark.broker.exchange;

import io.mintmark.audit.Event;
import io.mintmark.audit.Event.Credential;
import io.mintmark.broker.exchange.Intent.Order;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.NotCalled;
import io.mintmark.provider.MintResult.NotCalled.Why;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.Undo;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The result of an order.
 *
 * @param result a credential whose fields are the members that the client sees, or why there is
 *     none for it
 */
record Outcome(Order order, MintResult result, Instant at) {
    /**
     * The tolerance for a credential that is valid longer than requested, counted from its receipt.
     */
    static final Duration TOLERANCE = Duration.ofSeconds(60);

    /** The {@code reason} of a credential that was dropped because another key failed. */
    static final String OTHER_KEY_FAILED = "other_key_failed";

    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    boolean isCredential() {
        return result instanceof Minted;
    }

    /** Whether the provider wasn't called because the decision must be made again. */
    boolean isOvertaken() {
        return result instanceof NotCalled(var why, _) && why == Why.DECISION_CHANGED;
    }

    /** The {@code reason} of an order whose provider was not called. */
    static String word(Why why) {
        return switch (why) {
            case TENANT_BUSY -> "tenant_busy";
            case DECISION_CHANGED -> Intents.OVERTAKEN;
            case STATE_UNKNOWN, REPLICA_BUSY, REPLICA_LATE -> Intents.UNSURE;
        };
    }

    /** The action that ends a credential that is not returned to the client. */
    Optional<Undo> undo() {
        return switch (result) {
            case Minted credential -> credential.undo();
            case Withheld withheld -> withheld.undo();
            case Failed _, NotCalled _ -> Optional.empty();
        };
    }

    /** The row of a credential that was revoked because it isn't handed out. */
    Event ended(Instant now) {
        String credentialId =
                switch (result) {
                    case Minted credential -> credential.credentialId();
                    case Withheld withheld -> withheld.credentialId();
                    case Failed _, NotCalled _ ->
                            throw new IllegalStateException("there is no credential");
                };
        return order.events().undone(now, credentialId);
    }

    /** The row of a credential that is returned to the client. */
    Event issued(Minted credential, Instant now) {
        return order.events().issued(now, credential.note(), note(credential));
    }

    /** The row of a result that is dropped because another key of the request failed. */
    Event dropped(Instant now, String reason) {
        return result instanceof Minted credential
                ? dropped(credential, now, reason, "the credential was dropped")
                : undone(now);
    }

    /** The row of a valid credential that is not returned to the client. */
    private Event dropped(Minted credential, Instant now, String reason, String detail) {
        return order.events().withheld(now, reason, detail, note(credential));
    }

    /** The row of an outcome that hands out nothing. */
    Event undone(Instant now) {
        return switch (result) {
            case Minted credential ->
                    dropped(credential, now, OTHER_KEY_FAILED, "another key of the request failed");
            case Withheld(var id, var end, var reason, var detail, _) ->
                    order.events()
                            .withheld(
                                    now,
                                    reason.word(),
                                    detail,
                                    note(id, end.orElse(expected()), false));
            case Failed(var reason, var detail) ->
                    order.events().failed(now, reason.word(), detail);
            case NotCalled(var why, var detail) -> order.events().failed(now, word(why), detail);
        };
    }

    private Credential note(Minted credential) {
        return note(credential.credentialId(), credential.expiresAt(), credential.endsByItself());
    }

    private Credential note(String id, Instant end, boolean endsByItself) {
        return new Credential(Optional.of(id), Optional.of(at), recordable(end), endsByItself);
    }

    /**
     * If the expiry of a credential is unknown, it counts as living for the requested time:
     * "forever" would be as wrong, and it would never leave the list of live credentials.
     */
    private Instant expected() {
        return at.plus(order.granted().duration()).plus(TOLERANCE);
    }

    /**
     * Limits an expiry to a time that the log can store. Providers may return any time, and the
     * log's years have four digits.
     */
    private static Instant recordable(Instant end) {
        if (end.isAfter(LATEST)) {
            return LATEST;
        }
        return end.isBefore(Instant.EPOCH) ? Instant.EPOCH : end;
    }
}
