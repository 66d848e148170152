package io.mintmark.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Optional;

class LocalAddressTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/mints?q=repo%3Aacme%2Fapp&page=2",
                "/keys/acme/demo-api",
                "/mints/0198f1e2-0000-7000-8000-000000000000",
                "/tenants/acme/history?table=key&row=a.b",
                "/mints?q=//evil.example.com"
            })
    void a_page_of_the_console_is_one(String address) {
        assertEquals(Optional.of(new LocalAddress(address)), LocalAddress.of(address));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", "mints", "//evil.example.com",
                "/\\evil.example.com", "\\/evil.example.com", "https://evil.example.com",
                "/ /evil.example.com", "/a//b", "/a/../b",
                "/..", "/.", "/a/./b",
                "/a;b", "/\u00e9", "/a\nb",
                "/?a\r\nb", "/?a\\b", "/?<b>",
                "/#x", "/\t/evil.example.com", "\u0000/"
            })
    void whatever_could_lead_elsewhere_is_none(String address) {
        assertEquals(Optional.empty(), LocalAddress.of(address));
    }

    @Test
    void one_that_is_too_long_for_a_cookie_is_none_and_may_still_be_a_page() {
        String path = "/mints/" + "a".repeat(20_000);

        assertEquals(Optional.empty(), LocalAddress.of(path));
        assertTrue(LocalAddress.isPlainPath(path));
    }
}
