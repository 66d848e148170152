package io.mintmark.config;

import java.net.InetAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Hosts that operators name: by name, by address, or by network.
 *
 * @param names lower case
 * @param networks a single address is a network of one
 */
public record AllowedHosts(Set<String> names, List<Cidr> networks) {
    /** RFC 1123, and the last label isn't a number: {@code 10.1} is a mistyped address. */
    private static final Pattern NAME =
            Pattern.compile(
                    "([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)*(?![0-9]+$)"
                            + "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

    /** One entry, in lower case. */
    static final Format<String> ENTRY =
            Format.of(
                    "a host name, an IP address or a network such as 10.0.0.0/8",
                    AllowedHosts::entry);

    /** None. */
    public static final AllowedHosts NONE = new AllowedHosts(Set.of(), List.of());

    public AllowedHosts {
        names = Set.copyOf(names);
        networks = List.copyOf(networks);
    }

    /** Every entry as it is written. */
    public List<String> entries() {
        return Stream.concat(names.stream(), networks.stream().map(Cidr::toString)).toList();
    }

    /**
     * Whether a host of a URL is listed: its name, or the address that it is. What a name leads to
     * isn't asked.
     */
    boolean lists(String host) {
        String plain = host.toLowerCase(Locale.ROOT).replaceAll("^\\[|]$", "");
        return names.contains(plain) || (!isName(plain) && inNetwork(plain));
    }

    private boolean inNetwork(String address) {
        try {
            InetAddress parsed = Cidr.address(address);
            return networks.stream().anyMatch(network -> network.contains(parsed));
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    static AllowedHosts of(List<String> entries) {
        Set<String> names = new HashSet<>(entries);
        names.removeIf(entry -> !isName(entry));
        List<Cidr> networks =
                entries.stream().filter(entry -> !isName(entry)).map(Cidr::parse).toList();
        return new AllowedHosts(names, networks);
    }

    private static String entry(String text) {
        String entry = text.toLowerCase(Locale.ROOT);
        return isName(entry) ? entry : Cidr.parse(entry).toString();
    }

    private static boolean isName(String entry) {
        return NAME.matcher(entry).matches();
    }
}
