package io.mintmark.base.outbound;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

final class DestinationsTest {
    private static final Destinations NOTHING_LISTED = new Destinations(List.of());

    @ParameterizedTest
    @CsvSource({
        "0.0.0.0, unspecified",
        "0.1.2.3, unspecified",
        "127.0.0.1, loopback",
        "127.255.255.254, loopback",
        "169.254.169.254, for metadata",
        "168.63.129.16, for metadata",
        "100.100.100.200, for metadata",
        "169.254.1.1, link-local",
        "10.0.0.1, private",
        "172.16.0.1, private",
        "172.31.255.255, private",
        "192.168.1.1, private",
        "100.64.0.1, shared between networks",
        "100.127.255.255, shared between networks",
        "224.0.0.1, multicast",
        "239.255.255.255, multicast",
        "240.0.0.1, reserved",
        "255.255.255.255, reserved",
        "192.0.0.8, reserved",
        "192.88.99.1, reserved",
        "198.18.0.1, for benchmarks",
        "198.19.255.255, for benchmarks",
        "192.0.2.1, for documentation",
        "198.51.100.1, for documentation",
        "203.0.113.1, for documentation",
        "::, unspecified",
        "::1, loopback",
        "fe80::1, link-local",
        "febf::1, link-local",
        "fec0::1, private",
        "fc00::1, private",
        "fd12:3456::1, private",
        "fd00:ec2::254, for metadata",
        "ff02::1, multicast",
        "2001:db8::1, for documentation",
        "3fff::1, for documentation",
        "2001:2::1, reserved",
        "2001:0:7f00:1::, reserved",
        "2002:7f00:1::, the end of a tunnel",
        "2002:808:808::, the end of a tunnel",
        "::7f00:1, the end of a tunnel",
        "64:ff9b:1::808:808, the end of a tunnel",
        "64:ff9b::7f00:1, loopback",
        "64:ff9b::a9fe:a9fe, for metadata",
        "5f00::1, not public",
        "4000::1, not public",
        "1::1, not public"
    })
    void a_special_address_is_refused(String address, String kind) {
        assertEquals(
                Optional.of(kind),
                NOTHING_LISTED.objection("issuer.example", InetAddress.ofLiteral(address)));
    }

    @Test
    void an_ipv4_address_in_an_ipv6_object_is_judged_as_what_it_is() throws Exception {
        byte[] mapped = HexFormat.of().parseHex("00000000000000000000ffff7f000001");
        InetAddress address = Inet6Address.getByAddress("issuer.example", mapped, -1);
        assertEquals(Optional.of("loopback"), NOTHING_LISTED.objection("issuer.example", address));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.0",
                "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
                "223.255.255.255", "192.0.1.1", "2606:4700::1111", "2001:4860::8888",
                "2a00:1450::1", "64:ff9b::808:808"
            })
    void a_public_address_is_not(String address) {
        assertEquals(
                Optional.empty(),
                NOTHING_LISTED.objection("issuer.example", InetAddress.ofLiteral(address)));
    }

    @ParameterizedTest
    @CsvSource({
        "10.1.2.3, 10.1.2.3",
        "10.0.0.0/8, 10.1.2.3",
        "10.0.0.0/8, 64:ff9b::a01:203",
        "0.0.0.0/0, 127.0.0.1",
        "::1, ::1",
        "[::1], ::1",
        "::ffff:10.1.2.3, 10.1.2.3",
        "fd00::/8, fd12::1",
        "issuer.example, 10.1.2.3",
        "ISSUER.Example., 169.254.169.254"
    })
    void what_is_listed_is_not_refused(String entry, String address) {
        Destinations destinations = new Destinations(List.of("other.example", entry));
        assertEquals(
                Optional.empty(),
                destinations.objection("issuer.example", InetAddress.ofLiteral(address)));
    }

    @ParameterizedTest
    @CsvSource({
        "10.1.2.3, 10.1.2.4",
        "10.0.0.0/9, 10.128.0.0",
        "fd00::/8, fc00::1",
        "example, 10.1.2.3",
        "evil.issuer.example, 10.1.2.3",
        "127.0.0.0/8, ::1"
    })
    void what_is_listed_allows_nothing_else(String entry, String address) {
        assertTrue(
                new Destinations(List.of(entry))
                        .objection("issuer.example", InetAddress.ofLiteral(address))
                        .isPresent());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", " ", "10.0.0.0/33",
                "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/-1",
                "10.0.0.0/08", "fd00::/129", "fd00::1/8",
                "300.0.0.1", "010.0.0.1", "127.1",
                "2130706433", "0x7f.1", "under_score.example",
                "fe80::1%eth0", "*.example.com", "https://issuer.example",
                "issuer.example:8443", "issuer.example/8", "user@host",
                "-a.example", "a..example", "bücher.example"
            })
    void a_bad_entry_is_named(String entry) {
        IllegalArgumentException thrown =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> new Destinations(List.of("10.0.0.0/8", entry)));
        assertTrue(
                String.valueOf(thrown.getMessage())
                        .startsWith("OUTBOUND_ALLOWED_HOSTS: '" + entry + "': "),
                thrown::getMessage);
    }

    @Test
    void a_host_is_listed_by_its_name_or_by_the_address_that_it_literally_is() {
        Destinations destinations = new Destinations(List.of("sts.internal", "10.0.0.0/8", "::1"));
        assertTrue(destinations.listed("STS.internal"));
        assertTrue(destinations.listed("10.9.9.9"));
        assertTrue(destinations.listed("[::1]"));
        assertFalse(destinations.listed("sts.internal.example"));
        assertFalse(destinations.listed("sts.example"));
        assertFalse(destinations.listed("8.8.8.8"));
    }

    @Test
    void only_permitted_addresses_of_a_name_are_handed_out() throws Exception {
        Destinations destinations =
                new Destinations(List.of(), host -> addresses("10.0.0.1", "8.8.8.8", "::1"));
        assertArrayEquals(
                addresses("8.8.8.8"), destinations.resolver("acme").resolve("issuer.example"));
        assertEquals(
                List.of(new InetSocketAddress(InetAddress.ofLiteral("8.8.8.8"), 443)),
                destinations.resolver("acme").resolve("issuer.example", 443));
    }

    @Test
    void a_name_without_a_permitted_address_is_refused_with_the_setting_that_would_permit_it() {
        Destinations destinations = new Destinations(List.of(), host -> addresses("10.0.0.1"));
        RefusedDestination thrown =
                assertThrows(
                        RefusedDestination.class,
                        () -> destinations.resolver("acme").resolve("issuer.example"));
        assertEquals(
                "issuer.example is at 10.0.0.1, an address that is private; to let the broker"
                        + " connect there, list the host in OUTBOUND_ALLOWED_HOSTS",
                thrown.getMessage());
    }

    @Test
    void an_unknown_name_is_an_unknown_host() {
        Destinations destinations =
                new Destinations(
                        List.of(),
                        host -> {
                            throw new UnknownHostException(host);
                        });
        assertThrows(
                UnknownHostException.class,
                () -> destinations.resolver("acme").resolve("issuer.example"));
    }

    @Test
    void an_odd_spelling_of_an_address_is_judged_by_what_the_system_makes_of_it() {
        assertThrows(
                UnknownHostException.class,
                () -> NOTHING_LISTED.resolver("acme").resolve("2130706433"));
        assertThrows(
                UnknownHostException.class, () -> NOTHING_LISTED.resolver("acme").resolve("127.1"));
    }

    private static InetAddress[] addresses(String... literals) {
        return List.of(literals).stream().map(InetAddress::ofLiteral).toArray(InetAddress[]::new);
    }
}
