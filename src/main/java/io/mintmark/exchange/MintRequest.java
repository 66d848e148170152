package io.mintmark.exchange;

import io.mintmark.audit.Event.Caller;
import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.TenantName;
import io.mintmark.token.PresentedToken;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A request for credentials.
 *
 * @param requestId the correlation id that the answer carries
 * @param address the client's, not a trusted proxy's
 * @param userAgent as the client sent it
 * @param keys one to ten, none twice
 * @param format how the credentials are to be handed out
 * @param whenAdmitted told once, by the thread of the request, when its token is accepted, which
 *     tenant it is of; throws {@link io.mintmark.verdict.Unavailable} where that tenant has too
 *     much under way
 */
public record MintRequest(
        String requestId,
        InetAddress address,
        Optional<String> userAgent,
        PresentedToken token,
        List<KeyName> keys,
        CredentialFormat format,
        Consumer<TenantName> whenAdmitted) {
    public MintRequest {
        keys = List.copyOf(keys);
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("a request for no keys");
        }
    }

    /** A request of the interface. */
    public MintRequest(
            String requestId,
            InetAddress address,
            Optional<String> userAgent,
            PresentedToken token,
            List<KeyName> keys) {
        this(requestId, address, userAgent, token, keys, CredentialFormat.OF_KEYS, _ -> {});
    }

    Caller caller() {
        return new Caller(requestId, address, userAgent);
    }
}
