package io.mintmark.http.connection;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Conversations that share a bound. When it is nearly reached, it makes room by hanging up on the
 * clients that have been waited for longest, so that those who hold connections without using them
 * don't keep out those who would.
 */
final class Crowd {
    /** This part of the bound is kept free. */
    private static final int ONE_IN = 16;

    private final Set<Conversation> members = ConcurrentHashMap.newKeySet();
    private final ReentrantLock makingRoom = new ReentrantLock();
    private final int room;
    private final int most;

    Crowd(int bound) {
        this.room = Math.max(1, bound / ONE_IN);
        this.most = bound - room;
    }

    void join(Conversation conversation) {
        members.add(conversation);
        makeRoom();
    }

    void leave(Conversation conversation) {
        members.remove(conversation);
    }

    /** Hangs up on everybody who has been waited for too long. */
    void sweep() {
        hangUp(members.stream().filter(Conversation::isOverdue).toList());
        makeRoom();
    }

    /** Hangs up on everybody who has no request under way. */
    void sendHome() {
        hangUp(members.stream().filter(Conversation::isIdle).toList());
    }

    private void makeRoom() {
        if (members.size() > most && makingRoom.tryLock()) {
            try {
                hangUp(longestWaitedFor(members.size() - most + room));
            } finally {
                makingRoom.unlock();
            }
        }
    }

    private List<Conversation> longestWaitedFor(int count) {
        return members.stream()
                .filter(Conversation::isWaitingForClient)
                .map(conversation -> new Wait(conversation, conversation.age()))
                .sorted(Comparator.comparingLong(Wait::nanos).reversed())
                .limit(count)
                .map(Wait::conversation)
                .toList();
    }

    private void hangUp(List<Conversation> conversations) {
        for (Conversation conversation : conversations) {
            conversation.hangUp();
            leave(conversation);
        }
    }

    /** Taken once: ages grow while they are sorted. */
    private record Wait(Conversation conversation, long nanos) {}
}
