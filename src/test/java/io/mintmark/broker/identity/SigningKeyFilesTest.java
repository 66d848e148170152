package io.mintmark.broker.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.RSAKey;

import io.mintmark.broker.token.RsaPairs;

import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.sec.ECPrivateKey;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.openssl.jcajce.JcaPKCS8Generator;
import org.bouncycastle.openssl.jcajce.JceOpenSSLPKCS8EncryptorBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;

class SigningKeyFilesTest {
    private static final InstantSource CLOCK =
            InstantSource.fixed(Instant.parse("2026-07-29T12:00:00Z"));
    private static final String PARAMETERS =
            """
            -----BEGIN EC PARAMETERS-----
            BggqhkjOPQMBBw==
            -----END EC PARAMETERS-----
            """;

    @TempDir Path directory;

    @Test
    void pkcs8_of_p256_is_read() throws JOSEException {
        KeyPair pair = KeyDirectory.ec("secp256r1");
        assertEquals(thumbprint(pair), idOf(KeyDirectory.pkcs8(pair)));
    }

    @Test
    void pkcs8_of_rsa_is_read() throws JOSEException {
        KeyPair pair = RsaPairs.next(2048);
        assertEquals(
                new RSAKey.Builder((RSAPublicKey) pair.getPublic())
                        .build()
                        .computeThumbprint()
                        .toString(),
                idOf(KeyDirectory.pkcs8(pair)));
    }

    @Test
    void pkcs1_of_rsa_is_read() throws IOException {
        KeyPair pair = RsaPairs.next(2048);
        byte[] pkcs1 = info(pair).parsePrivateKey().toASN1Primitive().getEncoded();

        assertEquals(
                idOf(KeyDirectory.pkcs8(pair)), idOf(KeyDirectory.pem("RSA PRIVATE KEY", pkcs1)));
    }

    @Test
    void sec1_is_read_after_its_parameters_and_without_its_public_half()
            throws IOException, JOSEException {
        KeyPair pair = KeyDirectory.ec("secp256r1");
        var d = ECPrivateKey.getInstance(info(pair).parsePrivateKey()).getKey();
        byte[] sec1 = new ECPrivateKey(256, d, SECObjectIdentifiers.secp256r1).getEncoded();

        assertEquals(thumbprint(pair), idOf(PARAMETERS + KeyDirectory.pem("EC PRIVATE KEY", sec1)));
    }

    @Test
    void an_empty_directory_is_told_with_the_line_that_makes_a_key() {
        assertEquals(
                "BROKER_SIGNING_KEYS_DIR %1$s contains no signing key; make a key with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out %1$s/2026-07-29.pem"
                        .formatted(directory),
                complaint());
    }

    @Test
    void what_never_ends_is_not_read() throws IOException {
        Files.createSymbolicLink(directory.resolve("2026-01-01.pem"), Path.of("/dev/zero"));
        assertTrue(complaint().contains("is not a regular file"));
    }

    @Test
    void a_missing_directory_is_told() {
        Path missing = directory.resolve("missing");
        var complaint =
                assertThrows(
                        UnusableSigningKeysException.class,
                        new SigningKeyFiles(missing, CLOCK)::contents);

        assertTrue(
                String.valueOf(complaint.getMessage())
                        .startsWith("BROKER_SIGNING_KEYS_DIR %s can't be read".formatted(missing)));
    }

    @Test
    void a_file_with_another_name_is_told() throws IOException {
        Files.writeString(directory.resolve("key.pem"), "");
        assertComplaint("key.pem isn't named YYYY-MM-DD.pem");
    }

    @Test
    void a_day_that_is_none_is_told() throws IOException {
        Files.writeString(directory.resolve("2026-02-30.pem"), "");
        assertComplaint("2026-02-30.pem isn't named YYYY-MM-DD.pem");
    }

    @Test
    void names_with_a_dot_are_passed_over() throws IOException {
        Files.createDirectory(directory.resolve("..data"));
        new KeyDirectory(directory).withP256("2026-01-01");

        assertEquals(1, keys().published().size());
    }

    @Test
    void a_key_on_another_curve_is_told() {
        holds(KeyDirectory.pkcs8(KeyDirectory.ec("secp384r1")));
        assertComplaint("2026-01-01.pem must be a P-256 key");
    }

    @Test
    void a_small_rsa_key_is_told() {
        holds(KeyDirectory.pkcs8(RsaPairs.next(1024)));
        assertComplaint("2026-01-01.pem is an RSA key of 1024 bits; the minimum is 2048");
    }

    @Test
    void a_key_of_another_kind_is_told() throws NoSuchAlgorithmException {
        holds(KeyDirectory.pkcs8(KeyPairGenerator.getInstance("Ed25519").generateKeyPair()));
        assertComplaint("2026-01-01.pem is neither a P-256 nor an RSA key");
    }

    @Test
    void an_encrypted_key_is_told() throws IOException, OperatorCreationException {
        StringWriter text = new StringWriter();
        try (JcaPEMWriter writer = new JcaPEMWriter(text)) {
            writer.writeObject(
                    new JcaPKCS8Generator(
                            KeyDirectory.ec("secp256r1").getPrivate(),
                            new JceOpenSSLPKCS8EncryptorBuilder(JcaPKCS8Generator.AES_256_CBC)
                                    .setProvider(new BouncyCastleProvider())
                                    .setPassword("pass phrase".toCharArray())
                                    .build()));
        }
        holds(text.toString());
        assertComplaint("2026-01-01.pem is encrypted with a pass phrase");
    }

    @Test
    void a_public_key_is_told() {
        holds(
                KeyDirectory.pem(
                        "PUBLIC KEY", KeyDirectory.ec("secp256r1").getPublic().getEncoded()));
        assertComplaint("2026-01-01.pem contains no private key");
    }

    @Test
    void a_file_that_is_no_pem_is_told() {
        holds("hello");
        assertComplaint("2026-01-01.pem contains no private key in PEM format");
    }

    @Test
    void a_damaged_key_is_told_without_its_content() {
        holds("-----BEGIN PRIVATE KEY-----\nTUlHSEFnRUFN\n-----END PRIVATE KEY-----\n");
        assertComplaint("2026-01-01.pem is not a private key in PEM format");
        assertFalse(complaint().contains("TUlH"));
    }

    @Test
    void the_same_key_twice_is_told() {
        String pem = KeyDirectory.pkcs8(KeyDirectory.ec("secp256r1"));
        new KeyDirectory(directory).with("2026-01-01", pem).with("2026-02-01", pem);
        assertComplaint("2026-02-01.pem holds the same key as " + directory);
    }

    private void holds(String pem) {
        new KeyDirectory(directory).with("2026-01-01", pem);
    }

    private String idOf(String pem) {
        holds(pem);
        JWK key = keys().published().getKeys().getFirst();
        assertFalse(key.isPrivate());
        return key.getKeyID();
    }

    private SigningKeys keys() {
        SigningKeyFiles files = new SigningKeyFiles(directory, CLOCK);
        return files.keys(files.contents(), Set.of());
    }

    private String complaint() {
        return String.valueOf(
                assertThrows(UnusableSigningKeysException.class, this::keys).getMessage());
    }

    private void assertComplaint(String part) {
        String complaint = complaint();
        assertTrue(complaint.contains(part), complaint);
        assertTrue(complaint.endsWith("; correct that file or remove it"), complaint);
    }

    private static PrivateKeyInfo info(KeyPair pair) {
        return PrivateKeyInfo.getInstance(pair.getPrivate().getEncoded());
    }

    private static String thumbprint(KeyPair pair) throws JOSEException {
        return new ECKey.Builder(Curve.P_256, (ECPublicKey) pair.getPublic())
                .build()
                .computeThumbprint()
                .toString();
    }
}
