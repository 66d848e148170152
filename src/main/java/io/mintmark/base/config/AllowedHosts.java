package io.mintmark.base.config;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Hosts that operators name: by name, by address, or by network.
 *
 * @param names lower case
 * @param networks a single address is a network of one
 */
public record AllowedHosts(Set<String> names, List<Cidr> networks) {
    /**
     * A host name by RFC 1123 whose last label isn't a number: {@code 10.1} is a mistyped address.
     */
    private static final Pattern NAME =
            Pattern.compile(
                    "([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)*(?![0-9]+$)"
                            + "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

    /** One entry, in lower case. */
    static final Format<String> ENTRY =
            Format.of(
                    "a host name, an IP address or a network such as 10.0.0.0/8",
                    AllowedHosts::entry);

    public static final AllowedHosts NONE = new AllowedHosts(Set.of(), List.of());

    public AllowedHosts {
        names = Set.copyOf(names);
        networks = List.copyOf(networks);
    }

    /**
     * Whether a host of a URL is listed: its name, or the address that it is. What a name leads to
     * isn't asked.
     */
    public boolean lists(String host) {
        String plain = HttpUrl.plain(host);
        return names.contains(plain) || (Cidr.isAddress(plain) && inNetwork(plain));
    }

    public boolean contains(InetAddress address) {
        return networks.stream().anyMatch(network -> network.contains(address));
    }

    private boolean inNetwork(String address) {
        try {
            return contains(Cidr.address(address));
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /**
     * Reads entries.
     *
     * @throws IllegalArgumentException if one is no name of a host, address or network
     */
    public static AllowedHosts of(List<String> entries) {
        Set<String> names = new HashSet<>();
        List<Cidr> networks = new ArrayList<>();
        for (String entry : entries) {
            String plain = HttpUrl.plain(entry);
            if (isName(plain)) {
                names.add(plain);
            } else {
                networks.add(network(entry, plain));
            }
        }
        return new AllowedHosts(names, networks);
    }

    private static Cidr network(String entry, String plain) {
        try {
            return Cidr.parse(plain);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "OUTBOUND_ALLOWED_HOSTS: '%s': %s".formatted(entry, e.getMessage()), e);
        }
    }

    private static String entry(String text) {
        String entry = HttpUrl.plain(text);
        return isName(entry) ? entry : Cidr.parse(entry).toString();
    }

    private static boolean isName(String entry) {
        return NAME.matcher(entry).matches();
    }
}
