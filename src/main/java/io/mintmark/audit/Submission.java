package io.mintmark.audit;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.time.Timeout;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Rows of one request on their way to the store, committed together. The waiting request may cancel
 * until the writer has taken them.
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

    /** Whether one of these rows is the intent of a mint. */
    boolean hasIntent() {
        return events.stream().anyMatch(event -> event.kind() == Kind.REQUESTED);
    }

    /** The tenant that starts a mint with these rows; empty for outcomes. */
    Optional<TenantName> beginnerOf() {
        return events.stream()
                .limit(1)
                .filter(event -> event.kind() == Kind.REQUESTED || event.kind() == Kind.DENIED)
                .flatMap(event -> event.subject().stream())
                .flatMap(subject -> subject.tenant().stream())
                .findFirst();
    }

    /** Whether a request still waits for these rows, or the writer has taken them. */
    boolean isWanted() {
        return state.get() != State.ABANDONED;
    }

    /** Takes the rows for the writer, unless the request has cancelled them. */
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
     * Waits until the rows are committed. An interrupt cancels them if the writer hasn't taken them
     * yet; otherwise the method still waits for the commit.
     *
     * @throws EventRefused see {@link EventStore#append}, and for values that don't fit into a row
     * @throws StoreUnreachable if the store can't be asked, or the time is over
     */
    Receipt await(Duration timeout) {
        boolean interrupted = false;
        try (Timeout _ = Timeout.after(timeout, this::giveUp)) {
            while (true) {
                try {
                    return receipt.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                    giveUpUnlessTaken(e);
                }
            }
        } catch (ExecutionException e) {
            throw rethrown(e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The rows may still be written if the writer has taken them. */
    private void giveUp() {
        boolean taken = !state.compareAndSet(State.WAITING, State.ABANDONED);
        failed(new StoreUnreachable("the audit log was not written in time", taken, null));
    }

    private void giveUpUnlessTaken(Exception cause) {
        if (state.compareAndSet(State.WAITING, State.ABANDONED)) {
            throw new StoreUnreachable("the wait for the audit log was interrupted", false, cause);
        }
    }

    private static RuntimeException rethrown(ExecutionException failure) {
        return failure.getCause() instanceof StoreUnreachable gone
                ? new StoreUnreachable(
                        "the audit log could not be written", gone.perhapsCommitted(), gone)
                : new EventRefused(
                        "the audit log rejected a row",
                        Objects.requireNonNullElse(failure.getCause(), failure));
    }
}
