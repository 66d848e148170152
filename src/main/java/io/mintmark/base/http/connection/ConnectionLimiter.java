package io.mintmark.base.http.connection;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import io.mintmark.base.limit.Network;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Connections that share a limit. When it is nearly reached, connections that wait for their
 * clients are closed, so that clients that hold idle connections, or don't read their responses,
 * can't keep others out: the longest waits of those networks that have more than an equal share. An
 * answer then ends its connection, so that clients that are never idle can't keep others out
 * either.
 */
final class ConnectionLimiter {
    /** One of so many connections is kept free. */
    private static final int ONE_IN = 16;

    private final Set<ConnectionState> members = ConcurrentHashMap.newKeySet();
    private final ReentrantLock makingRoom = new ReentrantLock();
    private final int room;
    private final int most;

    ConnectionLimiter(int bound) {
        this.room = Math.max(1, bound / ONE_IN);
        this.most = bound - room;
    }

    void join(ConnectionState state) {
        members.add(state);
        makeRoom();
    }

    void leave(ConnectionState state) {
        members.remove(state);
    }

    /** Whether only the places are left that are kept free. */
    boolean isNearlyFull() {
        return members.size() > most;
    }

    boolean isEmpty() {
        return members.isEmpty();
    }

    /** Closes connections whose clients are overdue. */
    void closeOverdue() {
        members.removeIf(ConnectionState::closeIfOverdue);
        makeRoom();
    }

    /** Closes connections without a request in flight. */
    void closeIdle() {
        members.removeIf(ConnectionState::closeIfIdle);
    }

    private void makeRoom() {
        if (members.size() > most && makingRoom.tryLock()) {
            try {
                makeRoom(members.size() - most);
            } finally {
                makingRoom.unlock();
            }
        }
    }

    /**
     * @param over how many are too many; none if others have left meanwhile
     */
    private void makeRoom(int over) {
        if (over > 0) {
            longestWaits(over + room).stream()
                    .filter(ClientWait::end)
                    .forEach(wait -> leave(wait.state()));
        }
    }

    /** The longest waits for clients that have more connections than an equal share of all. */
    private List<ClientWait> longestWaits(int count) {
        Map<Network, Long> ofClient =
                members.stream().collect(groupingBy(ConnectionState::client, counting()));
        long share = most / Math.max(1, ofClient.size());
        return ClientWait.longest(
                        members.stream()
                                .filter(state -> ofClient.getOrDefault(state.client(), 0L) > share))
                .limit(count)
                .toList();
    }
}
