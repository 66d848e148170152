package io.mintmark.outbound;

import io.mintmark.config.Cidr;
import io.mintmark.config.HttpUrl;

import org.apache.hc.client5.http.DnsResolver;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/** Resolves once, and lets only permitted addresses through. */
final class GuardedResolver implements DnsResolver {
    private final Destinations destinations;
    private final NameLookup lookup;

    GuardedResolver(Destinations destinations, NameLookup lookup) {
        this.destinations = destinations;
        this.lookup = lookup;
    }

    @Override
    public InetAddress[] resolve(String host) throws UnknownHostException {
        InetAddress[] all = addresses(HttpUrl.plain(host));
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

    /** Never queried: it would show the owner of a name server what the broker connects to. */
    @Override
    public String resolveCanonicalHostname(String host) {
        return host;
    }

    private InetAddress[] addresses(String host) throws UnknownHostException {
        if (Cidr.isAddress(host)) {
            return new InetAddress[] {literal(host)};
        }
        return lookup.addresses(host);
    }

    private static InetAddress literal(String host) throws UnknownHostException {
        try {
            return Cidr.address(host);
        } catch (IllegalArgumentException e) {
            UnknownHostException unknown = new UnknownHostException(host + " isn't an address");
            unknown.initCause(e);
            throw unknown;
        }
    }

    private RefusedDestination refused(String host, InetAddress[] addresses) {
        String address = addresses[0].getHostAddress();
        String kind = destinations.objection(host, addresses[0]).orElse("refused");
        return new RefusedDestination(
                "%s is at %s, an address that is %s; to let the broker connect there, list it in %s"
                        .formatted(host, address, kind, Destinations.SETTING));
    }
}
