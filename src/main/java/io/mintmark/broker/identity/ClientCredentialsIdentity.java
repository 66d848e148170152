package io.mintmark.broker.identity;

import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.TokenReply;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;
import io.mintmark.base.time.Backoff;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.NoBrokerTokenException;
import io.mintmark.provider.identity.NoBrokerTokenException.Kind;
import io.mintmark.provider.identity.TokenOrder;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.random.RandomGenerator;

/**
 * One token from an external identity provider for all mints. It is renewed in the background
 * before it expires, by one request at a time; while that fails, the token in hand is used for as
 * long as it is good, and the requests become rarer. A mint waits only where there is no token, and
 * then for a request of its own time: that the last one failed says nothing about the next.
 */
public final class ClientCredentialsIdentity implements BrokerIdentity, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ClientCredentialsIdentity.class);
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);
    private static final Backoff BACKOFF =
            new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

    /**
     * The pause between requests for which mints wait, so that many mints don't cause many
     * requests.
     */
    private static final Duration BETWEEN_TRIES = Duration.ofMillis(250);

    private final TokenService service;
    private final InstantSource clock;
    private final RandomGenerator random;
    private final BackgroundThread thread =
            BackgroundThread.repeating(ThreadName.BROKER_TOKEN, Duration.ZERO, this::renewIfDue);

    private volatile @Nullable HeldToken held;
    private volatile @Nullable NoBrokerTokenException failure;
    private @Nullable CompletableFuture<HeldToken> flight;
    private Instant quietUntil = Instant.MIN;
    private Instant nextTry = Instant.MIN;
    private int failures;

    /**
     * @param random spreads the requests of many replicas
     */
    public ClientCredentialsIdentity(
            IdpAccess access, GuardedHttp http, InstantSource clock, RandomGenerator random) {
        this(new AuthorizationServer(access, http, clock), clock, random);
    }

    ClientCredentialsIdentity(TokenService service, InstantSource clock, RandomGenerator random) {
        this.service = service;
        this.clock = clock;
        this.random = random;
    }

    /**
     * Requests a token now and whenever the current one grows old. The broker starts even if the
     * identity provider is down; the health check reports that until it is back.
     */
    public ClientCredentialsIdentity start() {
        var _ = thread.start();
        return this;
    }

    /** The token that all mints share; what the order asks for isn't in it. */
    @Override
    public Secret token(TokenOrder order) {
        HeldToken current = held;
        return current != null && current.isUsable(clock.instant())
                ? current.text()
                : await(joinFlight()).text();
    }

    /**
     * Requests a replacement for a rejected token, unless the token is new. Until it arrives, other
     * mints use the current token.
     */
    @Override
    public Optional<Secret> insteadOf(Secret rejected) {
        HeldToken current = held;
        if (current != null && current.text().equals(rejected)) {
            if (current.isYoung(clock.instant())) {
                return Optional.empty();
            }
            log.warn("A provider rejected the broker's token; the broker requests a new one");
            current = replacement();
        }
        return Optional.ofNullable(current).map(HeldToken::text).filter(t -> !t.equals(rejected));
    }

    private @Nullable HeldToken replacement() {
        try {
            return await(takenOff());
        } catch (NoBrokerTokenException e) {
            return null; // it has been told
        }
    }

    /** An access token as defined by RFC 6749, in any format. */
    @Override
    public String tokenType() {
        return TokenReply.ACCESS_TOKEN;
    }

    @Override
    public boolean shared() {
        return true;
    }

    @Override
    public Optional<String> fault() {
        HeldToken current = held;
        if (current != null && (failure == null || current.isUsable(clock.instant()))) {
            return Optional.empty();
        }
        return Optional.of(
                "the broker has no valid token of its identity provider; the log has the reason");
    }

    @Override
    public void close() {
        thread.stop();
    }

    /** Renews the token if it is due. Returns the time until the next check. */
    Duration renewIfDue() {
        HeldToken current = held;
        Instant now = clock.instant();
        if (current == null || current.isRenewable(now)) {
            renew(now);
        }
        return LOOK_AGAIN;
    }

    private synchronized void renew(Instant now) {
        if (flight == null && !now.isBefore(quietUntil)) {
            flight = takeOff(Duration.ZERO);
        }
    }

    /** The request in flight, or a new one. */
    private synchronized CompletableFuture<HeldToken> joinFlight() {
        Instant now = clock.instant();
        HeldToken current = held;
        if (current != null && current.isUsable(now)) {
            return CompletableFuture.completedFuture(current);
        }
        return takenOff();
    }

    private synchronized CompletableFuture<HeldToken> takenOff() {
        CompletableFuture<HeldToken> underWay = flight;
        if (underWay != null) {
            return underWay;
        }
        CompletableFuture<HeldToken> started = takeOff(untilNextTry());
        flight = started;
        return started;
    }

    /** Whether a request is in flight. */
    synchronized boolean isAsking() {
        return flight != null;
    }

    private Duration untilNextTry() {
        Instant now = clock.instant();
        return now.isBefore(nextTry) ? Duration.between(now, nextTry) : Duration.ZERO;
    }

    private CompletableFuture<HeldToken> takeOff(Duration wait) {
        CompletableFuture<HeldToken> started = new CompletableFuture<>();
        Thread.ofVirtual().name("broker-token").start(() -> flyAfter(wait, started));
        return started;
    }

    private void flyAfter(Duration wait, CompletableFuture<HeldToken> started) {
        try {
            Thread.sleep(wait);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        fly(started);
    }

    /**
     * Requests a token, and completes the future in any case, because its waiters would wait
     * forever otherwise.
     */
    private void fly(CompletableFuture<HeldToken> started) {
        try {
            Instant asked = clock.instant();
            HeldToken token = HeldToken.from(service.issue(), asked, random);
            arrived(token);
            started.complete(token);
        } catch (NoBrokerTokenException e) {
            failed(e);
            started.completeExceptionally(e);
        } catch (RuntimeException | Error e) {
            log.error("The request for the broker's own token failed unexpectedly", e);
            NoBrokerTokenException fault =
                    new NoBrokerTokenException(
                            Kind.FAILED, "the request for the broker's token failed");
            failed(fault);
            started.completeExceptionally(fault);
        }
    }

    private synchronized void arrived(HeldToken token) {
        if (failures > 0) {
            log.info("The identity provider issues tokens to the broker again");
        }
        held = token;
        failure = null;
        failures = 0;
        quietUntil = Instant.MIN;
        nextTry = Instant.MIN;
        flight = null;
    }

    private synchronized void failed(NoBrokerTokenException why) {
        Duration wait = BACKOFF.pause(failures, random);
        log.warn(
                "The broker could not renew the token of its identity provider; it retries "
                        + "in {} ms or with the next mint: {}",
                wait.toMillis(),
                why.getMessage());
        failure = why;
        failures++;
        quietUntil = clock.instant().plus(wait);
        nextTry = clock.instant().plus(BETWEEN_TRIES);
        flight = null;
    }

    private static HeldToken await(CompletableFuture<HeldToken> awaited) {
        try {
            return awaited.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof NoBrokerTokenException why
                    ? new NoBrokerTokenException(why.kind(), why.getMessage())
                    : new NoBrokerTokenException(
                            Kind.FAILED, "the broker's token can't be obtained");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NoBrokerTokenException(
                    Kind.TIMED_OUT, "the request for the broker's token was cancelled");
        }
    }
}
