package io.mintmark.identity;

import io.mintmark.identity.NoBrokerTokenException.Kind;
import io.mintmark.outbound.OutboundFailure;
import io.mintmark.outbound.ProviderWords;
import io.mintmark.outbound.TokenReply.Denied;

/** Why an identity provider gave the broker no token. */
final class IdpFailures {
    private static final int TOO_MANY_REQUESTS = 429;

    private IdpFailures() {}

    static NoBrokerTokenException of(OutboundFailure failure) {
        return failed(meaning(failure.kind()), String.valueOf(failure.getMessage()));
    }

    static NoBrokerTokenException of(Denied denied) {
        return failed(
                meaning(denied),
                "%s: %s (HTTP %d)"
                        .formatted(
                                denied.error().orElse("no error code"),
                                denied.description().orElse("no description"),
                                denied.status()));
    }

    static NoBrokerTokenException failed(Kind kind, String what) {
        return new NoBrokerTokenException(
                kind, "the broker's identity provider: " + ProviderWords.fit(what));
    }

    private static Kind meaning(OutboundFailure.Kind kind) {
        return switch (kind) {
            case ADDRESS_UNUSABLE, DESTINATION_REFUSED, AUTHORITY_UNREADABLE -> Kind.MISCONFIGURED;
            case UNREACHABLE, CUT_OFF, NOT_TRUSTED -> Kind.UNREACHABLE;
            case TIMED_OUT -> Kind.TIMED_OUT;
            case REDIRECTED, STATUS, TOO_LARGE, ENCODED -> Kind.FAILED;
        };
    }

    /** RFC 6749 section 5.2, RFC 8707 section 2. */
    private static Kind meaning(Denied denied) {
        if (denied.status() == TOO_MANY_REQUESTS) {
            return Kind.THROTTLED;
        }
        return switch (denied.error().orElse("")) {
            case "invalid_client", "invalid_grant", "unauthorized_client", "access_denied" ->
                    Kind.REJECTED;
            case "invalid_request", "invalid_scope", "invalid_target", "unsupported_grant_type" ->
                    Kind.MISCONFIGURED;
            case "slow_down" -> Kind.THROTTLED;
            default -> meaning(denied.status());
        };
    }

    private static Kind meaning(int status) {
        return switch (status) {
            case 401, 403 -> Kind.REJECTED;
            case 404, 405, 415 -> Kind.MISCONFIGURED;
            default -> Kind.FAILED;
        };
    }
}
