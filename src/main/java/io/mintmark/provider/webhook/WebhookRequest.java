package io.mintmark.provider.webhook;

import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Secret;

import java.util.Base64;
import java.util.Map;

/**
 * A request of the broker's to a service. Its token is a proof for this request alone: the claims
 * name method, address (as RFC 9449 section 4.2 does) and body.
 */
public record WebhookRequest(OutboundRequest unsigned) {

    /** Asks the service to make what is at the address. */
    public static WebhookRequest put(String address, String body) {
        return new WebhookRequest(OutboundRequest.replacement(address, body));
    }

    /** Asks the service to make sure that nothing at the address works. */
    public static WebhookRequest delete(String address) {
        return new WebhookRequest(OutboundRequest.deletion(address));
    }

    /** The claims of its token beside the usual ones. */
    public Map<String, Object> claims() {
        return Map.of(
                "htm",
                unsigned.method().name(),
                "htu",
                unsigned.address(),
                "body_sha256",
                Base64.getUrlEncoder().withoutPadding().encodeToString(unsigned.body().hash()));
    }

    /** The request with its token. */
    public OutboundRequest authorized(Secret token) {
        return unsigned.authorized(token);
    }
}
