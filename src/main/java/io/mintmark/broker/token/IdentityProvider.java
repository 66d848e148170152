package io.mintmark.broker.token;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An enabled row of {@code broker.identity_provider} of an enabled tenant.
 *
 * @param issuer compared exactly with the {@code iss} claim
 * @param audiences at least one; with the issuer, each belongs to this provider alone
 * @param algorithms JWS algorithm names (RFC 7518 section 3.1, RFC 8037)
 * @param tokenTypes values of the header's {@code typ} that are accepted beside those of identities
 * @param clockSkew the tolerated error of the issuer's clock; zero or more
 * @param maxTokenAge how long after {@code iat} a token is accepted, if that is limited
 * @param oneTimeTokens whether a {@code jti} works once
 * @param accepts what its tokens may identify; not empty
 * @param listed whether clients without a token may see this provider
 * @param digest SHA-256 of the row's columns that decisions use, in hexadecimal digits; empty for
 *     one that isn't a row, such as the one that viewers of the console sign in at
 */
public record IdentityProvider(
        IdpName name,
        TenantName tenant,
        String issuer,
        List<String> audiences,
        KeySource keys,
        Set<String> algorithms,
        Set<String> tokenTypes,
        ClaimConditions requiredClaims,
        Duration clockSkew,
        Optional<Duration> maxTokenAge,
        boolean oneTimeTokens,
        Set<Role> accepts,
        boolean listed,
        String digest) {
    private static final int OBJECTS = 1024;
    private static final int OBJECTS_OF_A_TEXT = 32;

    /** Trees of JSON take up to twenty times their text. */
    private static final long OBJECTS_OF_A_CHARACTER = 20;

    public IdentityProvider {
        audiences = List.copyOf(audiences);
        algorithms = Set.copyOf(algorithms);
        tokenTypes = Set.copyOf(tokenTypes);
        accepts = Set.copyOf(accepts);
    }

    /** An upper bound of the row's size on the heap, in bytes. */
    public long bytes() {
        long characters = issuer.length();
        for (String audience : audiences) {
            characters += OBJECTS_OF_A_TEXT + audience.length();
        }
        for (String type : tokenTypes) {
            characters += OBJECTS_OF_A_TEXT + type.length();
        }
        long conditions = OBJECTS_OF_A_CHARACTER * requiredClaims.toString().length();
        return OBJECTS + keys.bytes() + Character.BYTES * characters + conditions;
    }
}
