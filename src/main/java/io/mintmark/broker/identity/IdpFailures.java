package io.mintmark.broker.identity;

import io.mintmark.base.outbound.OAuthErrorCode;
import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.outbound.ProviderWords;
import io.mintmark.base.outbound.TokenReply.Denied;
import io.mintmark.provider.identity.NoBrokerTokenException;
import io.mintmark.provider.identity.NoBrokerTokenException.Kind;

/** Why an identity provider gave the broker no token. */
final class IdpFailures {
    private IdpFailures() {}

    static NoBrokerTokenException of(OutboundFailure failure) {
        return failed(meaning(failure.kind()), String.valueOf(failure.getMessage()));
    }

    static NoBrokerTokenException of(Denied denied) {
        return failed(meaning(denied.meaning()), denied.quote());
    }

    static NoBrokerTokenException failed(Kind kind, String what) {
        return new NoBrokerTokenException(
                kind, "the broker's identity provider: " + ProviderWords.fit(what));
    }

    private static Kind meaning(OutboundFailure.Kind kind) {
        return switch (kind) {
            case ADDRESS_UNUSABLE, DESTINATION_REFUSED, AUTHORITY_UNREADABLE -> Kind.MISCONFIGURED;
            case UNREACHABLE, BUSY, CUT_OFF, NOT_TRUSTED -> Kind.UNREACHABLE;
            case TIMED_OUT -> Kind.TIMED_OUT;
            case REDIRECTED, STATUS, TOO_LARGE, ENCODED -> Kind.FAILED;
        };
    }

    private static Kind meaning(OAuthErrorCode error) {
        return switch (error) {
            case NOT_ACCEPTED, NOT_PERMITTED -> Kind.REJECTED;
            case TARGET_REFUSED, MALFORMED -> Kind.MISCONFIGURED;
            case THROTTLED -> Kind.THROTTLED;
            case OTHER -> Kind.FAILED;
        };
    }
}
