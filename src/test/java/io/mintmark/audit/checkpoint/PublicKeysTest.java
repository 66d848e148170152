package io.mintmark.audit.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;

import io.mintmark.base.start.StartFailed;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.util.Base64;
import java.util.List;

class PublicKeysTest {
    @TempDir Path directory;

    @Test
    void a_key_of_the_curve_p_256_is_read() throws Exception {
        var key = new ECKeyGenerator(Curve.P_256).generate().toPublicJWK();

        assertEquals(List.of(key), PublicKeys.read(file(pem(key.toECPublicKey())), "--keys"));
    }

    @Test
    void a_note_key_and_a_damaged_key_are_refused_with_a_reason_that_is_true_of_both()
            throws Exception {
        String note = pem(KeyPairGenerator.getInstance("Ed25519").generateKeyPair().getPublic());

        assertRefused("holds a public key that is damaged or isn't P-256", note);
        assertRefused(
                "holds a public key that is damaged or isn't P-256",
                "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n");
    }

    @Test
    void a_key_of_another_curve_is_refused() throws Exception {
        assertRefused(
                "holds a key that isn't P-256",
                pem(new ECKeyGenerator(Curve.P_384).generate().toECPublicKey()));
    }

    private void assertRefused(String why, String pem) throws Exception {
        Path file = file(pem);
        assertEquals(
                "--keys: '%s' %s; write it with: openssl pkey -in KEY -pubout -out %s"
                        .formatted(file, why, file),
                assertThrows(StartFailed.class, () -> PublicKeys.read(file, "--keys"))
                        .getMessage());
    }

    private Path file(String pem) throws Exception {
        return Files.writeString(directory.resolve("trusted.pem"), pem);
    }

    private static String pem(PublicKey key) {
        return "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n"
                .formatted(Base64.getMimeEncoder().encodeToString(key.getEncoded()));
    }
}
