package io.mintmark.base.limit;

import io.mintmark.base.config.Cidr;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Determines the client's address behind proxies: counted from the broker, the first address that
 * is not a trusted proxy's. Each proxy appends its peer to {@code X-Forwarded-For}, so everything
 * to the left of an untrusted address can be forged and is ignored. Never queries DNS.
 */
public final class ForwardedFor {
    /**
     * The maximum length of an entry, in characters. An IPv6 address with brackets and a port is
     * shorter.
     */
    private static final int LONGEST = 64;

    private static final Pattern BRACKETED = Pattern.compile("\\[([^\\[\\]]*+)](:\\d{1,5})?");
    private static final Pattern IPV4_WITH_PORT = Pattern.compile("([\\d.]++):\\d{1,5}");

    private final List<Cidr> trustedProxies;

    public ForwardedFor(List<Cidr> trustedProxies) {
        this.trustedProxies = List.copyOf(trustedProxies);
    }

    /**
     * The client of a request. If every address is trusted it is the one that is farthest away; an
     * entry that isn't an address ends the search at the proxy that passed it on.
     *
     * @param peer the other end of the connection
     * @param forwardedFor the values of all {@code X-Forwarded-For} lines, in their order
     */
    public ClientAddress of(InetAddress peer, List<String> forwardedFor) {
        ClientAddress client = new ClientAddress(peer);
        for (String entry : nearestFirst(forwardedFor)) {
            Optional<ClientAddress> next = isTrusted(client) ? read(entry) : Optional.empty();
            if (next.isEmpty()) {
                return client;
            }
            client = next.get();
        }
        return client;
    }

    private boolean isTrusted(ClientAddress client) {
        return trustedProxies.stream().anyMatch(proxy -> proxy.contains(client.address()));
    }

    /**
     * Several lines are one list, and empty elements of a list count for nothing (RFC 9110, 5.6.1).
     */
    private static List<String> nearestFirst(List<String> lines) {
        return lines.stream()
                .flatMap(line -> Stream.of(line.split(",")))
                .map(String::strip)
                .filter(entry -> !entry.isEmpty())
                .toList()
                .reversed();
    }

    private static Optional<ClientAddress> read(String entry) {
        if (entry.length() > LONGEST) {
            return Optional.empty();
        }
        try {
            return Optional.of(new ClientAddress(Cidr.address(withoutPort(entry))));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static String withoutPort(String entry) {
        Matcher bracketed = BRACKETED.matcher(entry);
        if (bracketed.matches()) {
            return bracketed.group(1);
        }
        Matcher withPort = IPV4_WITH_PORT.matcher(entry);
        return withPort.matches() ? withPort.group(1) : entry;
    }
}
