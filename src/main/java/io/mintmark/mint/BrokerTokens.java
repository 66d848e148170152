package io.mintmark.mint;

import io.mintmark.identity.BrokerIdentity;
import io.mintmark.identity.TokenOrder;
import io.mintmark.identity.TokenWords;
import io.mintmark.outbound.Secret;

/**
 * The broker's tokens, on their way to a provider. Types of access providers get them from here and
 * from nowhere else, because a token that all mints share is what its issuer made it, whatever was
 * ordered: one that is worth something to a vendor goes to that vendor's hosts, or to those that
 * the operator listed.
 */
public final class BrokerTokens {
    private final BrokerIdentity identity;
    private final TokenDestinations destinations;

    public BrokerTokens(BrokerIdentity identity, TokenDestinations destinations) {
        this.identity = identity;
        this.destinations = destinations;
    }

    /** Whether they look alike for all tenants. */
    public boolean shared() {
        return identity.shared();
    }

    /** What sort of token they are, by the names of RFC 8693 section 3. */
    public String type() {
        return identity.tokenType();
    }

    /**
     * A token to be sent to this provider.
     *
     * @throws io.mintmark.identity.NoBrokerTokenException if there is none that fits
     * @throws UnusableSettingsException if it may not be sent there
     */
    public Secret token(Endpoint endpoint, TokenOrder order) {
        Secret token = identity.token(order);
        if (identity.shared()) {
            TokenWords.of(token).ifPresent(words -> requireHarmless(endpoint, words));
        }
        return token;
    }

    private void requireHarmless(Endpoint endpoint, TokenWords words) {
        try {
            words.audiences().forEach(audience -> destinations.audience(endpoint, audience));
        } catch (IllegalArgumentException e) {
            throw new UnusableSettingsException(
                    "the broker's token comes from an external identity provider, and its audience "
                            + e.getMessage());
        }
    }
}
