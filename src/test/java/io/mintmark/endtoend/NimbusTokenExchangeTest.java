package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.oauth2.sdk.ErrorObject;
import com.nimbusds.oauth2.sdk.GrantType;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.as.AuthorizationServerMetadata;
import com.nimbusds.oauth2.sdk.auth.ClientAuthenticationMethod;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.id.Audience;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.token.AccessToken;
import com.nimbusds.oauth2.sdk.token.BearerAccessToken;
import com.nimbusds.oauth2.sdk.token.TokenTypeURI;
import com.nimbusds.oauth2.sdk.tokenexchange.TokenExchangeGrant;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.util.List;

/** Nimbus' OAuth SDK, which is told the broker's address and nothing else. */
class NimbusTokenExchangeTest {
    @AutoClose private static World world;
    private static AuthorizationServerMetadata metadata;

    @BeforeAll
    static void start() throws Exception {
        world = new World();
        metadata = AuthorizationServerMetadata.resolve(new Issuer(world.broker().url()));
    }

    private static TokenExchangeGrant grant(String key) {
        return new TokenExchangeGrant(
                new BearerAccessToken(world.token()),
                TokenTypeURI.ID_TOKEN,
                null,
                null,
                TokenTypeURI.ACCESS_TOKEN,
                List.of(new Audience(key)));
    }

    private static TokenResponse send(TokenRequest request) throws Exception {
        return TokenResponse.parse(request.toHTTPRequest().send());
    }

    private static ErrorObject refusal(TokenRequest request) throws Exception {
        return send(request).toErrorResponse().getErrorObject();
    }

    private static TokenRequest request(String key) {
        return new TokenRequest.Builder(
                        metadata.getTokenEndpointURI(), new ClientID("any"), grant(key))
                .build();
    }

    @Test
    void the_metadata_leads_to_a_token_endpoint_for_public_clients() {
        assertEquals(
                List.of(TokenExchangeGrant.GRANT_TYPE, GrantType.JWT_BEARER),
                metadata.getGrantTypes());
        assertEquals(
                List.of(ClientAuthenticationMethod.NONE), metadata.getTokenEndpointAuthMethods());
        assertEquals(List.of(), metadata.getResponseTypes());
    }

    @Test
    void it_gets_the_access_token_of_a_key() throws Exception {
        AccessToken token = send(request("api")).toSuccessResponse().getTokens().getAccessToken();
        assertEquals(TokenTypeURI.ACCESS_TOKEN, token.getIssuedTokenType());
        assertTrue(token.getLifetime() > 590 && token.getLifetime() <= 600);
        assertEquals(
                List.of("https://api.example.com"),
                SignedJWT.parse(token.getValue()).getJWTClaimsSet().getAudience());
    }

    @Test
    void its_user_sees_the_brokers_words() throws Exception {
        ErrorObject refused = refusal(request("spare"));
        assertEquals("invalid_target", refused.getCode());
        assertTrue(
                refused.getDescription()
                        .startsWith("Subject 'ci:main' has no active grant for a key 'spare'"),
                refused.getDescription());
    }

    @Test
    void a_client_that_authenticates_is_told_not_to() throws Exception {
        TokenRequest request =
                new TokenRequest.Builder(
                                metadata.getTokenEndpointURI(),
                                new ClientSecretBasic(new ClientID("any"), new Secret("secret")),
                                grant("api"))
                        .build();
        ErrorObject refused = refusal(request);
        assertEquals("invalid_client", refused.getCode());
        assertEquals(401, refused.getHTTPStatusCode());
    }
}
