package io.mintmark.broker.token;

import java.math.BigInteger;
import java.util.Base64;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Public keys as large as an issuer may publish them; nobody has their private halves. */
public final class LargeKeys {
    /** As many RSA-8192 keys as an answer of 1 MiB may hold. */
    public static final int MOST = 500;

    private static final Random RANDOM = new Random(1);

    private LargeKeys() {}

    /** The JWK of an RSA key. */
    public static String rsa(String id, int bits) {
        byte[] modulus = new BigInteger(bits, RANDOM).setBit(bits - 1).setBit(0).toByteArray();
        byte[] unsigned = new byte[bits / Byte.SIZE];
        System.arraycopy(modulus, modulus.length - unsigned.length, unsigned, 0, unsigned.length);
        return "{\"kty\":\"RSA\",\"kid\":\"%s\",\"e\":\"AQAB\",\"n\":\"%s\"}"
                .formatted(id, Base64.getUrlEncoder().withoutPadding().encodeToString(unsigned));
    }

    /** A JWK set of this key and so many RSA-8192 keys. */
    public static String set(String jwk, int count) {
        return Stream.concat(
                        Stream.of(jwk),
                        IntStream.range(0, count).mapToObj(i -> rsa("key-" + i, 8192)))
                .collect(Collectors.joining(",", "{\"keys\":[", "]}"));
    }
}
