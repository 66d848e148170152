package io.mintmark.outbound;

import com.nimbusds.common.contenttype.ContentType;
import com.nimbusds.oauth2.sdk.AccessTokenResponse;
import com.nimbusds.oauth2.sdk.ErrorObject;
import com.nimbusds.oauth2.sdk.ParseException;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.http.HTTPResponse;
import com.nimbusds.oauth2.sdk.token.AccessToken;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Optional;

/** What the token endpoint of an authorization server answered. */
public sealed interface TokenReply {

    /**
     * A token (RFC 6749 section 5.1, RFC 8693 section 2.2.1).
     *
     * @param lifetime counted from the answer; empty where the server doesn't say
     */
    record Given(Secret token, Optional<Duration> lifetime) implements TokenReply {}

    /**
     * An error (RFC 6749 section 5.2).
     *
     * @param status of HTTP
     * @param error its code; empty where the answer isn't an OAuth error
     * @param description in the server's own words, which may quote anything
     */
    record Denied(int status, Optional<String> error, Optional<String> description)
            implements TokenReply {}

    /** A success that can't be read; {@code why} doesn't quote it. */
    record Unreadable(String why) implements TokenReply {}

    /** Reads an answer. */
    static TokenReply of(Reply reply) {
        HTTPResponse answer = new HTTPResponse(reply.status());
        answer.setEntityContentType(ContentType.APPLICATION_JSON);
        answer.setBody(reply.body().reveal());
        try {
            return switch (TokenResponse.parse(answer)) {
                case AccessTokenResponse success -> given(success.getTokens().getAccessToken());
                case TokenResponse error ->
                        denied(reply.status(), error.toErrorResponse().getErrorObject());
            };
        } catch (ParseException e) {
            // its message may quote the answer
            return new Unreadable("the answer isn't that of a token endpoint (RFC 6749)");
        }
    }

    private static TokenReply given(AccessToken token) {
        long seconds = token.getLifetime();
        if (seconds > LONGEST.toSeconds()) {
            return new Unreadable("the token's expires_in is over a hundred years");
        }
        return new Given(
                new Secret(token.getValue()),
                seconds > 0 ? Optional.of(Duration.ofSeconds(seconds)) : Optional.empty());
    }

    private static Denied denied(int status, @Nullable ErrorObject error) {
        return new Denied(
                status,
                Optional.ofNullable(error).map(ErrorObject::getCode),
                Optional.ofNullable(error).map(ErrorObject::getDescription));
    }

    /** What can be added to any time of ours. */
    Duration LONGEST = Duration.ofDays(36_500);
}
