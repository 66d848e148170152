package io.mintmark.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.mintmark.limit.RateDecision;
import io.mintmark.limit.RateLimiter;

import java.util.Optional;
import java.util.Set;

/**
 * Lets through what a client address may still ask for, and tells how much that is (interface
 * section 8). Health and the broker's keys are for machines that must not be turned away.
 */
final class RateLimits implements Filter {
    private static final HeaderName LIMIT = HeaderNames.create("X-RateLimit-Limit");
    private static final HeaderName REMAINING = HeaderNames.create("X-RateLimit-Remaining");
    private static final HeaderName RESET = HeaderNames.create("X-RateLimit-Reset");
    private static final HeaderName WINDOW = HeaderNames.create("X-RateLimit-Window");

    /** What browsers may show of them to an application. */
    static final String EXPOSED =
            "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Window";

    /** Paths as they are, nothing else: whatever is spelt in another way is limited. */
    private static final Set<String> UNLIMITED =
            Set.of(
                    "/health",
                    "/.well-known/openid-configuration",
                    "/.well-known/jwks.json",
                    OAuthRoutes.METADATA);

    private final RateLimiter limiter;
    private final ClientAddresses addresses;
    private final Answers answers;

    RateLimits(RateLimiter limiter, ClientAddresses addresses, Answers answers) {
        this.limiter = limiter;
        this.addresses = addresses;
        this.answers = answers;
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        if (isUnlimited(request.path().rawPath())) {
            chain.proceed();
            return;
        }
        RateDecision decision = limiter.decide(addresses.of(request));
        StandingHeaders.add(request, response, headers(decision));
        if (decision.allowed()) {
            chain.proceed();
        } else {
            answers.send(request, response, refusal(decision));
        }
    }

    private static boolean isUnlimited(String path) {
        return UNLIMITED.contains(path) || IssuerRoutes.isOfTenant(path);
    }

    private static Header[] headers(RateDecision decision) {
        return new Header[] {
            HeaderValues.create(LIMIT, decision.limit()),
            HeaderValues.create(REMAINING, decision.remaining()),
            HeaderValues.create(RESET, decision.resetAt().getEpochSecond()),
            HeaderValues.create(WINDOW, decision.window().toSeconds())
        };
    }

    private static ErrorBody refusal(RateDecision decision) {
        ObjectNode details =
                Json.object()
                        .put("limit", decision.limit())
                        .put("window", decision.window().toSeconds())
                        .put("resetAt", decision.resetAt().toString());
        return new ErrorBody(
                429,
                "RATE_LIMIT_EXCEEDED",
                "Too many requests from this address; try again in %d s, at %s."
                        .formatted(decision.retryAfter().toSeconds(), decision.resetAt()),
                details,
                Optional.of(decision.retryAfter()));
    }
}
