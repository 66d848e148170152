package io.mintmark.base.http.connection;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** Memory for requests that returned their permits. No owner may use more than half of it. */
final class RequestMemory {
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Integer> taken = new HashMap<>();
    private final int most;
    private int all;

    enum Reservation {
        RESERVED,
        /** Its owner would use more than half. */
        OWNER_FULL,
        FULL
    }

    /**
     * @param most in KiB
     */
    RequestMemory(int most) {
        this.most = most;
    }

    Reservation reserve(String owner, int kibibytes) {
        lock.lock();
        try {
            int own = taken.getOrDefault(owner, 0) + kibibytes;
            if (own > most / 2) {
                return Reservation.OWNER_FULL;
            }
            if (all + kibibytes > most) {
                return Reservation.FULL;
            }
            taken.put(owner, own);
            all += kibibytes;
            return Reservation.RESERVED;
        } finally {
            lock.unlock();
        }
    }

    /** Ends a reservation, once its request is answered. */
    void free(String owner, int kibibytes) {
        lock.lock();
        try {
            taken.computeIfPresent(owner, (_, own) -> own == kibibytes ? null : own - kibibytes);
            all -= kibibytes;
        } finally {
            lock.unlock();
        }
    }

    /** The unreserved memory, in KiB. */
    int available() {
        lock.lock();
        try {
            return most - all;
        } finally {
            lock.unlock();
        }
    }
}
