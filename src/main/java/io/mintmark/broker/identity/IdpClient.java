package io.mintmark.broker.identity;

import io.mintmark.base.outbound.ClientSecret;
import io.mintmark.base.outbound.FormBody;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Secret;
import io.mintmark.provider.identity.ClientAssertions;

import java.net.URI;
import java.util.UUID;

/** The broker as a client of an authorization server. */
public sealed interface IdpClient {

    /** The request for a token, with what proves which client asks, made for this one request. */
    OutboundRequest request(FormBody parameters, URI tokenEndpoint);

    /** Id and secret in the header {@code Authorization} (RFC 6749 section 2.3.1). */
    record SecretBasic(String id, Secret secret) implements IdpClient {
        @Override
        public OutboundRequest request(FormBody parameters, URI tokenEndpoint) {
            return parameters.to(tokenEndpoint.toString()).authorized(new ClientSecret(id, secret));
        }
    }

    /** Id and secret among the parameters. */
    record SecretPost(String id, Secret secret) implements IdpClient {
        @Override
        public OutboundRequest request(FormBody parameters, URI tokenEndpoint) {
            return parameters
                    .with("client_id", id)
                    .with("client_secret", secret)
                    .to(tokenEndpoint.toString());
        }
    }

    /** An assertion signed with the broker's key (RFC 7523 section 2.2). */
    record PrivateKey(String id, ClientAssertions assertions) implements IdpClient {
        @Override
        public OutboundRequest request(FormBody parameters, URI tokenEndpoint) {
            String address = tokenEndpoint.toString();
            return parameters
                    .withClientAssertion(
                            assertions.assertion(id, address, UUID.randomUUID().toString()))
                    .to(address);
        }
    }
}
