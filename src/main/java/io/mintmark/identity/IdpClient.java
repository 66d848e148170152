package io.mintmark.identity;

import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.oauth2.sdk.auth.ClientAuthentication;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.ClientSecretPost;
import com.nimbusds.oauth2.sdk.auth.PrivateKeyJWT;
import com.nimbusds.oauth2.sdk.id.ClientID;

import io.mintmark.outbound.ClientSecret;
import io.mintmark.outbound.Secret;

import java.net.URI;
import java.text.ParseException;
import java.util.UUID;

/** The broker as a client of an authorization server. */
public sealed interface IdpClient {

    /** What proves to a token endpoint which client it is, made for one request. */
    ClientAuthentication proof(URI tokenEndpoint);

    /** What the server said, in case that it quotes the client's secret. */
    String withoutSecret(String words);

    /** Id and secret in the header {@code Authorization} (RFC 6749 section 2.3.1). */
    record SecretBasic(String id, Secret secret) implements IdpClient {
        @Override
        public ClientAuthentication proof(URI tokenEndpoint) {
            return new ClientSecretBasic(new ClientID(id), nimbus(secret));
        }

        @Override
        public String withoutSecret(String words) {
            return new ClientSecret(id, secret).hiddenIn(words);
        }
    }

    /** Id and secret among the parameters. */
    record SecretPost(String id, Secret secret) implements IdpClient {
        @Override
        public ClientAuthentication proof(URI tokenEndpoint) {
            return new ClientSecretPost(new ClientID(id), nimbus(secret));
        }

        @Override
        public String withoutSecret(String words) {
            return new ClientSecret(id, secret).hiddenIn(words);
        }
    }

    /** An assertion signed with the broker's key (RFC 7523 section 2.2). */
    record PrivateKey(String id, ClientAssertions assertions) implements IdpClient {
        @Override
        public ClientAuthentication proof(URI tokenEndpoint) {
            Secret assertion =
                    assertions.assertion(
                            id, tokenEndpoint.toString(), UUID.randomUUID().toString());
            try {
                return new PrivateKeyJWT(SignedJWT.parse(assertion.reveal()));
            } catch (ParseException e) {
                throw new IllegalStateException("the broker's own assertion is no JWT");
            }
        }

        @Override
        public String withoutSecret(String words) {
            return words;
        }
    }

    private static com.nimbusds.oauth2.sdk.auth.Secret nimbus(Secret secret) {
        return new com.nimbusds.oauth2.sdk.auth.Secret(secret.reveal());
    }
}
