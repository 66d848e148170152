package io.mintmark.audit;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Rows of one request on their way to the store. They are committed together. Whoever waits for
 * them may give up as long as the writer hasn't taken them.
 */
final class Submission {
    private enum State {
        WAITING,
        TAKEN,
        ABANDONED
    }

    private final List<Event> events;
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
    private final CompletableFuture<Receipt> receipt = new CompletableFuture<>();

    Submission(List<Event> events) {
        this.events = List.copyOf(events);
    }

    List<Event> events() {
        return events;
    }

    /** The writer's: whether somebody still wants these rows written. */
    boolean take() {
        return state.compareAndSet(State.WAITING, State.TAKEN);
    }

    void committed(Receipt proof) {
        receipt.complete(proof);
    }

    void failed(RuntimeException cause) {
        receipt.completeExceptionally(cause);
    }

    /**
     * Waits until the rows are committed.
     *
     * @throws EventRefused see {@link EventStore#append}
     * @throws StoreUnreachable if the store can't be asked, or the time is over
     */
    Receipt await(long nanos) throws InterruptedException {
        try {
            return receipt.get(nanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            boolean never = state.compareAndSet(State.WAITING, State.ABANDONED);
            throw new StoreUnreachable("the audit log was not written in time", !never, e);
        } catch (ExecutionException e) {
            throw rethrown(e);
        }
    }

    private static RuntimeException rethrown(ExecutionException failure) {
        return switch (failure.getCause()) {
            case EventRefused refused -> new EventRefused("the audit log refused a row", refused);
            case StoreUnreachable gone ->
                    new StoreUnreachable(
                            "the audit log could not be written", gone.perhapsCommitted(), gone);
            case null, default -> new IllegalStateException("the audit writer failed", failure);
        };
    }
}
