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
import org.junit.jupiter.api.io.TempDir;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

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
                List.of(
                        TokenExchangeGrant.GRANT_TYPE,
                        GrantType.JWT_BEARER,
                        GrantType.CLIENT_CREDENTIALS),
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
    void the_lines_of_the_page_do_so_too(@TempDir Path directory) throws Exception {
        String lines =
                Documented.blocks("clients/oauth2.md", "java")
                        .getFirst()
                        .replace("https://mintmark.example.com", world.broker().url() + "");
        String sdk = "com.nimbusds.oauth2.sdk";
        String source =
                Stream.of("", ".as", ".id", ".token", ".tokenexchange")
                                .map(part -> "import " + sdk + part + ".*;\n")
                                .collect(Collectors.joining())
                        + "import java.util.List;\npublic class Page { public static String token(String identityToken) throws Exception {\n%s\nreturn token.getValue(); } }"
                                .formatted(lines);
        Path file = Files.writeString(directory.resolve("Page.java"), source);
        int status =
                ToolProvider.getSystemJavaCompiler()
                        .run(
                                null,
                                null,
                                null,
                                "-proc:none",
                                "-classpath",
                                System.getProperty("java.class.path"),
                                "-d",
                                directory.toString(),
                                file.toString());
        assertEquals(0, status, source);
        try (URLClassLoader loader =
                new URLClassLoader(
                        new URL[] {directory.toUri().toURL()}, getClass().getClassLoader())) {
            Object token =
                    loader.loadClass("Page")
                            .getMethod("token", String.class)
                            .invoke(null, world.token());
            assertEquals(
                    List.of("https://api.example.com"),
                    SignedJWT.parse(token + "").getJWTClaimsSet().getAudience());
        }
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
}
