package io.mintmark.base.limit;

import io.mintmark.base.config.Cidr;

import java.net.InetAddress;
import java.util.List;
import java.util.stream.Stream;

/**
 * Recognizes a reverse proxy that {@code TRUSTED_PROXIES} doesn't list: a peer with a private
 * address that sends a forwarding header. All its clients count as one address. A peer with a
 * public address may be any client that made the header up.
 */
public final class IgnoredForwarding {
    /** RFC 1918, 6598, 4193; loopback and link-local addresses. */
    private static final List<Cidr> PRIVATE =
            Stream.of(
                            "10.0.0.0/8",
                            "172.16.0.0/12",
                            "192.168.0.0/16",
                            "100.64.0.0/10",
                            "127.0.0.0/8",
                            "169.254.0.0/16",
                            "::1/128",
                            "fc00::/7",
                            "fe80::/10")
                    .map(Cidr::parse)
                    .toList();

    private final List<Cidr> trustedProxies;

    public IgnoredForwarding(List<Cidr> trustedProxies) {
        this.trustedProxies = List.copyOf(trustedProxies);
    }

    /** Whether a forwarding header of this peer means a proxy that isn't listed. */
    public boolean isProxy(InetAddress peer) {
        InetAddress address = new ClientAddress(peer).address();
        return isIn(PRIVATE, address) && !isIn(trustedProxies, address);
    }

    private static boolean isIn(List<Cidr> networks, InetAddress address) {
        return networks.stream().anyMatch(network -> network.contains(address));
    }
}
