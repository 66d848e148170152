package io.mintmark.provider.webhook;

import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Sender;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.BrokerTokens;
import io.mintmark.provider.LeaseRevocation;
import io.mintmark.provider.LeaseRevoker;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.NotMinted;
import io.mintmark.provider.SettingSecrets;
import io.mintmark.provider.TimedCall;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.UnusableSettingsException;
import io.mintmark.provider.identity.NoBrokerTokenException;
import io.mintmark.provider.identity.TokenOrder;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.Step.Done;
import io.mintmark.provider.web.Step.Stopped;

import java.util.List;

/** Ends mints by DELETE. A service ends them itself when they expire, even if nobody asks. */
final class Deletions implements LeaseRevoker {
    private final BrokerTokens tokens;
    private final SettingSecrets secrets;
    private final TokenDestinations destinations;
    private final Calls calls;

    Deletions(
            BrokerTokens tokens,
            SettingSecrets secrets,
            TokenDestinations destinations,
            Calls calls) {
        this.tokens = tokens;
        this.secrets = secrets;
        this.destinations = destinations;
        this.calls = calls;
    }

    @Override
    public LeaseRevocation revoke(RevocationOrder order) {
        try {
            return revoke(order, WebhookSettings.of(order.place().settings(), destinations));
        } catch (UnusableSettingsException | NoBrokerTokenException e) {
            return LeaseRevocation.not(TimedCall.failed(e));
        }
    }

    private LeaseRevocation revoke(RevocationOrder order, WebhookSettings settings) {
        Place place = order.place();
        WebhookRequest request = WebhookRequest.delete(settings.address(order.mintId()));
        OutboundRequest post =
                sent(
                        place.tenant(),
                        settings,
                        request.authorized(
                                tokens.token(
                                        settings.endpoint(),
                                        TokenOrder.ending(
                                                place.tenant(),
                                                place.provider(),
                                                order.mintId(),
                                                settings.endpoint().origin(),
                                                request.claims()))));
        return switch (calls.sendIdempotent(
                new Sender(place.tenant().value(), () -> {}),
                place.deadline(),
                settings.endpoint(),
                post)) {
            case Stopped<Reply>(NotMinted why) ->
                    new LeaseRevocation.NotYet(why.reason(), why.detail());
            case Done<Reply>(Reply reply) ->
                    switch (reply.status()) {
                        case 204, 404, 410 -> new LeaseRevocation.Gone("HTTP " + reply.status());
                        case 502, 503, 504 -> down(failure(reply, settings));
                        default -> LeaseRevocation.not(failure(reply, settings));
                    };
        };
    }

    private static Failed failure(Reply reply, WebhookSettings settings) {
        return new WebhookAnswer(reply, settings.endpoint()).failure();
    }

    /** The result if a proxy answered for a service that is down. */
    private static LeaseRevocation down(Failed why) {
        return new LeaseRevocation.NotYet(why.reason(), why.detail());
    }

    /** A request over the TLS of the settings. */
    OutboundRequest sent(TenantName tenant, WebhookSettings settings, OutboundRequest post) {
        OutboundRequest trusting = settings.caCertificate().map(post::trusting).orElse(post);
        return settings.client()
                .map(client -> trusting.presenting(client.read(secrets, tenant)))
                .orElse(trusting);
    }

    /** Reads the key of the client certificate, if there is one. */
    void requireSecrets(TenantName tenant, WebhookSettings settings) {
        var _ = settings.client().map(client -> client.read(secrets, tenant));
    }

    /**
     * Returns nothing, because the contract requires a service to end expired credentials without
     * being asked.
     */
    @Override
    public List<Left> leftBehind(Place place) {
        return List.of();
    }
}
