package io.mintmark.base.outbound;

import io.mintmark.base.outbound.TokenReply.Denied;

/**
 * What the errors of token endpoints mean, in one table: RFC 6749 section 5.2, RFC 8693 section
 * 2.2.2, RFC 8707 section 2. An error that isn't among them means what its status does.
 */
public enum OAuthErrorCode {
    /** The caller isn't accepted: the client, its proof, or its token. */
    NOT_ACCEPTED,
    /** The caller is known and lacks permission. */
    NOT_PERMITTED,
    /** The target doesn't exist, or isn't for this caller. */
    TARGET_REFUSED,
    /** The request can't work for any caller. */
    MALFORMED,
    /** Too many requests. */
    THROTTLED,
    /** A fault of the server, or an unknown code. */
    OTHER;

    private static final int TOO_MANY_REQUESTS = 429;
    private static final int UNAUTHORIZED = 401;

    static OAuthErrorCode of(Denied denied) {
        if (denied.status() == TOO_MANY_REQUESTS) {
            return THROTTLED;
        }
        return switch (denied.error().orElse("")) {
            case "invalid_client", "invalid_grant", "invalid_token" -> NOT_ACCEPTED;
            // with 401 it is about the client's authentication (Keycloak: a wrong secret)
            case "unauthorized_client" ->
                    denied.status() == UNAUTHORIZED ? NOT_ACCEPTED : NOT_PERMITTED;
            case "access_denied" -> NOT_PERMITTED;
            case "invalid_target" -> TARGET_REFUSED;
            case "invalid_request",
                    "invalid_scope",
                    "unsupported_grant_type",
                    "unsupported_token_type" ->
                    MALFORMED;
            case "slow_down" -> THROTTLED;
            default -> ofStatus(denied.status());
        };
    }

    private static OAuthErrorCode ofStatus(int status) {
        return switch (status) {
            case UNAUTHORIZED -> NOT_ACCEPTED;
            case 403 -> NOT_PERMITTED;
            case 404, 405, 415 -> MALFORMED;
            default -> OTHER;
        };
    }
}
