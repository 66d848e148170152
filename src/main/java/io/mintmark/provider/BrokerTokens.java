package io.mintmark.provider;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.TokenOrder;
import io.mintmark.provider.identity.UnverifiedClaims;

import java.util.Optional;
import java.util.function.Function;

/**
 * The broker's tokens for providers. Types of access providers get tokens only from here, because a
 * token that all mints share has the audience that its issuer chose, whatever was ordered. A token
 * that a vendor accepts goes only to that vendor's hosts, or to hosts that the operator listed.
 */
public final class BrokerTokens {
    private final BrokerIdentity identity;
    private final TokenDestinations destinations;

    public BrokerTokens(BrokerIdentity identity, TokenDestinations destinations) {
        this.identity = identity;
        this.destinations = destinations;
    }

    /** Whether the broker's tokens look alike for all tenants. */
    public boolean shared() {
        return identity.shared();
    }

    /** The type of these tokens, by the names of RFC 8693 section 3. */
    public String type() {
        return identity.tokenType();
    }

    /**
     * The result of a call that presents a token to a provider. Where the provider doesn't accept
     * it as the broker's and there is another, the call is made once more: an identity provider may
     * have changed its keys, or taken the token back.
     *
     * @throws io.mintmark.provider.identity.NoBrokerTokenException if there is none that fits
     * @throws UnusableSettingsException if it may not be sent there
     */
    public MintResult showing(
            Endpoint endpoint, TokenOrder order, Function<Secret, MintResult> call) {
        Secret token = token(endpoint, order);
        MintResult result = call.apply(token);
        boolean rejected =
                result instanceof Failed failed
                        && failed.reason() == Reason.BROKER_IDENTITY_REJECTED;
        return Optional.of(token)
                .filter(_ -> rejected)
                .flatMap(identity::insteadOf)
                .map(other -> call.apply(harmless(endpoint, other)))
                .orElse(result);
    }

    /**
     * A token for a request to a provider that isn't a mint.
     *
     * @throws io.mintmark.provider.identity.NoBrokerTokenException if there is none that fits
     * @throws UnusableSettingsException if it may not be sent there
     */
    public Secret token(Endpoint endpoint, TokenOrder order) {
        return harmless(endpoint, identity.token(order));
    }

    private Secret harmless(Endpoint endpoint, Secret token) {
        if (identity.shared()) {
            UnverifiedClaims.of(token).stream()
                    .flatMap(words -> words.audiences().stream())
                    .flatMap(audience -> destinations.objection(endpoint, audience).stream())
                    .findFirst()
                    .ifPresent(why -> {
                        throw new UnusableSettingsException(
                                "the broker's token comes from an external identity provider, and"
                                        + " its audience "
                                        + why);
                    });
        }
        return token;
    }
}
