package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.node.ObjectNode;

import java.time.Instant;
import java.util.Optional;

/** A token that passed every check; only {@link TokenVerifier} makes one. */
public final class VerifiedToken {
    private final Jwt jwt;
    private final Lifetime lifetime;
    private final byte[] hash;

    VerifiedToken(Jwt jwt, Lifetime lifetime, byte[] hash) {
        this.jwt = jwt;
        this.lifetime = lifetime;
        this.hash = hash.clone();
    }

    /** The provider that the token's issuer and audience lead to; it decides the tenant. */
    public IdentityProvider provider() {
        return lifetime.provider();
    }

    /** The claim {@code sub}. */
    public String subject() {
        return lifetime.claims().subject();
    }

    /** All claims, as conditions see them: a copy, to do with as you like. */
    public ObjectNode claims() {
        return ComparableClaims.of(jwt.claims());
    }

    /** All claims as the issuer wrote them; not to be changed. */
    ObjectNode rawClaims() {
        return jwt.claims();
    }

    /** The claim {@code jti}. */
    public Optional<String> tokenId() {
        return lifetime.claims().tokenId();
    }

    /** SHA-256 of the token as it was presented. */
    public byte[] hash() {
        return hash.clone();
    }

    /** The claim {@code iat}. */
    public Instant issuedAt() {
        return lifetime.claims().issuedAt();
    }

    /** The claim {@code exp}. */
    public Instant expiresAt() {
        return lifetime.claims().expiresAt();
    }

    /**
     * The time at which the token stops being acceptable by itself: by {@code exp} or by its age.
     */
    Instant acceptableUntil() {
        return lifetime.end();
    }

    /** Shows neither the token nor its claims. */
    @Override
    public String toString() {
        return "VerifiedToken[provider=%s]".formatted(provider().name());
    }
}
