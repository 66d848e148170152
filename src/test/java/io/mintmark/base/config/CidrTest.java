package io.mintmark.base.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CidrTest {
    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 10.255.0.1, true",
        "10.0.0.0/8, 11.0.0.0, false",
        "10.0.0.0/8, ::ffff:10.1.2.3, true",
        "0.0.0.0/0, 203.0.113.9, true",
        "0.0.0.0/0, ::1, false",
        "192.0.2.1, 192.0.2.1, true",
        "192.0.2.1, 192.0.2.0, false",
        "192.0.2.128/25, 192.0.2.127, false",
        "2001:db8::/33, 2001:db8:7fff::1, true",
        "2001:db8::/33, 2001:db8:8000::1, false",
        "::/0, 10.0.0.1, false",
    })
    void a_network_contains_the_addresses_that_start_like_it(
            String network, String address, boolean contains) {
        assertEquals(contains, Cidr.parse(network).contains(Cidr.address(address)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", "/8", "10.0.0.0/",
                "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8",
                "10.0.0.0/0008", "10.0.0.0/99999999999", "10.0.0.1/8",
                "10/8", "167772160", "256.0.0.1",
                "localhost", "fe80::1%eth0", "[::1]",
                "1::2::3", "::1/129", "2001:db8::1/64",
                ":", "0x7f.0.0.1",
            })
    void anything_else_is_refused(String text) {
        assertThrows(IllegalArgumentException.class, () -> Cidr.parse(text));
    }
}
