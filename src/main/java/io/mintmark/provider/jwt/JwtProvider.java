package io.mintmark.provider.jwt;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.json.JacksonFactories;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.Settings;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.identity.AccessTokenOrder;
import io.mintmark.provider.identity.AccessTokenOrder.Algorithm;
import io.mintmark.provider.identity.AccessTokenOrder.Format;
import io.mintmark.provider.identity.AccessTokens;
import io.mintmark.provider.identity.AccessTokens.AccessToken;
import io.mintmark.provider.identity.ReservedClaims;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * An access token that the broker signs itself, for services that trust the tenant's issuer. It
 * calls no provider, so it can't time out.
 */
public final class JwtProvider implements AccessProvider {
    private static final Set<String> KEY_SETTINGS =
            Set.of("audience", "claims", "algorithm", "type");
    private static final TypeReference<Map<String, Object>> CLAIMS = new TypeReference<>() {};

    private final AccessTokens issuer;
    private final ObjectMapper json = JacksonFactories.mapper().build();

    public JwtProvider(AccessTokens issuer) {
        this.issuer = issuer;
    }

    @Override
    public CredentialType type() {
        return new JwtType();
    }

    @Override
    public boolean callsProvider() {
        return false;
    }

    /** The token is the client's identity and not the broker's, so it is never shared. */
    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        Settings.ofProvider(providerSettings, Set.of());
        Settings key = Settings.ofKey(keySettings, KEY_SETTINGS);
        String audience = audience(key);
        Map<String, Object> claims = claims(key);
        Format format = format(key);
        return new Prepared(
                List.of(audience), false, order -> mint(order, audience, claims, format));
    }

    private MintResult mint(
            MintOrder order, String audience, Map<String, Object> claims, Format format) {
        AccessToken token =
                issuer.accessToken(
                        new AccessTokenOrder(
                                order.tenant(),
                                order.idp(),
                                order.mintId(),
                                order.subject(),
                                audience,
                                claims,
                                Duration.ofSeconds(order.duration().toSeconds()),
                                format,
                                order.issuer(),
                                order.actor().map(MintOrder.Actor::act)));
        Map<String, String> scope =
                claims.get("scope") instanceof String text ? Map.of(Minted.SCOPE, text) : Map.of();
        return Minted.ofToken(token.text(), token.expiresAt(), scope);
    }

    private static Format format(Settings key) {
        Optional<Algorithm> algorithm =
                key.text("algorithm")
                        .map(_ -> key.oneOf("algorithm", "ES256", "RS256"))
                        .map(Algorithm::valueOf);
        return new Format(algorithm, key.oneOf("type", "at+jwt", "JWT"));
    }

    /**
     * A vendor's audience is only for tokens that go to the vendor, and this one goes to a client.
     */
    private static String audience(Settings key) {
        String audience = key.requiredText("audience");
        if (TokenDestinations.isVendors(audience)) {
            throw key.unusable("audience", "must not be an audience of a cloud vendor");
        }
        return audience;
    }

    private Map<String, Object> claims(Settings key) {
        return key.object("claims").map(claims -> claims(key, claims)).orElseGet(Map::of);
    }

    private Map<String, Object> claims(Settings key, JsonNode claims) {
        claims.properties()
                .forEach(claim -> {
                    if (ReservedClaims.includes(claim.getKey())) {
                        throw key.unusable(
                                "claims",
                                "names the reserved claim '%s'".formatted(claim.getKey()));
                    }
                    if (claim.getValue().isNull()) {
                        throw key.unusable("claims", "has null for '%s'".formatted(claim.getKey()));
                    }
                });
        return json.convertValue(claims, CLAIMS);
    }
}
