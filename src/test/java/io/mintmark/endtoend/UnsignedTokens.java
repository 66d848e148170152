package io.mintmark.endtoend;

import io.mintmark.broker.token.HostileTokens;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Tokens that nobody signed, of any form: of issuers that there are and aren't, for thousands of
 * audiences, with made-up key ids and with claims that take many times their length in memory. The
 * same seed gives the same tokens.
 */
final class UnsignedTokens {
    private static final int AUDIENCES = 2_390;
    private static final int EMPTY_OBJECTS = 3_500;

    private final String issuer;
    private final String audience;
    private final HostileTokens hostile;
    private final Random random;

    /**
     * @param issuer one that a tenant trusts
     * @param audience that tenant's
     */
    UnsignedTokens(String issuer, String audience, long seed) {
        this.issuer = issuer;
        this.audience = audience;
        this.hostile = new HostileTokens(issuer, audience, "key-1", seed);
        this.random = new Random(seed);
    }

    /** The next one, for which no key has to be fetched. */
    String next() {
        return switch (random.nextInt(4)) {
            case 0 -> token(issuer, audiences(), "");
            case 1 -> token("https://" + word() + ".example", audiences(), "");
            case 2 -> token("https://" + word() + ".example", "\"" + audience + "\"", bulk());
            default -> hostile.next();
        };
    }

    /** One of an issuer, with a made-up key id, for which keys have to be fetched. */
    String of(String trusted, String trustedAudience) {
        return token(trusted, "\"" + trustedAudience + "\"", bulk());
    }

    private String token(String iss, String aud, String more) {
        String header = "{\"alg\":\"ES256\",\"kid\":\"" + word() + "\"}";
        String claims = "{\"iss\":\"" + iss + "\",\"aud\":" + aud + more + "}";
        return part(header) + "." + part(claims) + "." + "A".repeat(86);
    }

    private String audiences() {
        return IntStream.range(0, AUDIENCES)
                .mapToObj(_ -> "\"" + Integer.toString(random.nextInt(36 * 36), 36) + "\"")
                .collect(Collectors.joining(",", "[", "]"));
    }

    private static String bulk() {
        return ",\"c\":[{}" + ",{}".repeat(EMPTY_OBJECTS) + "]";
    }

    private String word() {
        return Long.toString(random.nextLong(Long.MAX_VALUE), 36);
    }

    private static String part(String json) {
        return Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(json.getBytes(StandardCharsets.UTF_8));
    }
}
