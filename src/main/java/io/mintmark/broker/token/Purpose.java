package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.verdict.TokenRefusal.WrongTokenType;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The purpose of a genuine token. An issuer signs more than identities with its keys: logout
 * tokens, security events, proofs of possession, refresh tokens. Whoever gets hold of one of these
 * must not pass for its subject.
 */
final class Purpose {
    /**
     * Header {@code typ} of tokens that say who their subject is: RFC 7519 section 5.1, JWT-SVID
     * section 2.3, RFC 9068 section 2.1, and what issuers write for ID tokens.
     */
    private static final Set<String> IDENTITIES = Set.of("jwt", "jose", "at+jwt", "id_token+jwt");

    /** Body member {@code typ} that Keycloak writes into tokens for itself. */
    private static final Set<String> FOR_KEYCLOAK =
            Set.of("refresh", "offline", "logout", "registrationaccesstoken", "initialaccesstoken");

    private static final String MEDIA_TYPES = "application/";
    private static final int LONGEST_SHOWN = 64;

    private Purpose() {}

    /**
     * Evidence that a token was made for another purpose than to identify its subject, if any.
     *
     * @param alsoAccepted further values of the header's {@code typ}
     */
    static Optional<WrongTokenType> other(Jwt jwt, Set<String> alsoAccepted) {
        return byHeader(jwt, alsoAccepted).or(() -> byClaims(jwt)).map(WrongTokenType::new);
    }

    private static Optional<String> byHeader(Jwt jwt, Set<String> alsoAccepted) {
        return jwt.type()
                .filter(type -> !IDENTITIES.contains(normal(type)))
                .filter(type ->
                        alsoAccepted.stream().noneMatch(t -> normal(t).equals(normal(type))))
                .map(type -> "the header's 'typ' is %s".formatted(shown(type)));
    }

    /**
     * Finds another purpose by the claims: tokens of Keycloak for itself, security events (RFC 8417
     * section 2.2), and tokens bound to a key (RFC 7800 section 3.1), whose proof the broker can't
     * check.
     */
    private static Optional<String> byClaims(Jwt jwt) {
        JsonNode type = jwt.claims().path("typ");
        if (type.isTextual() && FOR_KEYCLOAK.contains(normal(type.textValue()))) {
            return Optional.of("the claim 'typ' is %s".formatted(shown(type.textValue())));
        }
        return Stream.of("events", "cnf")
                .filter(jwt.claims()::hasNonNull)
                .map("the token has a claim '%s'"::formatted)
                .findFirst();
    }

    /** Media types ignore case, and "application/" may be left out (RFC 7515 section 4.1.9). */
    private static String normal(String type) {
        String small = type.toLowerCase(Locale.ROOT);
        return small.startsWith(MEDIA_TYPES) ? small.substring(MEDIA_TYPES.length()) : small;
    }

    private static String shown(String type) {
        return Text.isUsable(type, LONGEST_SHOWN) ? "'" + type + "'" : "not a media type";
    }
}
