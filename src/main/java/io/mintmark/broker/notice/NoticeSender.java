package io.mintmark.broker.notice;

import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.KeyedTasks;
import io.mintmark.base.thread.ThreadName;
import io.mintmark.base.time.Backoff;
import io.mintmark.broker.notice.NoticeListener.Outcome;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * Sends the notices of all tenants, at least once each and in their order. Every replica does it; a
 * tenant's notices belong to the one that has claimed them. A replica sends the notices of a tenant
 * one after the other, so that a receiver that is down or slow delays no other tenant's.
 */
public final class NoticeSender implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(NoticeSender.class);
    private static final Duration PERIOD = Duration.ofSeconds(1);

    /** Tenants whose notices one replica sends at a time. */
    private static final int MOST_TENANTS = 64;

    /** The time for which a tenant's notices are claimed. Ten notices take no longer. */
    private static final Duration LEASE = NoticeDelivery.TIMEOUT.multipliedBy(12);

    private static final Backoff BACKOFF =
            new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(15));

    private final NoticeStore store;
    private final NoticeDelivery delivery;
    private final RandomGenerator random;
    private final NoticeListener listener;
    private final KeyedTasks<TenantName> running = new KeyedTasks<>(MOST_TENANTS);
    private final BackgroundThread thread =
            BackgroundThread.repeating(ThreadName.NOTICES, Duration.ZERO, this::round);
    private boolean failing;

    /**
     * @param random spreads the tries of several replicas
     */
    public NoticeSender(
            NoticeStore store,
            NoticeDelivery delivery,
            RandomGenerator random,
            NoticeListener listener) {
        this.store = store;
        this.delivery = delivery;
        this.random = random;
        this.listener = listener;
    }

    public NoticeSender start() {
        var _ = thread.start();
        return this;
    }

    private Duration round() {
        try {
            int free = running.free();
            if (free > 0) {
                store.take(free, LEASE, running.running()).stream()
                        .collect(Collectors.groupingBy(AccessNotice::tenant))
                        .forEach(this::begin);
            }
            failing = false;
        } catch (RuntimeException e) {
            if (!failing) {
                log.warn("Notices can't be sent now; the broker retries every second", e);
            }
            failing = true;
        }
        return PERIOD;
    }

    private void begin(TenantName tenant, List<AccessNotice> notices) {
        if (!running.start(tenant, "notices-" + tenant, _ -> true, () -> send(tenant, notices))) {
            notices.forEach(store::release);
        }
    }

    private void send(TenantName tenant, List<AccessNotice> notices) {
        try {
            send(notices);
        } catch (QueryFailed e) {
            log.warn(
                    "Notices of tenant '{}' may be sent twice, because their delivery could not"
                            + " be recorded",
                    tenant,
                    e);
        }
    }

    /** A receiver that doesn't take one notice isn't asked to take the others at once. */
    private void send(List<AccessNotice> notices) {
        int sent = 0;
        while (sent < notices.size() && send(notices.get(sent))) {
            sent++;
        }
        notices.stream().skip(sent + 1L).forEach(store::release);
    }

    /** Sends a notice. Returns whether the receiver accepted it. */
    private boolean send(AccessNotice notice) {
        Optional<String> failure = delivery.send(notice);
        if (failure.isPresent()) {
            postpone(notice, failure.get());
            return false;
        }
        store.confirm(notice);
        listener.tried(Outcome.SENT);
        return true;
    }

    private void postpone(AccessNotice notice, String failure) {
        if (store.postpone(notice, BACKOFF.pause(notice.tries() + 1, random), failure)) {
            listener.tried(Outcome.FAILED);
            if (notice.tries() == 0) {
                log.warn(
                        "A notice of tenant '{}' could not be sent; the broker retries: {}",
                        notice.tenant(),
                        failure);
            }
        } else {
            listener.tried(Outcome.DROPPED);
            log.error(
                    "Notice {} of tenant '{}' about request {} was dropped after its last try: {}",
                    notice.id(),
                    notice.tenant(),
                    notice.request(),
                    failure);
        }
    }

    /** Claims no more notices, and waits for those that are being sent. */
    @Override
    public void close() {
        thread.stop(PERIOD);
        running.awaitIdle(NoticeDelivery.TIMEOUT);
    }
}
