package io.mintmark.broker.identity;

import io.mintmark.broker.token.RsaPairs;

import org.bouncycastle.util.io.pem.PemObject;
import org.bouncycastle.util.io.pem.PemWriter;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;

/** A directory of signing keys, filled by tests. */
public record KeyDirectory(Path path) {

    /** Adds a new P-256 key. */
    public KeyDirectory withP256(String day) {
        return with(day, pkcs8(ec("secp256r1")));
    }

    /** Adds an RSA key. */
    public KeyDirectory withRsa(String day, int bits) {
        return with(day, pkcs8(RsaPairs.next(bits)));
    }

    /** Adds a file. */
    public KeyDirectory with(String day, String pem) {
        try {
            Files.writeString(path.resolve(day + ".pem"), pem);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static KeyPair ec(String curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    public static String pkcs8(KeyPair pair) {
        return pem("PRIVATE KEY", pair.getPrivate().getEncoded());
    }

    static String pem(String type, byte[] content) {
        StringWriter text = new StringWriter();
        try (PemWriter writer = new PemWriter(text)) {
            writer.writeObject(new PemObject(type, content));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }
}
