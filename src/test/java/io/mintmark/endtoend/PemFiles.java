package io.mintmark.endtoend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.RSAKeyGenParameterSpec;
import java.util.Base64;

/** Writes new private keys as openssl does: PKCS#8 in PEM. */
public final class PemFiles {
    private static final int LINE = 64;
    private static final int RSA_BITS = 2048;

    private PemFiles() {}

    public static void p256(Path file) {
        write(file, "EC", new ECGenParameterSpec("secp256r1"));
    }

    public static void rsa(Path file) {
        write(file, "RSA", new RSAKeyGenParameterSpec(RSA_BITS, RSAKeyGenParameterSpec.F4));
    }

    private static void write(Path file, String algorithm, AlgorithmParameterSpec parameters) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
            generator.initialize(parameters);
            byte[] key = generator.generateKeyPair().getPrivate().getEncoded();
            String base64 = Base64.getMimeEncoder(LINE, new byte[] {'\n'}).encodeToString(key);
            Files.writeString(
                    file,
                    "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n"
                            .formatted(base64));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
