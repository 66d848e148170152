package io.mintmark.broker.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.SignatureException;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.RSAKeyGenParameterSpec;
import java.util.Arrays;
import java.util.Random;
import java.util.random.RandomGenerator;

/**
 * The native code where it is published for: it serves, it agrees with the JDK's, it can be off.
 */
@EnabledOnOs(
        value = OS.LINUX,
        architectures = {"amd64", "aarch64"})
final class NativeSignaturesTest {
    private static final int ROUNDS = 2_000;

    @Test
    void signatures_and_nothing_else_come_from_it() throws Throwable {
        SignaturesBy.CORRETTO.during(() -> {
            for (String algorithm : new String[] {"SHA256withRSA", "SHA256withECDSA"}) {
                assertTrue(isNative(Signature.getInstance(algorithm).getProvider()));
            }
            assertFalse(isNative(MessageDigest.getInstance("SHA-256").getProvider()));
            assertFalse(isNative(new SecureRandom().getProvider()));
        });
    }

    private static boolean isNative(Provider provider) {
        return provider.getName().startsWith("AmazonCorretto");
    }

    @Test
    void the_start_says_whose_code_serves() throws Throwable {
        SignaturesBy.JDK.during(() -> {
            assertEquals("SunRsaSign", awaited(false));
            assertEquals("AmazonCorrettoCryptoProvider 2.5.0", awaited(true));
        });
    }

    private static String awaited(boolean nativeSignatures) {
        return SignatureCode.choose(nativeSignatures).awaited();
    }

    @Test
    void a_machine_that_it_is_not_published_for_is_named() {
        assertEquals("Linux-x86_64", NativeSignatures.machine("Linux", "amd64"));
        assertEquals("Linux-aarch_64", NativeSignatures.machine("Linux", "aarch64"));

        var refused =
                assertThrows(
                        NativeSignatures.UnusableException.class,
                        () -> NativeSignatures.library("Plan9-x86_64"));

        assertEquals("the library has no build for Plan9-x86_64", refused.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "SHA256withRSA, RSA",
        "SHA512withRSA, RSA",
        "SHA256withECDSA, secp256r1",
        "SHA384withECDSA, secp384r1",
        "Ed25519, Ed25519"
    })
    void what_one_signs_the_other_verifies(String algorithm, String kind) throws Throwable {
        KeyPair pair = pair(kind);
        byte[] text = "a text".getBytes(StandardCharsets.UTF_8);

        for (SignaturesBy signer : SignaturesBy.values()) {
            byte[][] signature = new byte[1][];
            signer.during(() -> signature[0] = sign(algorithm, pair, text));
            for (SignaturesBy verifier : SignaturesBy.values()) {
                verifier.during(() -> assertTrue(verifies(algorithm, pair, text, signature[0])));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "SHA256withRSA, RSA",
        "SHA256withECDSA, secp256r1",
        "SHA256withECDSAinP1363Format, secp256r1",
        "Ed25519, Ed25519"
    })
    void neither_accepts_a_signature_that_was_changed(String algorithm, String kind)
            throws Throwable {
        KeyPair pair = pair(kind);
        byte[] text = "a text".getBytes(StandardCharsets.UTF_8);
        byte[] good = sign(algorithm, pair, text);
        RandomGenerator random = new Random(42);

        for (SignaturesBy code : SignaturesBy.values()) {
            code.during(() -> {
                for (int round = 0; round < ROUNDS; round++) {
                    byte[] changed = changed(good, random);
                    assertFalse(
                            verifies(algorithm, pair, text, changed),
                            () -> code + " accepts " + Arrays.toString(changed));
                }
            });
        }
    }

    /** Bits flipped, cut, longer, all zeros: what an attacker would send first. */
    private static byte[] changed(byte[] good, RandomGenerator random) {
        return switch (random.nextInt(4)) {
            case 0 -> Arrays.copyOf(good, random.nextInt(good.length));
            case 1 -> Arrays.copyOf(good, good.length + 1 + random.nextInt(70));
            case 2 -> new byte[random.nextInt(2 * good.length)];
            default -> {
                byte[] flipped = good.clone();
                flipped[random.nextInt(good.length)] ^= (byte) (1 << random.nextInt(8));
                yield flipped;
            }
        };
    }

    private static KeyPair pair(String kind) throws GeneralSecurityException {
        KeyPairGenerator generator =
                KeyPairGenerator.getInstance(kind.startsWith("secp") ? "EC" : kind);
        if (kind.equals("RSA")) {
            generator.initialize(new RSAKeyGenParameterSpec(2048, RSAKeyGenParameterSpec.F4));
        } else if (kind.startsWith("secp")) {
            generator.initialize(new ECGenParameterSpec(kind));
        }
        return generator.generateKeyPair();
    }

    private static byte[] sign(String algorithm, KeyPair pair, byte[] text)
            throws GeneralSecurityException {
        Signature signature = Signature.getInstance(algorithm);
        signature.initSign(pair.getPrivate());
        signature.update(text);
        return signature.sign();
    }

    private static boolean verifies(String algorithm, KeyPair pair, byte[] text, byte[] signature)
            throws GeneralSecurityException {
        Signature verifier = Signature.getInstance(algorithm);
        verifier.initVerify(pair.getPublic());
        verifier.update(text);
        try {
            return verifier.verify(signature);
        } catch (SignatureException e) {
            return false;
        }
    }
}
