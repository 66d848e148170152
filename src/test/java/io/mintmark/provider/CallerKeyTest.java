package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.verdict.RequestRefusal.BadField;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.base.verdict.Verdict.Passed;
import io.mintmark.base.verdict.Verdict.Refused;
import io.mintmark.broker.token.RsaPairs;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.math.BigInteger;
import java.security.KeyPair;
import java.security.interfaces.RSAPublicKey;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

class CallerKeyTest {
    private static final String UNREADABLE =
            "The body must be an OpenSSH public key line, or a public key or CSR in PEM.";
    private static final String UNSIGNED =
            "The key is in a CSR with an invalid signature; sign it with the key's private half.";
    private static final int GENERATED = 5_000;

    @ParameterizedTest
    @CsvSource({
        "Ed25519, -, ssh-ed25519",
        "EC, secp256r1, ecdsa-sha2-nistp256",
        "EC, secp384r1, ecdsa-sha2-nistp384",
        "EC, secp521r1, ecdsa-sha2-nistp521",
        "RSA, 3072, ssh-rsa"
    })
    void a_key_is_the_same_in_every_form(String algorithm, String parameter, String type)
            throws Exception {
        KeyPair pair = OfferedKeys.pair(algorithm, parameter);

        CallerKey key = accepted(OfferedKeys.pem("PUBLIC KEY", pair.getPublic().getEncoded()));

        assertArrayEquals(pair.getPublic().getEncoded(), key.info().orElseThrow());
        CallerKey again = accepted(OfferedKeys.line(type, key.ssh()) + " me@host with words\n");
        assertArrayEquals(key.ssh(), again.ssh());
        assertArrayEquals(pair.getPublic().getEncoded(), again.info().orElseThrow());
        CallerKey asked =
                accepted(
                        OfferedKeys.pem(
                                "CERTIFICATE REQUEST", OfferedKeys.request(pair, algorithm)));
        assertArrayEquals(key.ssh(), asked.ssh());
    }

    @Test
    void a_security_key_has_no_form_for_tls() throws Exception {
        byte[] plain =
                accepted(
                                OfferedKeys.pem(
                                        "PUBLIC KEY",
                                        OfferedKeys.pair("Ed25519", "-").getPublic().getEncoded()))
                        .ssh();
        byte[] key =
                new SshData()
                        .string("sk-ssh-ed25519@openssh.com")
                        .raw(Arrays.copyOfRange(plain, 15, plain.length))
                        .string("ssh:")
                        .bytes();

        CallerKey accepted = accepted(OfferedKeys.line("sk-ssh-ed25519@openssh.com", key));

        assertArrayEquals(key, accepted.ssh());
        assertTrue(accepted.info().isEmpty());
        for (String application : List.of("ssh:\0", "ssh: ", "ssh:\n", "ssh:\u00e4")) {
            byte[] unreadable =
                    new SshData()
                            .string("sk-ssh-ed25519@openssh.com")
                            .raw(Arrays.copyOfRange(plain, 15, plain.length))
                            .string(application)
                            .bytes();
            assertEquals(
                    UNREADABLE,
                    refused(OfferedKeys.line("sk-ssh-ed25519@openssh.com", unreadable)));
        }
    }

    @Test
    void weak_keys_are_refused() throws Exception {
        String bits = "The key must have 3072 to 4096 bits.";
        assertEquals(
                bits,
                refused(
                        OfferedKeys.pem(
                                "PUBLIC KEY",
                                OfferedKeys.pair("RSA", "2048").getPublic().getEncoded())));
        assertEquals(
                bits, refused(rsa(BigInteger.ONE.shiftLeft(16_000), BigInteger.valueOf(65_537))));
        assertEquals(
                bits,
                refused(rsa(BigInteger.ONE.shiftLeft(3_071).negate(), BigInteger.valueOf(65_537))));
        String insecure = "The key is not a secure RSA key.";
        BigInteger odd = ((RSAPublicKey) RsaPairs.next(3072).getPublic()).getModulus();
        assertEquals(insecure, refused(rsa(odd, BigInteger.valueOf(3))));
        assertEquals(insecure, refused(rsa(odd, BigInteger.valueOf(-65_537))));
        assertEquals(insecure, refused(rsa(odd, BigInteger.valueOf(65_538))));
        assertEquals(insecure, refused(rsa(odd, odd)));
        assertEquals(
                insecure, refused(rsa(odd.subtract(BigInteger.ONE), BigInteger.valueOf(65_537))));
        BigInteger prime = BigInteger.probablePrime(1_600, new Random(36));
        for (BigInteger notTwoPrimes :
                List.of(
                        BigInteger.ONE.shiftLeft(3_071).add(BigInteger.ONE),
                        odd.multiply(BigInteger.valueOf(1_009)),
                        prime.multiply(prime))) {
            assertEquals(insecure, refused(rsa(notTwoPrimes, BigInteger.valueOf(65_537))));
        }
        String unsupported = "The key has an unsupported type.";
        assertEquals(
                unsupported,
                refused(OfferedKeys.line("ssh-dss", new SshData().string("ssh-dss").bytes())));
        assertEquals(
                unsupported,
                refused(
                        OfferedKeys.line(
                                "ssh-ed25519-cert-v01@openssh.com",
                                new SshData().string("ssh-ed25519-cert-v01@openssh.com").bytes())));
        assertEquals(
                unsupported,
                refused(
                        OfferedKeys.pem(
                                "PUBLIC KEY",
                                OfferedKeys.pair("X25519", "-").getPublic().getEncoded())));
        assertEquals(
                unsupported,
                refused(
                        OfferedKeys.pem(
                                "PUBLIC KEY",
                                OfferedKeys.pair("Ed448", "-").getPublic().getEncoded())));
    }

    @ParameterizedTest
    @CsvSource({
        "Ed25519, -, Ed25519, Ed25519, -",
        "EC, secp256r1, SHA256withECDSA, EC, secp256r1",
        "EC, secp521r1, SHA512withECDSA, EC, secp256r1",
        "RSA, 3072, SHA256withRSA, RSA, 3072",
        "RSA, 3072, SHA256withECDSA, EC, secp256r1",
        "EC, secp256r1, SHA256withRSA, RSA, 3072"
    })
    void a_csr_is_refused_if_another_key_signed_it(
            String algorithm, String parameter, String signature, String other, String ofOther)
            throws Exception {
        byte[] request =
                OfferedKeys.request(
                        OfferedKeys.pair(algorithm, parameter).getPublic(),
                        OfferedKeys.pair(other, ofOther).getPrivate(),
                        signature);

        assertEquals(UNSIGNED, refused(OfferedKeys.pem("CERTIFICATE REQUEST", request)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHA1withRSA", "MD5withRSA", "SHA224withRSA"})
    void a_csr_is_refused_if_its_signature_algorithm_is_not_listed(String signature)
            throws Exception {
        KeyPair pair = OfferedKeys.pair("RSA", "3072");
        byte[] request = OfferedKeys.request(pair.getPublic(), pair.getPrivate(), signature);

        assertEquals(
                "The key is in a CSR with an unsupported signature algorithm; sign it with Ed25519,"
                        + " or with ECDSA or RSA (PKCS #1 v1.5) and SHA-256, SHA-384 or SHA-512.",
                refused(OfferedKeys.pem("CERTIFICATE REQUEST", request)));
    }

    @ParameterizedTest
    @CsvSource({"Ed25519, -", "EC, secp384r1", "RSA, 3072"})
    void a_csr_is_refused_if_any_byte_of_its_signature_was_changed(
            String algorithm, String parameter) throws Exception {
        byte[] request = OfferedKeys.request(OfferedKeys.pair(algorithm, parameter), algorithm);
        for (int i = 1; i <= 40; i++) {
            byte[] changed = request.clone();
            changed[changed.length - i] ^= 1;
            assertEquals(UNSIGNED, refused(OfferedKeys.pem("CERTIFICATE REQUEST", changed)));
        }
    }

    @Test
    void what_is_no_public_key_is_refused() throws Exception {
        KeyPair pair = OfferedKeys.pair("Ed25519", "-");
        byte[] key = accepted(OfferedKeys.pem("PUBLIC KEY", pair.getPublic().getEncoded())).ssh();
        assertEquals(
                "The key is neither a public key nor a CSR.",
                refused(OfferedKeys.pem("PRIVATE KEY", pair.getPrivate().getEncoded())));
        assertEquals("The key is longer than 8192 characters.", refused("x".repeat(9_000)));
        for (String text :
                List.of(
                        "",
                        "ssh-ed25519",
                        "ssh-ed25519 !",
                        OfferedKeys.line("ssh-rsa", key),
                        "cert-authority " + OfferedKeys.line("ssh-ed25519", key),
                        OfferedKeys.line("ssh-ed25519", key)
                                + "\n"
                                + OfferedKeys.line("ssh-ed25519", key),
                        OfferedKeys.line(
                                "ssh-ed25519", new SshData().raw(key).string("more").bytes()),
                        "-----BEGIN PUBLIC KEY-----",
                        OfferedKeys.pem("PUBLIC KEY", new byte[0]),
                        nested((byte) 0x30),
                        nested((byte) 0x24),
                        nested((byte) 0xa0))) {
            assertEquals(UNREADABLE, refused(text), text);
        }
    }

    /** As deep as fits, with lengths that aren't said. */
    private static String nested(byte tag) {
        byte[] bytes = new byte[5_600];
        for (int i = 0; i < bytes.length; i += 2) {
            bytes[i] = tag;
            bytes[i + 1] = (byte) 0x80;
        }
        return OfferedKeys.pem("CERTIFICATE REQUEST", bytes);
    }

    @Test
    void every_malformed_key_is_refused_in_the_same_words() throws Exception {
        for (String text : OfferedKeys.malformed(GENERATED, 36)) {
            switch (CallerKey.of(text)) {
                case Passed<CallerKey>(CallerKey key) -> assertTrue(key.ssh().length > 0);
                case Refused<CallerKey>(var refusal) -> assertInstanceOf(BadField.class, refusal);
            }
        }
    }

    private static CallerKey accepted(String text) {
        return switch (CallerKey.of(text)) {
            case Passed<CallerKey>(CallerKey key) -> key;
            case Refused<CallerKey>(var refusal) -> throw new AssertionError(refusal);
        };
    }

    private static String refused(String text) {
        return switch (CallerKey.of(text)) {
            case Verdict.Refused<CallerKey>(BadField(String field, String reason)) -> {
                assertEquals("body", field);
                yield reason;
            }
            case Verdict<CallerKey> other -> throw new AssertionError(other);
        };
    }

    private static String rsa(BigInteger modulus, BigInteger exponent) {
        return OfferedKeys.line(
                "ssh-rsa", new SshData().string("ssh-rsa").mpint(exponent).mpint(modulus).bytes());
    }
}
