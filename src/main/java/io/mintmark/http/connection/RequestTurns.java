package io.mintmark.http.connection;

import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.concurrency.limits.LimitAlgorithm;
import io.mintmark.http.connection.RequestRoom.Entry;

import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The permits of one connection's requests among those that the server processes at a time. A
 * request may return its permit before it is answered, as far as there is memory for such requests.
 * Some requests need no permit.
 *
 * <p>Used by the connection's own thread only.
 */
final class RequestTurns implements Limit {
    private final Limit limit;
    private final RequestRoom room;
    private final BooleanSupplier needsNone;
    private Optional<Turn> current = Optional.empty();

    /**
     * @param limit of the server
     * @param room memory for requests that returned their permits
     * @param needsNone whether the connection's current request needs no permit
     */
    RequestTurns(Limit limit, RequestRoom room, BooleanSupplier needsNone) {
        this.limit = limit;
        this.room = room;
        this.needsNone = needsNone;
    }

    @Override
    public Optional<LimitAlgorithm.Token> tryAcquire(boolean wait) {
        if (needsNone.getAsBoolean()) {
            current = Optional.empty();
            return Optional.of(new NoTurn());
        }
        current = limit.tryAcquire(wait).map(Turn::new);
        return current.map(turn -> turn);
    }

    /**
     * The request that is worked on gives its turn back.
     *
     * @param owner who answers for it
     * @param kibibytes that it keeps until it is answered
     * @return whether it did; nothing if there is none, or it has given it back before
     */
    Optional<Entry> giveBack(String owner, int kibibytes) {
        return current.flatMap(turn -> turn.giveBack(owner, kibibytes));
    }

    @Override
    public Limit copy() {
        return new RequestTurns(limit.copy(), room, needsNone);
    }

    @Override
    public String name() {
        return limit.name();
    }

    @Override
    public String type() {
        return limit.type();
    }

    /** Of a request that needs no turn. */
    private record NoTurn() implements LimitAlgorithm.Token {
        @Override
        public void success() {}

        @Override
        public void dropped() {}

        @Override
        public void ignore() {}
    }

    /** One request's permit, or its memory after it returned the permit. */
    private final class Turn implements LimitAlgorithm.Token {
        private final LimitAlgorithm.Token token;
        private Optional<Runnable> leaving = Optional.empty();
        private boolean ended;

        Turn(LimitAlgorithm.Token token) {
            this.token = token;
        }

        Optional<Entry> giveBack(String owner, int kibibytes) {
            if (ended || leaving.isPresent()) {
                return Optional.empty();
            }
            Entry entry = room.enter(owner, kibibytes);
            if (entry == Entry.ENTERED) {
                leaving = Optional.of(() -> room.leave(owner, kibibytes));
                token.success();
            }
            return Optional.of(entry);
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

        private void end(Runnable turn) {
            if (!ended) {
                ended = true;
                leaving.orElse(turn).run();
            }
        }
    }
}
