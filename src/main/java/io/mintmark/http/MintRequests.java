package io.mintmark.http;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import io.mintmark.exchange.CredentialFormat;
import io.mintmark.exchange.KeyList;
import io.mintmark.exchange.MintRequest;
import io.mintmark.tenant.KeyName;
import io.mintmark.token.PresentedToken;

import java.util.List;

/** Puts a request for credentials into the terms of the use case, by whichever way it came. */
final class MintRequests {
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
                format);
    }

    KeyList.Request list(ServerRequest request, PresentedToken token) {
        return new KeyList.Request(
                RequestIds.of(request),
                addresses.of(request).address(),
                request.headers().first(HeaderNames.USER_AGENT),
                token);
    }
}
