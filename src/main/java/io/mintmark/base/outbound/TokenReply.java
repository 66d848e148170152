package io.mintmark.base.outbound;

import static io.mintmark.base.outbound.ServiceAnswer.unless;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** The response of an authorization server's token endpoint. */
public sealed interface TokenReply {

    /**
     * A token (RFC 6749 section 5.1, RFC 8693 section 2.2.1).
     *
     * @param token printable ASCII of at most 16 KiB, to be used as a bearer token
     * @param lifetime counted from the answer; empty where the server doesn't say
     * @param scope empty where the server doesn't say, or not in the form of RFC 6749 section 3.3
     */
    record Given(Secret token, Optional<Duration> lifetime, Optional<String> scope)
            implements TokenReply {}

    /**
     * A token that must not be used, because its type or its expiry is unknown.
     *
     * @param lifetime empty if unknown
     * @param why doesn't quote it
     */
    record Unfit(Secret token, Optional<Duration> lifetime, String why) implements TokenReply {}

    /**
     * An error (RFC 6749 section 5.2).
     *
     * @param status of HTTP
     * @param error its code; empty where the answer isn't an OAuth error
     * @param description in the server's words, without what it was sent; of an answer that isn't
     *     an OAuth error, its {@code message}
     */
    record Denied(int status, Optional<String> error, Optional<String> description)
            implements TokenReply {

        /** The error's meaning by the standards. */
        public OAuthErrorCode meaning() {
            return OAuthErrorCode.of(this);
        }

        /** The error in one line. */
        public String quote() {
            return "%s: %s (HTTP %d)"
                    .formatted(
                            error.orElse("no error code"),
                            description.orElse("no description"),
                            status);
        }
    }

    /** A success that can't be read; {@code why} doesn't quote it. */
    record Unreadable(String why) implements TokenReply {}

    /** Reads an answer. */
    static TokenReply of(Reply reply) {
        ServiceAnswer answer = reply.answer();
        if (!reply.isSuccess()) {
            return new Denied(
                    reply.status(),
                    answer.code("error"),
                    answer.words("error_description")
                            .or(() -> answer.words("error", "message"))
                            .or(() -> answer.words("message")));
        }
        Optional<Duration> life = answer.seconds("expires_in");
        return answer.token("access_token")
                .<TokenReply>map(token ->
                        objection(reply, token)
                                .<TokenReply>map(why -> new Unfit(token, life, why))
                                .orElseGet(() -> new Given(token, life, scope(answer))))
                .orElseGet(() -> new Unreadable("the response isn't a token response (RFC 6749)"));
    }

    private static Optional<String> scope(ServiceAnswer answer) {
        return answer.words("scope").filter(scope -> scope.chars().allMatch(TokenReply::isOfScope));
    }

    /** A character of RFC 6749 section 3.3. */
    private static boolean isOfScope(int character) {
        return character >= ' ' && character <= '~' && character != '"' && character != '\\';
    }

    private static Optional<String> objection(Reply reply, Secret token) {
        ServiceAnswer answer = reply.answer();
        return answer.objection(token)
                .or(() -> unless(reply.status() == 200, "the response's status isn't 200"))
                .or(() ->
                        unless(
                                answer.says("token_type", "bearer"::equalsIgnoreCase),
                                "the response's token_type isn't Bearer"))
                .or(() ->
                        unless(
                                !answer.has("issued_token_type")
                                        || answer.says("issued_token_type", TYPES::contains),
                                "the response's issued_token_type is neither access_token nor jwt"))
                .or(() ->
                        unless(
                                !answer.has("expires_in")
                                        || answer.seconds("expires_in").isPresent(),
                                "the response's expires_in isn't a whole number of seconds below"
                                        + " a hundred years"));
    }

    /** A type of tokens (RFC 8693 section 3). */
    String ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";

    /** A type of tokens (RFC 8693 section 3). */
    String JWT = "urn:ietf:params:oauth:token-type:jwt";

    /** The types of tokens that the broker requests and returns. */
    Set<String> TYPES = Set.of(ACCESS_TOKEN, JWT);
}
