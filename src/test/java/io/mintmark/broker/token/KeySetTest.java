package io.mintmark.broker.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.broker.wiring.SignaturesBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
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
        assertInstanceOf(
                Parsed.Unusable.class,
                KeySet.parse("{\"keys\":[%s]}".formatted(key).getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|is empty",
                "<html><body>login</body></html>|is HTML or XML instead of JSON",
                "\uFEFF{\"keys\":[]}|begins with a byte order mark, which JSON must not have (RFC"
                        + " 8259 section 8.1)",
                "{\"keys\":[}|is not valid JSON at line 1, column 10",
                "{\"keys\":[],\"keys\":[]}|is not valid JSON at line 1, column 18",
                "[]|is JSON, but not an object",
                "{}|has no field 'keys'",
                "{\"keys\":null}|has null as 'keys' instead of a list",
                "{\"keys\":{}}|has an object as 'keys' instead of a list"
            })
    void what_is_no_set_is_named_by_its_fault(String document, String fault) {
        assertEquals(
                Parsed.unusable(fault), KeySet.parse(document.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void a_set_of_too_many_keys_is_named_by_its_fault() {
        String document = "{\"keys\":[%s]}".formatted("{},".repeat(500) + "{}");
        assertEquals(
                Parsed.unusable("has 501 keys; the maximum is 500"),
                KeySet.parse(document.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void keys_that_are_left_out_are_named_with_the_reason() {
        String weak = TestKey.rsa("weak", 1024).publicJwk();
        String encryption =
                EC.publicJwk().replace("\"kid\":\"ec\"", "\"kid\":\"enc\",\"use\":\"enc\"");
        assertEquals(
                List.of(
                        "'weak' is an RSA key of 1024 bits; it must have 2048 to 8192 bits",
                        "'enc' isn't meant for verifying signatures, according to its use or"
                                + " key_ops",
                        "one without kid is symmetric",
                        "'ec' is published with its private half",
                        "one without kid isn't a key that the broker can read"),
                TestKey.keySet(
                                "{\"keys\":[%s]}"
                                        .formatted(
                                                String.join(
                                                        ",",
                                                        RSA.publicJwk(),
                                                        weak,
                                                        encryption,
                                                        "{\"kty\":\"oct\",\"k\":\"AAAA\"}",
                                                        EC.privateJwk(),
                                                        "{}")))
                        .ignored());
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
        Jwt jwt = TestKey.parsed(RSA.sign("{\"alg\":\"RS256\",\"kid\":\"x\"}", "{}"));
        assertEquals(KeySet.Finding.NOT_VERIFIED, set(others + "," + last).check(jwt));
        assertEquals(KeySet.Finding.VERIFIED, set(last + "," + others).check(jwt));
    }

    @Test
    void the_first_64_usable_keys_are_kept() {
        String unusable = "{\"kty\":\"oct\",\"k\":\"AAAA\"}";
        List<String> many = new ArrayList<>(Collections.nCopies(300, unusable));
        for (int i = 0; i < 100; i++) {
            many.add(EC.publicJwk().replace("\"kid\":\"ec\"", "\"kid\":\"" + i + "\""));
        }
        assertEquals("64 keys", keys(String.join(",", many)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"RSA-OAEP", "HS256", "none", "ES256K", "RS257"})
    void a_key_of_an_algorithm_that_is_not_accepted_is_none(String algorithm) {
        String named = RSA.publicJwk().replace("\"kty\"", "\"alg\":\"" + algorithm + "\",\"kty\"");
        assertEquals("0 keys", keys(named.replaceFirst("\"alg\":\"RS256\",?", "")));
    }

    /**
     * A set weighs at least its bytes on the heap and at most four times as many. Other tests' heap
     * may shrink or grow during a measurement, so one of several has to fit. Native code, which
     * another test may have loaded, has a key's numbers outside of the heap.
     */
    @Test
    void a_set_weighs_what_it_takes_on_the_heap() {
        SignaturesBy.JDK.duringSafely(KeySetTest::assertWeights);
    }

    private static void assertWeights() {
        for (String key : List.of(LargeKeys.rsa("k", 8192), RSA.publicJwk(), EC.publicJwk())) {
            String array = String.join(",", Collections.nCopies(64, key));
            long claimed = set(array).bytes();
            List<Long> measured = new ArrayList<>();
            do {
                measured.add(bytesOnHeap(array));
            } while (!fits(claimed, measured.getLast()) && measured.size() < 5);
            assertTrue(
                    fits(claimed, measured.getLast()),
                    () -> "%s bytes each, and %d claimed, of %s".formatted(measured, claimed, key));
        }
    }

    private static boolean fits(long claimed, long measured) {
        return measured <= claimed && claimed <= 4 * measured;
    }

    private static long bytesOnHeap(String array) {
        KeySet[] kept = new KeySet[50];
        long before = LiveHeap.bytes();
        Arrays.setAll(kept, _ -> set(array));
        long bytes = (LiveHeap.bytes() - before) / kept.length;
        assertEquals(50, Set.of(kept).size());
        return bytes;
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
        return TestKey.keySet(json);
    }
}
