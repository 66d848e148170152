package io.mintmark.base.http.connection;

import static java.util.stream.Collectors.groupingBy;

import io.mintmark.base.limit.Network;

import org.jspecify.annotations.Nullable;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * Memory for answers that their clients have yet to take. Without a bound, clients that don't read
 * make the process hold all that they ask for. A document that many ask for counts once, and its
 * readers count what each of them is being sent.
 *
 * <p>No address uses more than half of the memory, and neither do the readers of one document. When
 * there is none left, the longest waits of those end that use more than an equal share: clients
 * that read are served beside clients that don't.
 */
final class AnswerMemory {
    /** The number of connections bounds shorter answers. */
    static final int LEAST_COUNTED = 16 << 10;

    /** Bytes in transit to a reader of a shared document: a piece, and the server's copy. */
    static final int PIECE = 16 << 10;

    private static final int OF_READER = 2 * PIECE;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<ConnectionState, Held> held = new HashMap<>();
    private final long most;

    /** The memory of one connection. A document is known by its array, which is never written. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Held(
            ConnectionState state, Network client, long own, byte @Nullable [] document) {}

    /**
     * @param most in bytes
     */
    AnswerMemory(long most) {
        this.most = most;
    }

    /** Reserves memory for a response of so many bytes; empty if there is none. */
    Optional<AnswerHold> hold(ConnectionState state, Network client, long bytes) {
        return hold(new Held(state, client, bytes, null));
    }

    /** Memory for a reader of a document that others read too; empty if there is none. */
    Optional<AnswerHold> holdShared(ConnectionState state, Network client, byte[] document) {
        return hold(new Held(state, client, OF_READER, document));
    }

    /** Holds an answer that must not be lost: it counts, whether there is memory or not. */
    AnswerHold holdAnyway(ConnectionState state, Network client, long bytes) {
        Held one = new Held(state, client, bytes, null);
        return hold(one)
                .orElseGet(() -> {
                    lock.lock();
                    try {
                        return kept(one);
                    } finally {
                        lock.unlock();
                    }
                });
    }

    boolean isHeldBy(ConnectionState state) {
        lock.lock();
        try {
            return held.containsKey(state);
        } finally {
            lock.unlock();
        }
    }

    /** The memory in use, in bytes. */
    long used() {
        lock.lock();
        try {
            return bytes(held.values());
        } finally {
            lock.unlock();
        }
    }

    private Optional<AnswerHold> hold(Held one) {
        lock.lock();
        try {
            while (!fits(one)) {
                if (!makeRoom(one)) {
                    return Optional.empty();
                }
            }
            return Optional.of(kept(one));
        } finally {
            lock.unlock();
        }
    }

    private AnswerHold kept(Held one) {
        held.put(one.state, one);
        return new AnswerHold(() -> free(one));
    }

    private void free(Held one) {
        lock.lock();
        try {
            held.remove(one.state, one);
        } finally {
            lock.unlock();
        }
    }

    private boolean fits(Held one) {
        return bytes(with(one, held.values())) <= most
                && bytes(with(one, ofClient(one))) <= most / 2
                && ownBytes(with(one, ofDocument(one))) <= most / 2;
    }

    /** Ends the longest wait for a client where there is too little; false if nobody waits. */
    private boolean makeRoom(Held one) {
        if (ownBytes(with(one, ofDocument(one))) > most / 2) {
            return endLongestWait(ofDocument(one));
        }
        if (bytes(with(one, ofClient(one))) > most / 2) {
            return endLongestWait(ofClient(one));
        }
        return endLongestWait(aboveTheirShare());
    }

    private boolean endLongestWait(Collection<Held> among) {
        Optional<ClientWait> ended =
                ClientWait.longest(among.stream().map(Held::state))
                        .filter(ClientWait::end)
                        .findFirst();
        ended.ifPresent(wait -> held.remove(wait.state()));
        return ended.isPresent();
    }

    private Collection<Held> ofClient(Held one) {
        return held.values().stream().filter(other -> other.client.equals(one.client)).toList();
    }

    @SuppressWarnings("ReferenceEquality") // a shared document is one array
    private Collection<Held> ofDocument(Held one) {
        return one.document == null
                ? List.of()
                : held.values().stream().filter(other -> other.document == one.document).toList();
    }

    private Collection<Held> aboveTheirShare() {
        Map<Network, List<Held>> byClient =
                held.values().stream().collect(groupingBy(Held::client));
        long share = most / Math.max(1, byClient.size() + 1);
        Set<Held> above = new HashSet<>();
        byClient.values().stream().filter(its -> bytes(its) > share).forEach(above::addAll);
        return above;
    }

    private static List<Held> with(Held one, Collection<Held> others) {
        return Stream.concat(Stream.of(one), others.stream()).toList();
    }

    /**
     * The memory of all holds, in bytes. A shared document counts once, however many connections
     * send it.
     */
    private static long bytes(Collection<Held> all) {
        Set<byte[]> documents = Collections.newSetFromMap(new IdentityHashMap<>());
        all.stream().map(Held::document).filter(Objects::nonNull).forEach(documents::add);
        return ownBytes(all) + documents.stream().mapToLong(document -> document.length).sum();
    }

    private static long ownBytes(Collection<Held> all) {
        return all.stream().mapToLong(Held::own).sum();
    }
}
