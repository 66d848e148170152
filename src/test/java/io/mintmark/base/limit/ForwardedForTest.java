package io.mintmark.base.limit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.mintmark.base.config.Cidr;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;

class ForwardedForTest {
    private static final ForwardedFor BEHIND_TEN =
            new ForwardedFor(List.of(Cidr.parse("10.0.0.0/8")));
    private static final InetAddress PROXY = Cidr.address("10.0.0.1");

    @ParameterizedTest
    @CsvFileSource(
            resources = "/limit/client-addresses.csv",
            delimiter = '|',
            quoteCharacter = '\f')
    void the_client_is_the_nearest_that_is_no_trusted_proxy(
            @Nullable String trusted, String peer, @Nullable String forwarded, String client) {
        List<Cidr> proxies = split(trusted, ",").map(Cidr::parse).toList();
        List<String> lines = split(forwarded, ";").toList();

        ClientAddress found = new ForwardedFor(proxies).of(Cidr.address(peer), lines);

        assertEquals(new ClientAddress(Cidr.address(client)), found);
    }

    @RepeatedTest(200)
    void what_a_client_sends_itself_never_matters(RepetitionInfo repetition) {
        Random random = new Random(repetition.getCurrentRepetition());
        String real = "198.51.100." + random.nextInt(256);
        String sent =
                random.ints(random.nextInt(60), 0x20, 0x7f)
                        .collect(
                                StringBuilder::new,
                                StringBuilder::appendCodePoint,
                                StringBuilder::append)
                        .toString();

        List<String> oneLine = List.of(sent + ", " + real);
        List<String> twoLines = List.of(sent, real, "10.1.2.3");

        ClientAddress expected = new ClientAddress(Cidr.address(real));
        assertEquals(expected, BEHIND_TEN.of(PROXY, oneLine));
        assertEquals(expected, BEHIND_TEN.of(PROXY, twoLines));
    }

    @Test
    void ipv6_clients_count_by_64_bits_and_ipv4_clients_by_all() {
        assertEquals(network("2001:db8:0:1::1"), network("2001:db8:0:1:ffff::2"));
        assertNotEquals(network("2001:db8:0:1::1"), network("2001:db8:0:2::1"));
        assertNotEquals(network("198.51.100.1"), network("198.51.100.2"));
        assertEquals(network("198.51.100.1"), network("::ffff:198.51.100.1"));
        assertNotEquals(network("0.0.0.1"), network("0:0:0:1::"));
    }

    @Test
    void zones_are_dropped() throws UnknownHostException {
        byte[] linkLocal = Cidr.address("fe80::1").getAddress();
        InetAddress withZone = Inet6Address.getByAddress("", linkLocal, 3);

        assertEquals("fe80:0:0:0:0:0:0:1", new ClientAddress(withZone).toString());
    }

    private static Network network(String address) {
        return new ClientAddress(Cidr.address(address)).network();
    }

    private static Stream<String> split(@Nullable String text, String separator) {
        return Stream.of(Objects.requireNonNullElse(text, "").split(separator))
                .filter(part -> !part.isEmpty());
    }
}
