package io.mintmark.outbound;

import org.apache.hc.client5.http.DnsResolver;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Where the broker may connect to: every public address, and what {@code OUTBOUND_ALLOWED_HOSTS}
 * lists. Names of hosts say nothing; {@link #resolver} decides on the addresses that are really
 * connected to.
 */
public final class Destinations {
    static final String SETTING = "OUTBOUND_ALLOWED_HOSTS";

    /** With underscores: no part of the standard, but of many private names. */
    private static final String LABEL = "[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?";

    /** The last label isn't a number, or it would be an address in some odd form. */
    private static final Pattern NAME =
            Pattern.compile("(?=.{1,253}$)(%1$s\\.)*(?![0-9]+$)%1$s".formatted(LABEL));

    private final Set<String> names = new HashSet<>();
    private final List<AddressRange> ranges = new ArrayList<>();
    private final DnsResolver resolver;

    /**
     * Reads the setting.
     *
     * @param allowedHosts names of hosts, addresses, and blocks of addresses
     * @throws IllegalArgumentException naming the first entry that is none of these
     */
    public Destinations(List<String> allowedHosts) {
        this(allowedHosts, InetAddress::getAllByName);
    }

    Destinations(List<String> allowedHosts, NameLookup lookup) {
        allowedHosts.forEach(this::allow);
        resolver = new GuardedResolver(this, lookup);
    }

    /**
     * Whether the setting lists this host: its name, or the address that the name literally is. A
     * name that merely resolves to a listed address is not listed.
     *
     * @param host a name, an address, or an IPv6 address in brackets
     */
    public boolean listed(String host) {
        String plain = plain(host);
        return names.contains(plain)
                || (AddressRange.isLiteral(plain) && inListedRange(AddressRange.literal(plain)));
    }

    /**
     * Looks names up and answers with those of their addresses that may be connected to. A client
     * that connects to what it is given, and to nothing else, can't be sent anywhere else by an
     * answer that changes between two look-ups. Throws {@link RefusedDestination} if none is left.
     */
    public DnsResolver resolver() {
        return resolver;
    }

    /** Why this address of that host may not be connected to; empty if it may. */
    Optional<String> objection(String host, InetAddress address) {
        if (names.contains(plain(host)) || inListedRange(address)) {
            return Optional.empty();
        }
        return SpecialAddresses.kind(address);
    }

    /** The form in which hosts are compared: small letters, without brackets and final dot. */
    static String plain(String host) {
        String inner =
                host.startsWith("[") && host.endsWith("]")
                        ? host.substring(1, host.length() - 1)
                        : host;
        String rooted = inner.endsWith(".") ? inner.substring(0, inner.length() - 1) : inner;
        return rooted.toLowerCase(Locale.ROOT);
    }

    private boolean inListedRange(InetAddress address) {
        InetAddress carried = SpecialAddresses.carried(address);
        return ranges.stream().anyMatch(r -> r.contains(address) || r.contains(carried));
    }

    private void allow(String entry) {
        String plain = plain(entry);
        try {
            if (AddressRange.isLiteral(plain) || plain.contains("/")) {
                ranges.add(AddressRange.parse(plain));
            } else if (NAME.matcher(plain).matches()) {
                names.add(plain);
            } else {
                throw new IllegalArgumentException("not a name of a host, address or block");
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "%s: '%s': %s; write for example sts.internal, 10.1.2.3 or 10.0.0.0/8"
                            .formatted(SETTING, entry, e.getMessage()),
                    e);
        }
    }
}
