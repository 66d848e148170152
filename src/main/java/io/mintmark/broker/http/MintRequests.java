package io.mintmark.broker.http;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.http.connection.GuardedPort;
import io.mintmark.base.http.request.ClientAddresses;
import io.mintmark.base.http.request.RequestIds;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.exchange.Approvals;
import io.mintmark.broker.exchange.CredentialFormat;
import io.mintmark.broker.exchange.KeyList;
import io.mintmark.broker.exchange.KeySelection;
import io.mintmark.broker.exchange.MintRequest;
import io.mintmark.broker.exchange.RequestPermit;
import io.mintmark.broker.token.PresentedToken;

import org.slf4j.MDC;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Translates requests for credentials of every protocol to the terms of the use case. */
final class MintRequests {
    /** When to retry while the tenant has too many requests in flight. */
    private static final Duration BUSY = Duration.ofSeconds(1);

    /** The maximum length of a user agent, in characters. The log cuts it further. */
    private static final int LONGEST_USER_AGENT = 1_024;

    private final ClientAddresses addresses;

    MintRequests(ClientAddresses addresses) {
        this.addresses = addresses;
    }

    MintRequest of(
            ServerRequest request,
            PresentedToken token,
            List<KeyName> keys,
            CredentialFormat format) {
        MDC.put("key", keys.stream().map(KeyName::value).collect(Collectors.joining(",")));
        return of(request, token, KeySelection.named(keys), Optional.empty(), format);
    }

    /**
     * The request of a protocol that selects keys and lifetimes in its own terms.
     *
     * @param lifetime the longest that the client wants the credentials to be valid
     */
    MintRequest of(
            ServerRequest request,
            PresentedToken token,
            KeySelection keys,
            Optional<Duration> lifetime,
            CredentialFormat format) {
        return new MintRequest(
                RequestIds.of(request),
                addresses.of(request).address(),
                userAgent(request),
                token,
                keys,
                lifetime,
                format,
                permit(token),
                Optional.empty());
    }

    /** The user agent, cut to the length that the audit log keeps. */
    private static Optional<String> userAgent(ServerRequest request) {
        return request.headers()
                .first(HeaderNames.USER_AGENT)
                .map(text -> text.substring(0, Math.min(text.length(), LONGEST_USER_AGENT)));
    }

    private static RequestPermit permit(PresentedToken token) {
        int length = token.length();
        return new RequestPermit() {
            @Override
            public void waitsForKeys(TenantName tenant) {
                if (!GuardedPort.releasePermitToWait(tenant.value(), length)) {
                    throw new Unavailable(
                            Unavailable.Part.ISSUER,
                            "Too many requests are waiting for issuers' signing keys; try again.",
                            BUSY);
                }
            }

            @Override
            public void isAdmitted(TenantName tenant) {
                if (!GuardedPort.releasePermit(tenant.value(), length)) {
                    throw new Unavailable(
                            "Too many requests of this tenant are in flight, so nothing was minted; try again.",
                            BUSY);
                }
            }
        };
    }

    /** The call of a request for access. */
    Approvals.Call call(ServerRequest request, PresentedToken token) {
        return new Approvals.Call(
                RequestIds.of(request),
                addresses.of(request).address(),
                userAgent(request),
                token,
                permit(token));
    }

    KeyList.Request list(ServerRequest request, PresentedToken token) {
        return new KeyList.Request(
                RequestIds.of(request),
                addresses.of(request).address(),
                userAgent(request),
                token,
                permit(token));
    }
}
