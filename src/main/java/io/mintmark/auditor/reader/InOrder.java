package io.mintmark.auditor.reader;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Works on items on several threads, by the batch, and hands over the results in the order of the
 * items on the caller's thread.
 */
final class InOrder<A, B> implements AutoCloseable {
    /** The size of a batch, in characters or bytes, more for the last item. */
    private static final int BATCH = 128 * 1024;

    private final Function<A, B> work;
    private final Consumer<B> sink;
    private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore working;
    private final int ahead;
    private final Deque<Future<List<B>>> batches = new ArrayDeque<>();
    private List<A> batch = new ArrayList<>();
    private int size;

    /**
     * @param work is done on any thread
     * @param threads that work beside the caller's
     */
    InOrder(int threads, Function<A, B> work, Consumer<B> sink) {
        this.working = new Semaphore(threads);
        this.ahead = threads + 1; // one waits, so that no thread does while the caller is busy
        this.work = work;
        this.sink = sink;
    }

    void add(A item, int length) {
        batch.add(item);
        size += length;
        if (size >= BATCH) {
            if (batches.size() == ahead) {
                takeFirst();
            }
            submit();
        }
    }

    private void submit() {
        List<A> items = batch;
        batch = new ArrayList<>();
        size = 0;
        batches.add(workers.submit(() -> worked(items)));
    }

    private List<B> worked(List<A> items) throws InterruptedException {
        working.acquire();
        try {
            return items.stream().map(work).toList();
        } finally {
            working.release();
        }
    }

    private void takeFirst() {
        try {
            batches.remove().get().forEach(sink);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Hands over all results. */
    void flush() {
        submit();
        while (!batches.isEmpty()) {
            takeFirst();
        }
    }

    @Override
    public void close() {
        workers.shutdownNow();
    }
}
