package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.mintmark.base.http.request.AddressLimits;
import io.mintmark.base.http.request.StandingHeaders;
import io.mintmark.base.limit.RateDecision;
import io.mintmark.base.verdict.ApprovalRefusal;
import io.mintmark.base.verdict.LimitRefusal;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * Applies the rate limit of a client's address, and adds its headers (HTTP API section 8). Health
 * and the broker's keys are exempt.
 */
final class RateLimits implements Filter {
    private static final HeaderName LIMIT = HeaderNames.create("X-RateLimit-Limit");
    private static final HeaderName REMAINING = HeaderNames.create("X-RateLimit-Remaining");

    private static final HeaderName RESET = HeaderNames.create("X-RateLimit-Reset");
    private static final HeaderName WINDOW = HeaderNames.create("X-RateLimit-Window");

    /** The headers that browsers may show to an application. */
    static final String EXPOSED =
            "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Window";

    /** Exact paths; any other spelling is limited. */
    private static final Set<String> UNLIMITED =
            Set.of(
                    Routes.HEALTH,
                    "/.well-known/openid-configuration",
                    "/.well-known/jwks.json",
                    OAuthRoutes.METADATA);

    private final AddressLimits limits;
    private final Answers answers;

    RateLimits(AddressLimits limits, Answers answers) {
        this.limits = limits;
        this.answers = answers;
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        Optional<RateDecision> decision =
                isUnlimited(request.path().rawPath()) ? Optional.empty() : limits.count(request);
        decision.ifPresent(known -> StandingHeaders.add(request, response, headers(known)));
        Optional<RateDecision> denied = decision.filter(known -> !known.allowed());
        if (denied.isPresent()) {
            answers.send(request, response, refusal(denied.get()));
        } else {
            chain.proceed();
        }
    }

    private static boolean isUnlimited(String path) {
        return UNLIMITED.contains(path) || IssuerRoutes.isOfTenant(path);
    }

    /** The headers about the limit of the client's address. */
    static Header[] headers(RateDecision decision) {
        return headers(
                decision.limit(), decision.remaining(), decision.resetAt(), decision.window());
    }

    /** The headers of a request that exceeds its tenant's limit. */
    static Header[] headers(LimitRefusal refusal) {
        return headers(refusal.limit(), 0, refusal.resetAt(), refusal.window());
    }

    /** The headers of a request for access that exceeds their bound. */
    static Header[] headers(ApprovalRefusal.TooMany refusal) {
        return headers(refusal.limit(), 0, refusal.resetAt(), refusal.window());
    }

    private static Header[] headers(int limit, int remaining, Instant resetAt, Duration window) {
        return new Header[] {
            HeaderValues.create(LIMIT, limit),
            HeaderValues.create(REMAINING, remaining),
            HeaderValues.create(RESET, resetAt.getEpochSecond()),
            HeaderValues.create(WINDOW, window.toSeconds())
        };
    }

    /** The answer to a request over the limit. */
    static ErrorBody refusal(RateDecision decision) {
        return exceeded(
                "Too many requests from this address; try again in %d s, at %s."
                        .formatted(decision.retryAfter().toSeconds(), decision.resetAt()),
                decision.limit(),
                decision.window(),
                decision.resetAt(),
                decision.retryAfter());
    }

    /** The answer to a request over any limit. */
    static ErrorBody exceeded(
            String message, int limit, Duration window, Instant resetAt, Duration retryAfter) {
        ObjectNode details =
                Json.object()
                        .put("limit", limit)
                        .put("window", window.toSeconds())
                        .put("resetAt", resetAt.toString());
        return new ErrorBody(429, "RATE_LIMIT_EXCEEDED", message, details, Optional.of(retryAfter));
    }
}
