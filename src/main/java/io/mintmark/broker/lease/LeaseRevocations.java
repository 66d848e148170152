package io.mintmark.broker.lease;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.KeyedTasks;
import io.mintmark.base.thread.ThreadName;
import io.mintmark.broker.lease.LeaseStore.Due;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

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

    /** The rounds between two looks at all access providers, which take as long as there are. */
    private static final int ROUNDS = 60;

    private final LeaseStore store;
    private final ProviderLeases ending;
    private final Duration timeout;
    private final KeyedTasks<ProviderId> running = new KeyedTasks<>(MOST);
    private final BackgroundThread thread =
            BackgroundThread.repeating(ThreadName.ENDINGS, Duration.ZERO, this::round);
    private int rounds;
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
            if (rounds == 0) {
                store.noteProviders();
            }
            rounds = (rounds + 1) % ROUNDS;
            List<Due> due = new ArrayList<>(store.due(ending.types()));
            Collections.shuffle(due);
            due.forEach(this::begin);
            failing = false;
        } catch (RuntimeException e) {
            if (!failing) {
                log.warn(
                        "Credentials can't be revoked at their providers now; the broker retries every second",
                        e);
            }
            failing = true;
        }
        return PERIOD;
    }

    private void begin(Due due) {
        ProviderId provider = due.provider();
        if (!ending.isPaused(provider)) {
            String thread = "ending-" + provider.tenant() + "-" + provider.name();
            var _ =
                    running.start(
                            provider, thread, others -> leavesCalls(due, others), () -> end(due));
        }
    }

    /** Whether three quarters of the tenant's calls stay available for mints. */
    private static boolean leavesCalls(Due due, Set<ProviderId> others) {
        TenantName tenant = due.provider().tenant();
        long ofTenant = others.stream().filter(each -> each.tenant().equals(tenant)).count();
        return ofTenant < Math.max(1, due.maxCalls() / 4);
    }

    private void end(Due due) {
        try {
            ending.run(due);
        } catch (RuntimeException e) {
            log.warn(
                    "Credentials of access provider {} can't be revoked now; the broker keeps retrying",
                    due.provider(),
                    e);
        }
    }

    /** Claims no more mints, and waits for those that are being ended. */
    @Override
    public void close() {
        thread.stop(PERIOD);
        ending.stop();
        running.awaitIdle(timeout);
    }
}
