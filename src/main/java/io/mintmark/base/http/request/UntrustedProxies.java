package io.mintmark.base.http.request;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.mintmark.base.limit.IgnoredForwarding;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Reports that requests come through a proxy that {@code TRUSTED_PROXIES} doesn't list: once in the
 * log, and each request to a counter. Keeps nothing for each address.
 */
public final class UntrustedProxies implements Filter {
    private static final Logger log = LoggerFactory.getLogger(UntrustedProxies.class);

    private static final List<HeaderName> FORWARDING =
            List.of(HeaderNames.X_FORWARDED_FOR, HeaderNames.FORWARDED);

    private final IgnoredForwarding forwarding;
    private final Runnable counter;
    private final AtomicBoolean reported = new AtomicBoolean();

    /**
     * @param counter runs for each such request; must neither wait nor throw
     */
    public UntrustedProxies(IgnoredForwarding forwarding, Runnable counter) {
        this.forwarding = forwarding;
        this.counter = counter;
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        if (isForwarded(request.headers())) {
            InetAddress peer = ClientAddresses.peer(request);
            if (forwarding.isProxy(peer)) {
                report(peer);
            }
        }
        chain.proceed();
    }

    private static boolean isForwarded(Headers headers) {
        return FORWARDING.stream().anyMatch(headers::contains);
    }

    private void report(InetAddress peer) {
        counter.run();
        if (reported.compareAndSet(false, true)) {
            log.warn(
                    "A request from {} has X-Forwarded-For or Forwarded, but TRUSTED_PROXIES doesn't list that address: the header is ignored, and all clients behind it share one rate limit and one address in the audit log. If the address is that of your reverse proxy, add the address to TRUSTED_PROXIES. Further requests are only counted.",
                    peer.getHostAddress());
        }
    }
}
