package io.mintmark.outbound;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Looks names up on platform threads, of which there are only so many.
 *
 * <p>The system's look-up blocks in native code and can't be interrupted. On a virtual thread it
 * would hold one of the few that carry all of them; on a thread of its own it stays behind for as
 * long as the name server hangs. So a name is looked up once at a time, whoever asks; the names of
 * one domain, which have their name servers in common and mostly their tenant, get a quarter of the
 * threads; and who finds none free waits a moment and then fails, with few waiting.
 */
final class BoundedLookup implements NameLookup {
    /** Look-ups at a time. */
    static final int AT_A_TIME = 32;

    /** Look-ups at a time of names with the same last two labels. */
    static final int OF_A_DOMAIN = AT_A_TIME / 4;

    /** Look-ups that wait for a thread. */
    static final int WAITING = 256;

    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration PATIENCE_FOR_A_THREAD = Duration.ofSeconds(1);
    private static final Pattern DOMAIN = Pattern.compile("[^.]+\\.[^.]+$");

    private final NameLookup lookup;
    private final ConcurrentMap<String, Flight> underWay = new ConcurrentHashMap<>();
    private final Semaphore threads = new Semaphore(AT_A_TIME, true);
    private final Semaphore waiting = new Semaphore(WAITING);

    /** They last as long as somebody holds or awaits a permit. */
    private final LoadingCache<String, Semaphore> domains =
            Caffeine.newBuilder().weakValues().build(_ -> new Semaphore(OF_A_DOMAIN, true));

    /** A look-up that several may wait for. */
    private record Flight(CompletableFuture<InetAddress[]> addresses, long since) {
        Flight() {
            this(new CompletableFuture<>(), System.nanoTime());
        }

        /** How long is left of the time in which a name server answers. */
        long left() {
            return PATIENCE.toNanos() - (System.nanoTime() - since);
        }
    }

    BoundedLookup(NameLookup lookup) {
        this.lookup = lookup;
    }

    @Override
    public InetAddress[] addresses(String host) throws UnknownHostException {
        Flight own = new Flight();
        Flight flight = underWay.putIfAbsent(host, own);
        if (flight == null) {
            begin(host, own);
            flight = own;
        }
        return await(host, flight);
    }

    private void begin(String host, Flight flight) throws UnknownHostException {
        Semaphore ofDomain = domains.get(domain(host));
        try {
            acquire(host, ofDomain);
        } catch (UnknownHostException e) {
            end(host, flight).completeExceptionally(e);
            throw e;
        }
        Thread.ofPlatform()
                .daemon()
                .name("name-lookup")
                .start(() -> {
                    try {
                        InetAddress[] found = lookup.addresses(host);
                        end(host, flight).complete(found);
                    } catch (UnknownHostException | RuntimeException e) {
                        end(host, flight).completeExceptionally(e);
                    } finally {
                        threads.release();
                        ofDomain.release();
                    }
                });
    }

    private CompletableFuture<InetAddress[]> end(String host, Flight flight) {
        underWay.remove(host, flight);
        return flight.addresses();
    }

    /** The domain's first, so that who waits for its own domain takes nothing from others. */
    private void acquire(String host, Semaphore ofDomain) throws UnknownHostException {
        if (!waiting.tryAcquire()) {
            throw unknown(
                    "too many names wait to be looked up for %s to wait".formatted(host), null);
        }
        try {
            if (!isFree(ofDomain)) {
                throw unknown(
                        "too many names of the domain of " + host + " are being looked up", null);
            }
            if (!isFree(threads)) {
                ofDomain.release();
                throw unknown("too many names are being looked up to look up " + host, null);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unknown("given up while looking up " + host, e);
        } finally {
            waiting.release();
        }
    }

    private static boolean isFree(Semaphore threads) throws InterruptedException {
        return threads.tryAcquire(PATIENCE_FOR_A_THREAD.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static InetAddress[] await(String host, Flight flight) throws UnknownHostException {
        try {
            return flight.addresses().get(Math.max(0, flight.left()), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw unknown(host + " isn't known to the name server", e);
        } catch (TimeoutException e) {
            throw unknown("the name server didn't answer for " + host, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unknown("given up while looking up " + host, e);
        }
    }

    private static String domain(String host) {
        Matcher domain = DOMAIN.matcher(host);
        return domain.find() ? domain.group() : host;
    }

    private static UnknownHostException unknown(String message, @Nullable Exception cause) {
        UnknownHostException unknown = new UnknownHostException(message);
        unknown.initCause(cause);
        return unknown;
    }
}
