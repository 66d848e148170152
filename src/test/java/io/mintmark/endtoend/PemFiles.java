package io.mintmark.endtoend;

import io.mintmark.Unchecked;
import io.mintmark.broker.token.RsaPairs;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;

/** Writes private keys as openssl does: PKCS#8 in PEM. */
public final class PemFiles {
    private static final int LINE = 64;
    private static final int RSA_BITS = 2048;

    private PemFiles() {}

    public static void p256(Path file) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            write(file, generator.generateKeyPair().getPrivate());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void rsa(Path file) {
        write(file, RsaPairs.next(RSA_BITS).getPrivate());
    }

    private static void write(Path file, PrivateKey key) {
        String base64 =
                Base64.getMimeEncoder(LINE, new byte[] {'\n'}).encodeToString(key.getEncoded());
        Unchecked.run(() ->
                Files.writeString(
                        file,
                        "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n"
                                .formatted(base64)));
    }
}
