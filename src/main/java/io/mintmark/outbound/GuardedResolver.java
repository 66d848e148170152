package io.mintmark.outbound;

import org.apache.hc.client5.http.DnsResolver;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Resolves once, and lets only permitted addresses through.
 *
 * <p>The system's look-up blocks in native code and can't be interrupted. It gets a platform thread
 * of its own, so that a name server that hangs costs those who wait for it a few seconds, and not
 * the few threads that carry all virtual ones.
 */
final class GuardedResolver implements DnsResolver {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Destinations destinations;
    private final NameLookup lookup;

    GuardedResolver(Destinations destinations, NameLookup lookup) {
        this.destinations = destinations;
        this.lookup = lookup;
    }

    @Override
    public InetAddress[] resolve(String host) throws UnknownHostException {
        InetAddress[] all = addresses(Destinations.plain(host));
        InetAddress[] permitted =
                Arrays.stream(all)
                        .filter(address -> destinations.objection(host, address).isEmpty())
                        .toArray(InetAddress[]::new);
        if (permitted.length == 0) {
            throw refused(host, all);
        }
        return permitted;
    }

    @Override
    public List<InetSocketAddress> resolve(String host, int port) throws UnknownHostException {
        return Arrays.stream(resolve(host))
                .map(address -> new InetSocketAddress(address, port))
                .toList();
    }

    /** Never asked: it would tell a name server's owner what the broker connects to. */
    @Override
    public String resolveCanonicalHostname(String host) {
        return host;
    }

    private InetAddress[] addresses(String host) throws UnknownHostException {
        if (AddressRange.isLiteral(host)) {
            return new InetAddress[] {literal(host)};
        }
        FutureTask<InetAddress[]> call = new FutureTask<>(() -> lookup.addresses(host));
        Thread.ofPlatform().daemon().name("name-lookup").start(call);
        try {
            return call.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw unknown(host + " isn't known to the name server", e);
        } catch (TimeoutException e) {
            throw unknown("the name server didn't answer for " + host, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unknown("given up while looking up " + host, e);
        }
    }

    private static InetAddress literal(String host) throws UnknownHostException {
        try {
            return AddressRange.literal(host);
        } catch (IllegalArgumentException e) {
            throw unknown(host + " isn't an address", e);
        }
    }

    private RefusedDestination refused(String host, InetAddress[] addresses) {
        String address = addresses[0].getHostAddress();
        String kind = destinations.objection(host, addresses[0]).orElse("refused");
        return new RefusedDestination(
                "%s is at %s, an address that is %s; to let the broker connect there, list it in %s"
                        .formatted(host, address, kind, Destinations.SETTING));
    }

    private static UnknownHostException unknown(String message, Exception cause) {
        UnknownHostException unknown = new UnknownHostException(message);
        unknown.initCause(cause);
        return unknown;
    }
}
