package io.mintmark.http;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import io.mintmark.exchange.CredentialFormat;
import io.mintmark.exchange.KeyList;
import io.mintmark.exchange.MintRequest;
import io.mintmark.http.connection.GuardedPort;
import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.TenantName;
import io.mintmark.token.PresentedToken;
import io.mintmark.verdict.Unavailable;

import java.time.Duration;
import java.util.List;

/** Puts a request for credentials into the terms of the use case, by whichever way it came. */
final class MintRequests {
    /** When it is worth to try again where the tenant has too much under way. */
    private static final Duration BUSY = Duration.ofSeconds(1);

    private final ClientAddresses addresses;

    MintRequests(ClientAddresses addresses) {
        this.addresses = addresses;
    }

    MintRequest of(
            ServerRequest request,
            PresentedToken token,
            List<KeyName> keys,
            CredentialFormat format) {
        return new MintRequest(
                RequestIds.of(request),
                addresses.of(request).address(),
                request.headers().first(HeaderNames.USER_AGENT),
                token,
                keys,
                format,
                tenant -> requireRoom(tenant, token));
    }

    private static void requireRoom(TenantName tenant, PresentedToken token) {
        if (!GuardedPort.giveBackTurn(tenant.value(), token.text().length())) {
            throw new Unavailable(
                    "As many requests of this tenant are worked on as may be at a time; nothing was minted.",
                    BUSY);
        }
    }

    KeyList.Request list(ServerRequest request, PresentedToken token) {
        return new KeyList.Request(
                RequestIds.of(request),
                addresses.of(request).address(),
                request.headers().first(HeaderNames.USER_AGENT),
                token);
    }
}
