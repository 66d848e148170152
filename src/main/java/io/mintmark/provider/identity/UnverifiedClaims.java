package io.mintmark.provider.identity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.json.StrictJson;
import io.mintmark.base.outbound.Secret;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.Base64;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The unverified claims of the broker's own token: the broker is its bearer, and doesn't judge it.
 *
 * @param expiry its {@code exp}
 * @param audiences its {@code aud}, and its {@code azp}, which AWS takes as the audience if present
 * @param subject its {@code sub}
 * @param id its {@code jti}
 */
public record UnverifiedClaims(
        Optional<Instant> expiry,
        Set<String> audiences,
        Optional<String> subject,
        Optional<String> id) {
    private static final int LONGEST = 16 << 10;
    private static final int PARTS = 3;

    /** The end of the year 9999, the latest time that can be displayed. */
    private static final BigDecimal LAST = BigDecimal.valueOf(253_402_300_799L);

    public UnverifiedClaims {
        audiences = Set.copyOf(audiences);
    }

    /**
     * Reads a token's claims without verifying it; empty if it isn't a signed JWT or could be read
     * in several ways.
     */
    public static Optional<UnverifiedClaims> of(Secret token) {
        return isFormed(token)
                ? part(token, 0)
                        .filter(header -> header.path("alg").isTextual())
                        .flatMap(_ -> part(token, 1))
                        .map(UnverifiedClaims::of)
                : Optional.empty();
    }

    /**
     * Whether the token has the three parts of a signed JWT. If {@link #of} returns nothing for
     * such a token, a provider may still be able to read it.
     */
    public static boolean isFormed(Secret token) {
        String[] parts = token.reveal().split("\\.", -1);
        return parts.length == PARTS && !parts[PARTS - 1].isEmpty();
    }

    private static UnverifiedClaims of(ObjectNode claims) {
        Set<String> audiences = new HashSet<>();
        addText(audiences, claims.path("aud"));
        claims.path("aud").forEach(each -> addText(audiences, each));
        addText(audiences, claims.path("azp"));
        return new UnverifiedClaims(
                time(claims.path("exp")),
                audiences,
                Optional.ofNullable(claims.path("sub").textValue()),
                Optional.ofNullable(claims.path("jti").textValue()));
    }

    private static void addText(Set<String> texts, JsonNode value) {
        if (value.isTextual()) {
            texts.add(value.textValue());
        }
    }

    private static Optional<Instant> time(JsonNode seconds) {
        return Optional.of(seconds)
                .filter(JsonNode::isNumber)
                .map(JsonNode::decimalValue)
                .filter(value -> value.signum() >= 0 && value.compareTo(LAST) <= 0)
                .map(value -> Instant.ofEpochSecond(value.longValue()));
    }

    private static Optional<ObjectNode> part(Secret token, int number) {
        try {
            String text = token.reveal().split("\\.", -1)[number];
            return StrictJson.object(Base64.getUrlDecoder().decode(text), LONGEST);
        } catch (IllegalArgumentException e) {
            return Optional.empty(); // the cause may quote the token
        }
    }
}
