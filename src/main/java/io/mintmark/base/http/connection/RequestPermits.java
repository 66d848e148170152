package io.mintmark.base.http.connection;

import io.helidon.common.concurrency.limits.Limit;
import io.mintmark.base.limit.SharedPermits;

import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The permits of one connection's requests among those that the server processes at a time. A
 * request may return its permit before it is answered, as far as there is memory for such requests.
 * Some requests need no permit.
 *
 * <p>Used by the connection's own thread only.
 */
final class RequestPermits implements Limit {
    private final Limit limit;
    private final SharedPermits<String> memory;
    private final BooleanSupplier needsNone;
    private Optional<Permit> current = Optional.empty();

    /** Whether there was memory for a request that returned its permit. */
    enum Reservation {
        RESERVED,
        /** The owner has used up its share of the memory. */
        OWNER_FULL,
        FULL
    }

    /**
     * @param limit of the server
     * @param memory KiB for requests that returned their permits
     * @param needsNone whether the connection's current request needs no permit
     */
    RequestPermits(Limit limit, SharedPermits<String> memory, BooleanSupplier needsNone) {
        this.limit = limit;
        this.memory = memory;
        this.needsNone = needsNone;
    }

    @Override
    public Outcome tryAcquireOutcome(boolean wait) {
        if (needsNone.getAsBoolean()) {
            current = Optional.empty();
            return Outcome.immediateAcceptance(name(), type(), new NoPermit());
        }
        Outcome outcome = limit.tryAcquireOutcome(wait);
        current =
                outcome instanceof Outcome.Accepted accepted
                        ? Optional.of(new Permit(accepted.token()))
                        : Optional.empty();
        return current.map(permit -> accepted(outcome, permit)).orElse(outcome);
    }

    private static Outcome accepted(Outcome outcome, Permit permit) {
        return Outcome.immediateAcceptance(outcome.originName(), outcome.algorithmType(), permit);
    }

    /** The server no longer calls it, but its interface still requires it. */
    @Override
    @SuppressWarnings("removal")
    public Optional<Token> tryAcquire() {
        return tryAcquire(true);
    }

    /** See {@link #tryAcquire()}. */
    @Override
    @SuppressWarnings("removal")
    public Optional<Token> tryAcquire(boolean wait) {
        return tryAcquireOutcome(wait) instanceof Outcome.Accepted accepted
                ? Optional.of(accepted.token())
                : Optional.empty();
    }

    /**
     * Returns the current request's permit before its answer.
     *
     * @param owner whose share of the memory it uses
     * @param kibibytes that it keeps until it is answered
     * @return the reservation of memory; empty if the request has no permit any more
     */
    Optional<Reservation> release(String owner, int kibibytes) {
        return current.flatMap(permit -> permit.release(owner, kibibytes));
    }

    @Override
    public Limit copy() {
        return new RequestPermits(limit.copy(), memory, needsNone);
    }

    @Override
    public String name() {
        return limit.name();
    }

    @Override
    public String type() {
        return limit.type();
    }

    /** The permit of a request that needs none. */
    private record NoPermit() implements Token {
        @Override
        public void success() {}

        @Override
        public void dropped() {}

        @Override
        public void ignore() {}
    }

    /** One request's permit, or its memory after it returned the permit. */
    private final class Permit implements Token {
        private final Token token;
        private Optional<SharedPermits.Permit> reserved = Optional.empty();
        private boolean ended;

        Permit(Token token) {
            this.token = token;
        }

        Optional<Reservation> release(String owner, int kibibytes) {
            if (ended || reserved.isPresent()) {
                return Optional.empty();
            }
            reserved = memory.acquire(owner, kibibytes);
            if (reserved.isEmpty()) {
                return Optional.of(
                        memory.available(owner) < kibibytes
                                ? Reservation.OWNER_FULL
                                : Reservation.FULL);
            }
            token.success();
            return Optional.of(Reservation.RESERVED);
        }

        @Override
        public void success() {
            end(token::success);
        }

        @Override
        public void dropped() {
            end(token::dropped);
        }

        @Override
        public void ignore() {
            end(token::ignore);
        }

        private void end(Runnable unreserved) {
            if (!ended) {
                ended = true;
                reserved.ifPresentOrElse(SharedPermits.Permit::close, unreserved);
            }
        }
    }
}
