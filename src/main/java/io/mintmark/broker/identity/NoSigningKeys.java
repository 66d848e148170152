package io.mintmark.broker.identity;

import io.mintmark.base.outbound.Secret;
import io.mintmark.provider.identity.AccessTokenOrder;
import io.mintmark.provider.identity.AccessTokens;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.ClientAssertions;
import io.mintmark.provider.identity.NoBrokerTokenException;
import io.mintmark.provider.identity.TokenOrder;

import java.util.Optional;

/** A broker whose identity comes from elsewhere and that has no keys of its own. */
public final class NoSigningKeys implements BrokerIdentity, AccessTokens, ClientAssertions {

    @Override
    public AccessToken accessToken(AccessTokenOrder order) {
        throw none();
    }

    @Override
    public Secret assertion(String clientId, String audience, String id) {
        throw none();
    }

    @Override
    public Secret token(TokenOrder order) {
        throw none();
    }

    @Override
    public boolean shared() {
        return false;
    }

    /** The broker's identity, which comes from elsewhere, reports its own. */
    @Override
    public Optional<String> fault() {
        return Optional.empty();
    }

    private static NoBrokerTokenException none() {
        return new NoBrokerTokenException(
                "the broker has no signing keys: set BROKER_SIGNING_KEYS_DIR or BROKER_SIGNING_KEYS, and BROKER_URL. The identity that BROKER_IDP_TYPE selects does not replace signing keys");
    }
}
