package io.mintmark.console;

import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.mintmark.http.ClientAddresses;
import io.mintmark.http.StandingHeaders;
import io.mintmark.limit.RateDecision;
import io.mintmark.limit.RateLimiter;

import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Lets through what a client address may still ask for. Files that come with every page don't
 * count: they are small and in memory, and a page without them can't be read.
 */
final class PageLimits implements Filter {
    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("HH:mm:ss 'UTC'", Locale.ENGLISH).withZone(ZoneOffset.UTC);

    private final RateLimiter limiter;
    private final ClientAddresses addresses;

    PageLimits(RateLimiter limiter, ClientAddresses addresses) {
        this.limiter = limiter;
        this.addresses = addresses;
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        String path = request.path().rawPath();
        if (path.equals(ConsoleHealth.PATH) || LoginFilter.isStyle(path)) {
            chain.proceed();
            return;
        }
        RateDecision decision = limiter.decide(addresses.of(request));
        if (decision.allowed()) {
            chain.proceed();
        } else {
            long seconds = decision.retryAfter().toSeconds();
            StandingHeaders.add(
                    request, response, HeaderValues.create(HeaderNames.RETRY_AFTER, seconds));
            Notice.of(
                            429,
                            "Too many pages",
                            "Your address asked for more than it may.",
                            "Try again in %d seconds, from %s on."
                                    .formatted(seconds, CLOCK.format(decision.resetAt())))
                    .withPages()
                    .send(request, response);
        }
    }
}
