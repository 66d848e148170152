package io.mintmark.identity;

import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.outbound.Secret;

import java.text.ParseException;
import java.time.Instant;
import java.util.Date;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * What a token that the broker was given says of itself. Nobody verifies it here: the broker is its
 * bearer, and not its judge.
 *
 * @param expiry its {@code exp}
 * @param audiences its {@code aud}, and its {@code azp}, which AWS takes for the audience where
 *     there is one
 */
public record TokenWords(Optional<Instant> expiry, Set<String> audiences) {

    public TokenWords {
        audiences = Set.copyOf(audiences);
    }

    /** Nothing if it isn't a signed JWT. */
    public static Optional<TokenWords> of(Secret token) {
        try {
            JWTClaimsSet claims = SignedJWT.parse(token.reveal()).getJWTClaimsSet();
            Set<String> audiences = new HashSet<>(claims.getAudience());
            if (claims.getClaim("azp") instanceof String party) {
                audiences.add(party);
            }
            return Optional.of(
                    new TokenWords(
                            Optional.ofNullable(claims.getExpirationTime()).map(Date::toInstant),
                            audiences));
        } catch (ParseException e) {
            return Optional.empty(); // the cause may quote the token
        }
    }
}
