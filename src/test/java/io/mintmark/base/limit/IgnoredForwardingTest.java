package io.mintmark.base.limit;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.config.Cidr;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

class IgnoredForwardingTest {
    private final IgnoredForwarding none = new IgnoredForwarding(List.of());
    private final IgnoredForwarding some =
            new IgnoredForwarding(List.of(Cidr.parse("10.1.0.0/16"), Cidr.parse("::1")));

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1",
                "127.0.0.1", "169.254.1.1", "::1", "fd00::1",
                "fe80::1", "::ffff:10.1.2.3"
            })
    void a_private_peer_is_a_proxy_that_is_not_listed(String peer) {
        assertTrue(none.isProxy(Cidr.address(peer)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"198.51.100.1", "172.32.0.1", "100.128.0.1", "2001:db8::1", "11.0.0.1"})
    void a_public_peer_may_be_any_client(String peer) {
        assertFalse(none.isProxy(Cidr.address(peer)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.1.2.3", "::1", "::ffff:10.1.255.255"})
    void a_listed_proxy_is_none_of_them(String peer) {
        assertFalse(some.isProxy(Cidr.address(peer)));
        assertTrue(some.isProxy(Cidr.address("10.2.0.1")));
    }
}
