package io.mintmark.base.outbound;

import io.mintmark.base.limit.SharedPermits;
import io.mintmark.base.limit.SharedPermits.Permit;
import io.mintmark.base.thread.HelperThread;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Resolves names on a limited number of platform threads.
 *
 * <p>The system's resolver blocks in native code and can't be interrupted. On a virtual thread it
 * would block one of the few carriers; a platform thread is stuck for as long as the name server
 * hangs. Therefore concurrent look-ups of a name are shared, the names of one tenant get a few of
 * the threads, a look-up without a free thread fails after a second, and only a few may wait.
 */
final class BoundedLookup {
    /** Look-ups at a time. */
    static final int AT_A_TIME = 256;

    /**
     * Look-ups at a time for one owner: the name servers of 64 tenants must hang before those of
     * another are affected.
     */
    static final int OF_AN_OWNER = AT_A_TIME / 64;

    /** Look-ups that wait for a thread, or have one. */
    static final int WAITING = 1024;

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final Duration PATIENCE_FOR_A_THREAD = Duration.ofSeconds(1);

    private final NameLookup lookup;
    private final Executor starting;
    private final ConcurrentMap<String, Flight> inFlight = new ConcurrentHashMap<>();
    private final SharedPermits<String> threads = new SharedPermits<>(AT_A_TIME, OF_AN_OWNER);
    private final SharedPermits<String> places = new SharedPermits<>(WAITING, WAITING / 64);

    /** The owner's look-ups, or all look-ups, are too many for one more. */
    static final class TooManyLookups extends UnknownHostException {
        private static final long serialVersionUID = 1L;

        TooManyLookups(String message) {
            super(message);
        }
    }

    /** A look-up that several may wait for. */
    private record Flight(String owner, CompletableFuture<InetAddress[]> addresses, long since) {
        Flight(String owner) {
            this(owner, new CompletableFuture<>(), System.nanoTime());
        }

        /** The time that is left for the name servers to answer. */
        long left() {
            return TIMEOUT.toNanos() - (System.nanoTime() - since);
        }
    }

    BoundedLookup(NameLookup lookup) {
        this(lookup, task -> HelperThread.start("name-lookup", task));
    }

    /**
     * @param starting starts a thread for each task, or throws
     */
    BoundedLookup(NameLookup lookup, Executor starting) {
        this.lookup = lookup;
        this.starting = starting;
    }

    /**
     * The addresses of a name.
     *
     * @param owner a tenant's name, or empty for the broker itself
     */
    InetAddress[] addresses(String owner, String host) throws UnknownHostException {
        while (true) {
            Flight own = new Flight(owner);
            Flight flight = inFlight.putIfAbsent(host, own);
            if (flight == null) {
                begin(host, own);
                flight = own;
            }
            try {
                return await(host, flight);
            } catch (TooManyLookups e) {
                // that another owner has too many is no reason to fail for this one
                if (flight.owner().equals(owner)) {
                    throw e;
                }
            }
        }
    }

    private void begin(String host, Flight flight) {
        Permit thread;
        try {
            thread = thread(flight.owner(), host);
        } catch (TooManyLookups e) {
            end(host, flight).completeExceptionally(e);
            return;
        }
        try {
            starting.execute(() -> {
                try (thread) {
                    InetAddress[] found = lookup.addresses(host);
                    end(host, flight).complete(found);
                } catch (UnknownHostException | RuntimeException | Error e) {
                    end(host, flight).completeExceptionally(e);
                }
            });
        } catch (RuntimeException | Error e) {
            // for example, the system has no more threads; the next look-up may get one
            thread.close();
            end(host, flight).completeExceptionally(e);
        }
    }

    private CompletableFuture<InetAddress[]> end(String host, Flight flight) {
        inFlight.remove(host, flight);
        return flight.addresses();
    }

    private Permit thread(String owner, String host) throws TooManyLookups {
        try (Permit _ =
                places.acquire(owner, Duration.ZERO)
                        .orElseThrow(() ->
                                new TooManyLookups(
                                        ("too many DNS lookups are waiting; %s was not looked "
                                                        + "up")
                                                .formatted(host)))) {
            return threads.acquire(owner, PATIENCE_FOR_A_THREAD)
                    .orElseThrow(() ->
                            new TooManyLookups(
                                    "too many DNS lookups are in progress to look up " + host));
        }
    }

    private static InetAddress[] await(String host, Flight flight) throws UnknownHostException {
        try {
            return flight.addresses().get(Math.max(0, flight.left()), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof TooManyLookups tooMany) {
                throw tooMany;
            }
            throw unknown(
                    e.getCause() instanceof UnknownHostException
                            ? host + " is unknown to the name server"
                            : "%s could not be resolved: %s".formatted(host, e.getCause()),
                    e);
        } catch (TimeoutException e) {
            throw unknown("the name server didn't answer for " + host, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unknown("interrupted while looking up " + host, e);
        }
    }

    private static UnknownHostException unknown(String message, @Nullable Exception cause) {
        UnknownHostException unknown = new UnknownHostException(message);
        unknown.initCause(cause);
        return unknown;
    }
}
