package io.mintmark.console;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.mintmark.base.http.request.AddressLimits;
import io.mintmark.base.http.request.StandingHeaders;
import io.mintmark.base.limit.RateDecision;

import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Lets through what a client address may still ask for. Files that come with every page don't
 * count: they are small and in memory, and a page without them can't be read.
 */
final class PageLimits implements Filter {
    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("HH:mm:ss 'UTC'", Locale.ENGLISH).withZone(ZoneOffset.UTC);

    private static final Set<String> UNLIMITED = Set.of(ConsoleHealth.PATH, ConsoleLiveness.PATH);

    private final AddressLimits limits;

    PageLimits(AddressLimits limits) {
        this.limits = limits;
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        Optional<RateDecision> denied =
                isUnlimited(request.path().rawPath())
                        ? Optional.empty()
                        : limits.count(request).filter(decision -> !decision.allowed());
        if (denied.isEmpty()) {
            chain.proceed();
            return;
        }
        StandingHeaders.add(request, response, retryAfter(denied.get()));
        notice(denied.get()).send(request, response);
    }

    private static boolean isUnlimited(String path) {
        return UNLIMITED.contains(path) || LoginFilter.isStyle(path);
    }

    /** The header with the time after which the client may retry. */
    static Header retryAfter(RateDecision denied) {
        return HeaderValues.create(HeaderNames.RETRY_AFTER, denied.retryAfter().toSeconds());
    }

    /** The page that a client over its limit gets. */
    static Notice notice(RateDecision denied) {
        return Notice.of(
                        429,
                        "Too many pages",
                        "Your IP address sent too many requests.",
                        "Try again in %d seconds, from %s on."
                                .formatted(
                                        denied.retryAfter().toSeconds(),
                                        CLOCK.format(denied.resetAt())))
                .withPages();
    }
}
