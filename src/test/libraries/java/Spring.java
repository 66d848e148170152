import org.springframework.security.core.SpringSecurityCoreVersion;
import org.springframework.security.oauth2.client.endpoint.OAuth2ClientCredentialsGrantRequest;
import org.springframework.security.oauth2.client.endpoint.RestClientClientCredentialsTokenResponseClient;
import org.springframework.security.oauth2.client.endpoint.RestClientTokenExchangeTokenResponseClient;
import org.springframework.security.oauth2.client.endpoint.TokenExchangeGrantRequest;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.client.registration.ClientRegistrations;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.core.OAuth2AccessToken;
import org.springframework.security.oauth2.core.OAuth2AuthorizationException;
import org.springframework.security.oauth2.core.OAuth2Token;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.util.MultiValueMap;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;

/** Spring Security exchanges an identity token, as a JWT, as an access token and as a client's assertion. */
class Spring {
    private static final String BROKER = System.getenv("MINTMARK_URL");

    public static void main(String[] args) throws Exception {
        String token = Files.readString(Path.of(System.getenv("MINTMARK_TOKEN_FILE")));
        Instant now = Instant.now();
        OAuth2Token jwt =
                new Jwt(token, now, now.plusSeconds(60), Map.of("alg", "ES256"), Map.of("sub", "x"));
        OAuth2Token opaque =
                new OAuth2AccessToken(
                        OAuth2AccessToken.TokenType.BEARER, token, now, now.plusSeconds(60));

        check(exchange("api", jwt).getTokenValue().startsWith("eyJ"), "no JWT");
        check(exchange("https://mintmark.example.com/api", opaque).getExpiresAt().isAfter(now), "ended");
        check(asserted("api", token).getTokenValue().startsWith("eyJ"), "no JWT by client_assertion");
        try {
            exchange("nothing", jwt);
            throw new AssertionError("an unknown key was minted");
        } catch (OAuth2AuthorizationException e) {
            check(e.getError().getErrorCode().equals("invalid_target"), e.toString());
            check(e.getError().getDescription().contains("'nothing'"), e.toString());
        }
        System.out.println("Spring Security " + SpringSecurityCoreVersion.getVersion());
    }

    private static ClientRegistration registration(AuthorizationGrantType grant, String scope) {
        return ClientRegistrations.fromIssuerLocation(BROKER)
                .registrationId("mintmark")
                .clientId("any")
                .clientAuthenticationMethod(ClientAuthenticationMethod.NONE)
                .authorizationGrantType(grant)
                .scope(scope)
                .build();
    }

    private static OAuth2AccessToken asserted(String key, String token) {
        var client = new RestClientClientCredentialsTokenResponseClient();
        client.addParametersConverter(request -> MultiValueMap.fromSingleValue(Map.of(
                "client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion", token)));
        var request = new OAuth2ClientCredentialsGrantRequest(
                registration(AuthorizationGrantType.CLIENT_CREDENTIALS, key));
        return client.getTokenResponse(request).getAccessToken();
    }

    private static OAuth2AccessToken exchange(String key, OAuth2Token token) {
        ClientRegistration registration =
                registration(AuthorizationGrantType.TOKEN_EXCHANGE, "everything");
        var client = new RestClientTokenExchangeTokenResponseClient();
        client.setParametersCustomizer(parameters -> parameters.set("audience", key));
        return client.getTokenResponse(new TokenExchangeGrantRequest(registration, token, null))
                .getAccessToken();
    }

    private static void check(boolean holds, String message) {
        if (!holds) {
            throw new AssertionError(message);
        }
    }
}
