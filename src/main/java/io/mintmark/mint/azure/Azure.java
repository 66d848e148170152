package io.mintmark.mint.azure;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.identity.BrokerIdentity;
import io.mintmark.identity.TokenOrder;
import io.mintmark.mint.AccessProvider;
import io.mintmark.mint.BrokerTokens;
import io.mintmark.mint.MintOrder;
import io.mintmark.mint.MintResult;
import io.mintmark.mint.Settings;
import io.mintmark.mint.TokenDestinations;
import io.mintmark.mint.web.TokenCalls;
import io.mintmark.outbound.FormBody;
import io.mintmark.outbound.Post;
import io.mintmark.outbound.Secret;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Access tokens of Microsoft Entra ID for an application or managed identity that trusts the
 * broker's tokens (learn.microsoft.com, "OAuth 2.0 client credentials flow", third case: with a
 * federated credential). How long they live Entra decides, 60 to 90 minutes.
 */
public final class Azure implements AccessProvider {
    private static final Set<String> KEY_SETTINGS = Set.of("client_id", "scope");
    private static final String ASSERTION_TYPE =
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

    private final BrokerTokens tokens;
    private final TokenDestinations destinations;
    private final TokenCalls calls;

    public Azure(BrokerIdentity identity, TokenDestinations destinations, TokenCalls calls) {
        this.tokens = new BrokerTokens(identity, destinations);
        this.destinations = destinations;
        this.calls = calls;
    }

    @Override
    public String type() {
        return "azure";
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of(
                "AZURE_ACCESS_TOKEN", "AccessToken",
                "AZURE_TOKEN_EXPIRY", "Expiration",
                "AZURE_TENANT_ID", "TenantId");
    }

    @Override
    public List<String> targets(JsonNode keySettings) {
        return List.of(settings(keySettings).requiredText("client_id"));
    }

    @Override
    public boolean usesSharedIdentity(JsonNode providerSettings) {
        return tokens.shared();
    }

    @Override
    public MintResult mint(MintOrder order) {
        AzureProviderSettings provider =
                AzureProviderSettings.of(order.access().settings(), destinations);
        return tokens.showing(
                provider.endpoint(),
                token(order, provider),
                shown -> {
                    Post post = request(order, provider, shown);
                    return calls.credential(
                            provider.endpoint(),
                            () -> post,
                            order.deadline(),
                            EntraErrors::meaning,
                            Map.of("TenantId", provider.tenantId()));
                });
    }

    /**
     * The header is what Microsoft's own libraries (MSAL) send; Entra's sign-in logs show it as the
     * correlation id.
     */
    private static Post request(MintOrder order, AzureProviderSettings provider, Secret shown) {
        Settings key = settings(order.keySettings());
        return new FormBody()
                .with("grant_type", "client_credentials")
                .with("client_id", key.requiredText("client_id"))
                .with("scope", key.requiredText("scope"))
                .with("client_assertion_type", ASSERTION_TYPE)
                .with("client_assertion", shown)
                .to(provider.endpoint().toString())
                .with("client-request-id", order.mintId().toString());
    }

    private static TokenOrder token(MintOrder order, AzureProviderSettings provider) {
        return order.rs256Token(provider.audience());
    }

    private static Settings settings(JsonNode keySettings) {
        return Settings.ofKey(keySettings, KEY_SETTINGS);
    }
}
