package io.mintmark.base.config;

import java.time.Duration;
import java.util.List;

/**
 * The limits of requests per client address.
 *
 * @param requests maximum in one window
 * @param window whole seconds
 * @param burst maximum in one second
 * @param trustedProxies peers whose {@code X-Forwarded-For} is trusted
 * @param exempt networks of clients that have no limit
 */
public record RateLimitSettings(
        boolean enabled,
        int requests,
        Duration window,
        int burst,
        List<Cidr> trustedProxies,
        List<Cidr> exempt) {
    private static final Format<Integer> COUNT = Formats.wholeNumber(1, 1_000_000);

    static final Setting<Boolean> ENABLED =
            Setting.of(
                    "rate-limit.enabled",
                    Formats.BOOLEAN,
                    "true",
                    "Whether the broker limits the requests of each client IP address.");
    static final Setting<Integer> REQUESTS =
            Setting.of(
                    "rate-limit.requests",
                    COUNT,
                    "100",
                    "Maximum number of requests from a client IP address in a window.");
    static final Setting<Duration> WINDOW =
            Setting.of(
                    "rate-limit.window",
                    Formats.wholeSeconds(Duration.ofSeconds(1), Duration.ofDays(1)),
                    "PT1M",
                    "Length of a window. A window begins with the first request from an IP"
                            + " address.");
    static final Setting<Integer> BURST =
            Setting.of(
                    "rate-limit.burst",
                    COUNT,
                    "20",
                    "Maximum number of requests from a client IP address in one second.");
    static final Setting<List<Cidr>> TRUSTED_PROXIES =
            Setting.of(
                    "trusted-proxies",
                    Formats.NETWORK.list(),
                    "Networks of the reverse proxies whose `X-Forwarded-For` the broker"
                            + " trusts.");

    static final Setting<List<Cidr>> EXEMPT =
            Setting.of(
                    "rate-limit.exempt",
                    Formats.NETWORK.list(),
                    "Networks whose clients have no rate limit, such as NAT gateways of CI"
                            + " runners.");

    static final List<Setting<?>> TABLE =
            List.of(ENABLED, REQUESTS, WINDOW, BURST, EXEMPT, TRUSTED_PROXIES);

    public RateLimitSettings {
        trustedProxies = List.copyOf(trustedProxies);
        exempt = List.copyOf(exempt);
    }

    static RateLimitSettings from(Values values) {
        return new RateLimitSettings(
                values.get(ENABLED),
                values.get(REQUESTS),
                values.get(WINDOW),
                values.get(BURST),
                values.find(TRUSTED_PROXIES).orElse(List.of()),
                values.find(EXEMPT).orElse(List.of()));
    }
}
