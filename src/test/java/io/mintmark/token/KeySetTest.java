package io.mintmark.token;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.wiring.SignaturesBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

final class KeySetTest {
    private static final TestKey RSA = TestKey.rsa("rsa", 2048);
    private static final TestKey EC = TestKey.es256("ec");

    @Test
    void usable_keys_are_kept() {
        assertEquals("2 keys", keys(RSA.publicJwk() + "," + EC.publicJwk()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"n", "e", "further"})
    void a_number_of_many_digits_makes_a_set_none(String member) {
        String key = "{\"kty\":\"RSA\",\"%s\":%s}".formatted(member, "9".repeat(900_000));
        assertEquals(
                Optional.empty(),
                KeySet.parse("{\"keys\":[%s]}".formatted(key).getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void a_coordinate_as_long_as_a_whole_set_is_no_key() {
        String huge = EC.publicJwk().replace("\"x\":\"", "\"x\":\"" + "A".repeat(900_000));
        assertEquals("1 keys", keys(huge + "," + RSA.publicJwk()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"AQ", "Ag", "AA", ""})
    void an_rsa_key_with_an_impossible_exponent_is_not(String exponent) {
        assertEquals("0 keys", keys(withExponent(exponent)));
    }

    @Test
    void an_rsa_key_that_is_slow_to_verify_with_is_not() {
        String slow = "_".repeat(170) + "w";
        assertEquals("0 keys", keys(withExponent(slow)));
        assertEquals(
                "0 keys",
                keys(
                        TestKey.rsa("huge", 2048)
                                .publicJwk()
                                .replace("\"n\":\"", "\"n\":\"" + "_".repeat(1200))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "null",
                "1",
                "[]",
                "{}",
                "{\"kty\":\"oct\",\"k\":\"AAAA\"}",
                "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AAAA\",\"y\":\"AAAA\"}",
                "{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"AAAA\"}",
                "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}",
                "{\"kty\":\"none\",\"alg\":\"none\"}",
                "{\"kty\":[]}"
            })
    void what_is_no_key_to_verify_with_does_not_spoil_the_set(String odd) {
        assertEquals("1 keys", keys(odd + "," + EC.publicJwk()));
    }

    @Test
    void a_set_of_many_keys_of_one_kid_costs_a_few_verifications() {
        String same = EC.publicJwk().replace("\"kid\":\"ec\"", "\"kid\":\"x\"");
        String others = String.join(",", Collections.nCopies(4, same));
        String last = RSA.publicJwk().replace("\"kid\":\"rsa\"", "\"kid\":\"x\"");
        Jwt jwt = Jwt.parse(RSA.sign("{\"alg\":\"RS256\",\"kid\":\"x\"}", "{}")).orElseThrow();
        assertEquals(KeySet.Finding.NOT_VERIFIED, set(others + "," + last).check(jwt));
        assertEquals(KeySet.Finding.VERIFIED, set(last + "," + others).check(jwt));
    }

    private static String withExponent(String exponent) {
        return RSA.publicJwk().replace("\"e\":\"AQAB\"", "\"e\":\"" + exponent + "\"");
    }

    /** What a set says of itself, the same whoever's code makes the keys. */
    private static String keys(String array) {
        Set<String> said = new HashSet<>();
        SignaturesBy.here()
                .forEach(code -> code.duringSafely(() -> said.add(set(array).toString())));
        return String.join(" or ", said);
    }

    private static KeySet set(String array) {
        String json = "{\"keys\":[" + array + "]}";
        return KeySet.parse(json.getBytes(StandardCharsets.UTF_8)).orElseThrow();
    }
}
