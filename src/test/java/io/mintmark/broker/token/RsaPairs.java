package io.mintmark.broker.token;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * RSA keys for tests. Those of the usual sizes lie in files, which everybody can read: to find the
 * primes of one takes seconds.
 */
public final class RsaPairs {
    private static final int USUAL = 2048;
    private static final int FILES = 3;

    /** The sizes that lie in files, and how many pairs of each were asked for. */
    private static final Map<Integer, AtomicInteger> IN_FILES =
            Map.of(USUAL, new AtomicInteger(), 3072, new AtomicInteger());

    private RsaPairs() {}

    /** A pair that neither of the two before was. */
    public static KeyPair next(int bits) {
        try {
            AtomicInteger count = IN_FILES.get(bits);
            return count == null ? made(bits) : read(bits, 1 + count.getAndIncrement() % FILES);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A pair of the usual size that isn't this one. */
    public static KeyPair otherThan(KeyPair known) {
        KeyPair next = next(USUAL);
        return next.getPublic().equals(known.getPublic()) ? next(USUAL) : next;
    }

    private static KeyPair made(int bits) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(bits);
        return generator.generateKeyPair();
    }

    private static KeyPair read(int bits, int number) throws GeneralSecurityException {
        KeyFactory factory = KeyFactory.getInstance("RSA");
        var key =
                (RSAPrivateCrtKey)
                        factory.generatePrivate(new PKCS8EncodedKeySpec(file(bits, number)));
        return new KeyPair(
                factory.generatePublic(
                        new RSAPublicKeySpec(key.getModulus(), key.getPublicExponent())),
                key);
    }

    /** From the class path, since the image's build has no sources. */
    private static byte[] file(int bits, int number) {
        String name = "/keys/rsa-%d-%d.pem".formatted(bits, number);
        try (InputStream file = Objects.requireNonNull(RsaPairs.class.getResourceAsStream(name))) {
            String pem = new String(file.readAllBytes(), StandardCharsets.US_ASCII);
            return Base64.getMimeDecoder().decode(pem.replaceAll("-----.*-----", ""));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
