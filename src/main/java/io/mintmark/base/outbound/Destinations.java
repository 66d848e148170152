package io.mintmark.base.outbound;

import io.mintmark.base.config.AllowedHosts;
import io.mintmark.base.config.Cidr;
import io.mintmark.base.config.HttpUrl;

import org.apache.hc.client5.http.DnsResolver;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The destinations that the broker may connect to: every public address, and what {@code
 * OUTBOUND_ALLOWED_HOSTS} lists. Names of hosts say nothing; {@link #resolver(String)} decides on
 * the addresses that are really connected to.
 */
public final class Destinations {
    static final String SETTING = "OUTBOUND_ALLOWED_HOSTS";

    private final AllowedHosts allowed;
    private final BoundedLookup lookup;

    /**
     * @param allowed what the operator lists
     */
    public Destinations(AllowedHosts allowed) {
        this(allowed, InetAddress::getAllByName);
    }

    /** Creates the destinations from the entries of the setting, in the setting's syntax. */
    public Destinations(List<String> allowedHosts) {
        this(AllowedHosts.of(allowedHosts));
    }

    Destinations(List<String> allowedHosts, NameLookup lookup) {
        this(AllowedHosts.of(allowedHosts), lookup);
    }

    private Destinations(AllowedHosts allowed, NameLookup lookup) {
        this.allowed = allowed;
        this.lookup = new BoundedLookup(lookup);
    }

    /**
     * Whether the setting lists this host: its name, or the address that the name literally is. A
     * name that merely resolves to a listed address is not listed.
     *
     * @param host a name, an address, or an IPv6 address in brackets
     */
    public boolean listed(String host) {
        return allowed.lists(host);
    }

    /**
     * Reads a URL of http or https without user and fragment.
     *
     * @throws IllegalArgumentException if the text is anything else; the message is the end of a
     *     sentence about the text
     */
    public static URI url(String text) {
        return HttpUrl.parse(text);
    }

    /** Whether a host is certainly the local machine, by its name or address. */
    public static boolean isLoopback(String host) {
        return HttpUrl.isLoopback(host);
    }

    /**
     * Looks names up and answers with those of their addresses that may be connected to. A client
     * that connects to what it is given, and to nothing else, can't be sent anywhere else by an
     * answer that changes between two look-ups. Throws {@link RefusedDestination} if none is left.
     *
     * @param owner the tenant whose share of the look-ups is used, or empty for the broker itself
     */
    public DnsResolver resolver(String owner) {
        return new GuardedResolver(this, host -> lookup.addresses(owner, host));
    }

    /** The reason why the broker may not connect to this address of that host; empty if it may. */
    Optional<String> objection(String host, InetAddress address) {
        return allowed.lists(host)
                        || allowed.contains(address)
                        || allowed.contains(SpecialAddresses.carried(address))
                ? Optional.empty()
                : SpecialAddresses.kind(address);
    }

    /** Resolves once, and lets only permitted addresses through. */
    private static final class GuardedResolver implements DnsResolver {
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
                    "%s is at %s, an address that is %s; to let the broker connect there, list the host in %s"
                            .formatted(host, address, kind, Destinations.SETTING));
        }
    }
}
