package io.mintmark.http.connection;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** Memory for requests that returned their permits. No owner may use more than half of it. */
final class RequestRoom {
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Integer> taken = new HashMap<>();
    private final int most;
    private int all;

    /** What becomes of a request that wants to come in. */
    enum Entry {
        ENTERED,
        /** Its owner has half already. */
        OWNER_FULL,
        FULL
    }

    /**
     * @param most in KiB
     */
    RequestRoom(int most) {
        this.most = most;
    }

    Entry enter(String owner, int kibibytes) {
        lock.lock();
        try {
            int own = taken.getOrDefault(owner, 0) + kibibytes;
            if (own > most / 2) {
                return Entry.OWNER_FULL;
            }
            if (all + kibibytes > most) {
                return Entry.FULL;
            }
            taken.put(owner, own);
            all += kibibytes;
            return Entry.ENTERED;
        } finally {
            lock.unlock();
        }
    }

    /** One that had entered is answered. */
    void leave(String owner, int kibibytes) {
        lock.lock();
        try {
            taken.computeIfPresent(owner, (_, own) -> own == kibibytes ? null : own - kibibytes);
            all -= kibibytes;
        } finally {
            lock.unlock();
        }
    }

    /** How much is free, in KiB. */
    int free() {
        lock.lock();
        try {
            return most - all;
        } finally {
            lock.unlock();
        }
    }
}
