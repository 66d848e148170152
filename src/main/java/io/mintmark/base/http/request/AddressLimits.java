package io.mintmark.base.http.request;

import io.helidon.http.Headers;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.config.Cidr;
import io.mintmark.base.config.RateLimitSettings;
import io.mintmark.base.http.connection.GuardedPort;
import io.mintmark.base.limit.ClientAddress;
import io.mintmark.base.limit.RateDecision;
import io.mintmark.base.limit.RateLimiter;

import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/** Counts requests against the rate limits of their clients' addresses. */
public final class AddressLimits {
    private final Optional<RateLimiter> limiter;
    private final List<Cidr> exempt;
    private final ClientAddresses addresses;

    public AddressLimits(
            RateLimitSettings settings, ClientAddresses addresses, InstantSource clock) {
        this.limiter =
                settings.enabled()
                        ? Optional.of(new RateLimiter(settings, clock, System::nanoTime))
                        : Optional.empty();
        this.exempt = settings.exempt();
        this.addresses = addresses;
    }

    /**
     * Counts a request.
     *
     * @return whether it may proceed; empty if its address has no limit
     */
    public Optional<RateDecision> count(ServerRequest request) {
        return count(addresses.of(request));
    }

    /**
     * Counts the request of this thread's connection if no filter has seen it, because it is
     * malformed for example. A request that was turned away because there were too many at a time
     * doesn't count.
     *
     * @param headers as far as they were read
     * @param status with which the server answers
     * @return whether it may proceed; empty if its address has no limit
     */
    public Optional<RateDecision> countUnrouted(Headers headers, Status status) {
        return RequestIds.current().isPresent() || status.equals(Status.SERVICE_UNAVAILABLE_503)
                ? Optional.empty()
                : GuardedPort.currentPeer().flatMap(peer -> count(addresses.of(peer, headers)));
    }

    private Optional<RateDecision> count(ClientAddress client) {
        return limiter.filter(_ -> !isExempt(client)).map(limits -> limits.decide(client));
    }

    private boolean isExempt(ClientAddress client) {
        return exempt.stream().anyMatch(network -> network.contains(client.address()));
    }
}
