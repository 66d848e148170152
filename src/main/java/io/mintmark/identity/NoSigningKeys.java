package io.mintmark.identity;

import io.mintmark.outbound.Secret;

/** A broker whose identity comes from elsewhere and that has no keys of its own. */
public final class NoSigningKeys implements AccessTokens, ClientAssertions {

    @Override
    public AccessToken accessToken(AccessTokenOrder order) {
        throw none();
    }

    @Override
    public Secret assertion(String clientId, String audience, String id) {
        throw none();
    }

    private static NoBrokerTokenException none() {
        return new NoBrokerTokenException(
                "the broker has no signing keys: set BROKER_SIGNING_KEYS_DIR and BROKER_URL, though"
                        + " BROKER_IDP_TYPE gives it another identity");
    }
}
