package io.mintmark.provider.web;

import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.outbound.OutboundFailure.Kind;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.ProviderWords;
import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Sender;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.time.Backoff;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.web.Step.Done;
import io.mintmark.provider.web.Step.Stopped;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/**
 * Calls a provider by a deadline, and retries only where that is safe: nothing was sent, or the
 * response says that nothing was issued and that a retry may help. After a broken connection there
 * may be a credential, which only the provider's log would show.
 */
public final class Calls {
    private static final int ATTEMPTS = 3;
    private static final Backoff BACKOFF =
            new Backoff(Duration.ofMillis(200), Duration.ofSeconds(1));
    private static final int TOO_MANY_REQUESTS = 429;

    /** The status of GitHub's secondary rate limits, if {@code Retry-After} is present. */
    private static final int FORBIDDEN = 403;

    private static final int UNAVAILABLE = 503;
    private static final Pattern SECONDS = Pattern.compile("\\d{1,6}");

    private final TenantHttpClients http;
    private final InstantSource clock;
    private final RandomGenerator random;

    /**
     * The result of one attempt.
     *
     * @param again the shortest wait before an attempt that may help; empty if none may
     */
    public record Attempt<T>(T result, Optional<Duration> again) {}

    /**
     * @param random spreads the waits, so that a provider that comes back isn't met by all at once
     */
    public Calls(TenantHttpClients http, InstantSource clock, RandomGenerator random) {
        this.http = http;
        this.clock = clock;
        this.random = random;
    }

    /**
     * Returns the response, with any status, over a connection of the order's tenant and by its
     * deadline.
     *
     * @param posts makes the request of each attempt, for requests that work only once
     */
    public Step<Reply> post(MintOrder order, Endpoint endpoint, Supplier<OutboundRequest> posts) {
        return send(order.sender(), order.deadline(), endpoint, posts);
    }

    /**
     * Sends on behalf of a sender, by a deadline.
     *
     * @param posts makes the request of each attempt: for what works only once
     */
    public Step<Reply> send(
            Sender sender, Instant deadline, Endpoint endpoint, Supplier<OutboundRequest> posts) {
        return send(sender, deadline, endpoint, posts, 0);
    }

    /**
     * Sends a request that has the same effect if it arrives twice: it is sent once more after a
     * broken connection too.
     */
    public Step<Reply> sendIdempotent(
            Sender sender, Instant deadline, Endpoint endpoint, OutboundRequest post) {
        return send(sender, deadline, endpoint, () -> post, 1);
    }

    private Step<Reply> send(
            Sender sender,
            Instant deadline,
            Endpoint endpoint,
            Supplier<OutboundRequest> posts,
            int breaksBorne) {
        var breaksLeft = new AtomicInteger(breaksBorne);
        return repeat(deadline, () -> attempt(sender, deadline, endpoint, posts.get(), breaksLeft))
                .orElseGet(() ->
                        new Stopped<>(
                                failed(
                                        Reason.PROVIDER_TIMEOUT,
                                        "the request was cancelled",
                                        endpoint)));
    }

    private Attempt<Step<Reply>> attempt(
            Sender sender,
            Instant deadline,
            Endpoint endpoint,
            OutboundRequest post,
            AtomicInteger breaksLeft) {
        try {
            Reply reply = http.post(sender, post, left(deadline));
            return new Attempt<>(
                    new Done<>(reply), Optional.of(asked(reply)).filter(_ -> mayHelpLater(reply)));
        } catch (OutboundFailure e) {
            boolean again =
                    e.kind() == Kind.UNREACHABLE
                            || e.kind() == Kind.BUSY
                            || (e.kind() == Kind.CUT_OFF && breaksLeft.getAndDecrement() > 0);
            return new Attempt<>(
                    new Stopped<>(failed(e, endpoint)),
                    Optional.of(Duration.ZERO).filter(_ -> again));
        }
    }

    /**
     * Makes at most three attempts, after waits that double, and none whose wait would last until
     * the deadline. Returns the result of the last; empty if the thread was interrupted before it.
     */
    public <T> Optional<T> repeat(Instant deadline, Supplier<Attempt<T>> attempt) {
        for (int number = 1; ; number++) {
            Duration usual = BACKOFF.pause(number - 1, random);
            Attempt<T> tried = attempt.get();
            Optional<Duration> wait =
                    tried.again()
                            .map(least -> max(usual, least))
                            .filter(time -> time.compareTo(left(deadline)) < 0);
            if (number == ATTEMPTS || wait.isEmpty()) {
                return Optional.of(tried.result());
            }
            if (!slept(wait.get())) {
                return Optional.empty();
            }
        }
    }

    /** The time until a deadline; zero after it. */
    public Duration left(Instant deadline) {
        return max(Duration.between(clock.instant(), deadline), Duration.ZERO);
    }

    /** A failure at a provider. The quoted words are made fit for the audit log. */
    public static Failed failed(Reason reason, String what, Endpoint endpoint) {
        return new Failed(reason, "%s (%s)".formatted(ProviderWords.fit(what), endpoint.origin()));
    }

    /** Withholds a provider's token that must not be handed out. */
    public static Withheld withheld(TimedToken token, String why, Endpoint endpoint) {
        return Withheld.ofToken(
                token.text(), token.expiresAt(), "%s (%s)".formatted(why, endpoint.origin()));
    }

    private static Failed failed(OutboundFailure failure, Endpoint endpoint) {
        return failed(meaning(failure.kind()), String.valueOf(failure.getMessage()), endpoint);
    }

    /** The reason for the status of a response, where the provider has no codes of its own. */
    public static Reason meaning(int status) {
        return switch (status) {
            case 401 -> Reason.BROKER_IDENTITY_REJECTED;
            case FORBIDDEN -> Reason.PROVIDER_REJECTED;
            case 400, 404, 405, 415, 422 -> Reason.PROVIDER_MISCONFIGURED;
            case TOO_MANY_REQUESTS -> Reason.PROVIDER_THROTTLED;
            default -> Reason.PROVIDER_ERROR;
        };
    }

    /** The reason for a failure. */
    public static Reason meaning(Kind kind) {
        return switch (kind) {
            case ADDRESS_UNUSABLE, DESTINATION_REFUSED, AUTHORITY_UNREADABLE ->
                    Reason.PROVIDER_MISCONFIGURED;
            case UNREACHABLE, BUSY, CUT_OFF, NOT_TRUSTED -> Reason.PROVIDER_UNREACHABLE;
            case TIMED_OUT -> Reason.PROVIDER_TIMEOUT;
            case REDIRECTED, STATUS, TOO_LARGE, ENCODED -> Reason.PROVIDER_ERROR;
        };
    }

    private static boolean mayHelpLater(Reply reply) {
        return reply.status() == TOO_MANY_REQUESTS
                || reply.status() == UNAVAILABLE
                || (reply.status() == FORBIDDEN && reply.retryAfter().isPresent());
    }

    /** The seconds of {@code Retry-After}; a date, which no such service sends, is ignored. */
    private static Duration asked(Reply reply) {
        return reply.retryAfter()
                .filter(text -> SECONDS.matcher(text).matches())
                .map(text -> Duration.ofSeconds(Long.parseLong(text)))
                .orElse(Duration.ZERO);
    }

    private static Duration max(Duration one, Duration other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    private static boolean slept(Duration wait) {
        try {
            Thread.sleep(wait);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
