package io.mintmark.broker.lease;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;
import io.mintmark.broker.lease.LeaseStore.Due;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Looks every second at which access providers mints are to be ended, and ends them: at each access
 * provider one at a time, and at no more of a tenant than a quarter of its concurrent calls. Every
 * replica does it; a mint belongs to the one that has claimed it.
 */
public final class LeaseRevocations implements AutoCloseable {
    /** The access providers at which one replica ends mints at a time. */
    static final int MOST = 64;

    private static final Logger log = LoggerFactory.getLogger(LeaseRevocations.class);
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final LeaseStore store;
    private final ProviderLeases ending;
    private final Duration timeout;
    private final Set<ProviderId> running = new HashSet<>();
    private final BackgroundThread thread =
            BackgroundThread.repeating(ThreadName.ENDINGS, Duration.ZERO, this::round);
    private boolean failing;

    /**
     * @param timeout how long a mint that is being ended may hold up the end of the process
     */
    public LeaseRevocations(LeaseStore store, ProviderLeases ending, Duration timeout) {
        this.store = store;
        this.ending = ending;
        this.timeout = timeout;
    }

    public LeaseRevocations start() {
        var _ = thread.start();
        return this;
    }

    private Duration round() {
        try {
            store.noteRequests();
            List<Due> due = new ArrayList<>(store.due(ending.types()));
            Collections.shuffle(due);
            due.forEach(this::begin);
            failing = false;
        } catch (RuntimeException e) {
            if (!failing) {
                log.warn("Mints can't be ended now; the broker retries every second", e);
            }
            failing = true;
        }
        return PERIOD;
    }

    private void begin(Due due) {
        if (ending.isPaused(due.provider()) || !enter(due)) {
            return;
        }
        Thread.ofVirtual()
                .name("ending-" + due.provider().tenant() + "-" + due.provider().name())
                .start(() -> {
                    try {
                        ending.run(due);
                    } catch (RuntimeException e) {
                        log.warn(
                                "Mints of access provider {} can't be ended now",
                                due.provider(),
                                e);
                    } finally {
                        leave(due.provider());
                    }
                });
    }

    private synchronized boolean enter(Due due) {
        TenantName tenant = due.provider().tenant();
        long ofTenant = running.stream().filter(each -> each.tenant().equals(tenant)).count();
        return running.size() < MOST
                && ofTenant < Math.max(1, due.maxCalls() / 4)
                && running.add(due.provider());
    }

    private synchronized void leave(ProviderId provider) {
        running.remove(provider);
        notifyAll();
    }

    /** Claims no more mints, and waits for those that are being ended. */
    @Override
    public void close() {
        thread.stop(PERIOD);
        ending.stop();
        awaitIdle();
    }

    private synchronized void awaitIdle() {
        long end = System.nanoTime() + timeout.toNanos();
        try {
            while (!running.isEmpty() && end - System.nanoTime() > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, end - System.nanoTime());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
