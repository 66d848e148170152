package io.mintmark.provider.azure;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.outbound.FormBody;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Secret;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.BrokerTokens;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.web.TokenCalls;

import java.util.List;
import java.util.Map;

/**
 * Access tokens of Microsoft Entra ID for an application or managed identity that trusts the
 * broker's tokens (learn.microsoft.com, "OAuth 2.0 client credentials flow", third case: with a
 * federated credential). How long they live Entra decides, 60 to 90 minutes.
 */
public final class Azure implements AccessProvider {
    private final BrokerTokens tokens;
    private final TokenDestinations destinations;
    private final TokenCalls calls;

    public Azure(BrokerIdentity identity, TokenDestinations destinations, TokenCalls calls) {
        this.tokens = new BrokerTokens(identity, destinations);
        this.destinations = destinations;
        this.calls = calls;
    }

    @Override
    public CredentialType type() {
        return new AzureType();
    }

    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        AzureSettings settings = AzureSettings.of(providerSettings, keySettings, destinations);
        return new Prepared(
                List.of(settings.clientId()), tokens.shared(), order -> mint(order, settings));
    }

    private MintResult mint(MintOrder order, AzureSettings settings) {
        return tokens.showing(
                settings.endpoint(),
                order.rs256Token(settings.audience()),
                shown -> {
                    OutboundRequest post = request(order, settings, shown);
                    return calls.credential(
                            order,
                            settings.endpoint(),
                            () -> post,
                            EntraErrors::meaning,
                            Map.of(
                                    "TenantId",
                                    settings.tenantId(),
                                    Minted.SCOPE,
                                    settings.scope()));
                });
    }

    /**
     * The header is what Microsoft's own libraries (MSAL) send; Entra's sign-in logs show it as the
     * correlation id.
     */
    private static OutboundRequest request(MintOrder order, AzureSettings settings, Secret shown) {
        return new FormBody()
                .with("grant_type", "client_credentials")
                .with("client_id", settings.clientId())
                .with("scope", settings.scope())
                .withClientAssertion(shown)
                .to(settings.endpoint().toString())
                .with("client-request-id", order.mintId());
    }
}
