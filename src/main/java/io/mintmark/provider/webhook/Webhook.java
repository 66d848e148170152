package io.mintmark.provider.webhook;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.BrokerTokens;
import io.mintmark.provider.LeaseRevoker;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.SettingSecrets;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.Step.Done;
import io.mintmark.provider.web.Step.Stopped;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Credentials that a tenant's own HTTPS service makes (docs/webhook.yaml). The mint id names the
 * credential in the address, so a request may arrive twice.
 */
public final class Webhook implements AccessProvider {
    private final BrokerTokens tokens;
    private final TokenDestinations destinations;
    private final Calls calls;
    private final Deletions deletions;

    /**
     * @param identity one that signs a token for each request
     */
    public Webhook(
            BrokerIdentity identity,
            SettingSecrets secrets,
            TokenDestinations destinations,
            Calls calls) {
        this.tokens = new BrokerTokens(identity, destinations);
        this.destinations = destinations;
        this.calls = calls;
        this.deletions = new Deletions(tokens, secrets, destinations, calls);
    }

    @Override
    public CredentialType type() {
        return new WebhookType();
    }

    @Override
    public Map<String, String> defaultOutputs(JsonNode providerSettings) {
        return WebhookSettings.of(providerSettings, destinations).defaultOutputs();
    }

    @Override
    public Optional<LeaseRevoker> revoker() {
        return Optional.of(deletions);
    }

    @Override
    public void requireSecrets(TenantName tenant, JsonNode providerSettings) {
        deletions.requireSecrets(tenant, WebhookSettings.of(providerSettings, destinations));
    }

    /**
     * Prepares a key. The tokens of its mints are always the broker's own, which name the tenant.
     */
    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        WebhookSettings settings = WebhookSettings.of(providerSettings, destinations);
        WebhookKey key = WebhookKey.of(keySettings);
        return new Prepared(List.of(key.target()), false, order -> mint(order, settings, key));
    }

    private MintResult mint(MintOrder order, WebhookSettings settings, WebhookKey key) {
        WebhookRequest request =
                WebhookRequest.put(settings.address(order.mintId()), key.request(order));
        Secret token =
                tokens.token(
                        settings.endpoint(),
                        order.token(settings.endpoint().origin(), request.claims()));
        OutboundRequest post = deletions.sent(order.tenant(), settings, request.authorized(token));
        return switch (calls.sendIdempotent(
                order.sender(), order.deadline(), settings.endpoint(), post)) {
            case Stopped<Reply>(MintResult.NotMinted why) -> why;
            case Done<Reply>(Reply reply) ->
                    new WebhookAnswer(reply, settings.endpoint()).result(settings, order.mintId());
        };
    }
}
