package io.mintmark.audit.note;

import io.mintmark.base.file.RegularFile;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.interfaces.EdECPrivateKey;
import java.security.spec.NamedParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A file with an Ed25519 private key, PKCS#8 in PEM. */
public final class NoteKeyFile {
    private static final int MOST_BYTES = 16 << 10;
    private static final Pattern PEM =
            Pattern.compile(
                    "\\s*-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]*)"
                            + "-----END PRIVATE KEY-----\\s*");

    private NoteKeyFile() {}

    /**
     * Reads the key.
     *
     * @throws IOException whose message says why it can't be used
     */
    public static KeyPair read(Path file) throws IOException {
        Matcher pem = PEM.matcher(RegularFile.text(file, MOST_BYTES));
        if (!pem.matches()) {
            throw new IOException("it is not a private key in PEM (PKCS#8)");
        }
        try {
            byte[] encoded = Base64.getMimeDecoder().decode(pem.group(1));
            PrivateKey key =
                    KeyFactory.getInstance("Ed25519")
                            .generatePrivate(new PKCS8EncodedKeySpec(encoded));
            return pair(((EdECPrivateKey) key).getBytes().orElseThrow());
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new IOException("it is not an Ed25519 key", e);
        }
    }

    /** The JDK derives a public key only where it makes the private one, from random bytes. */
    private static KeyPair pair(byte[] seed) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
        generator.initialize(
                NamedParameterSpec.ED25519,
                new SecureRandom() {
                    private static final long serialVersionUID = 1L;

                    @Override
                    public void nextBytes(byte[] bytes) {
                        System.arraycopy(seed, 0, bytes, 0, bytes.length);
                    }
                });
        return generator.generateKeyPair();
    }

    /**
     * Makes a key where there is no file, which only its owner can read. If another process makes
     * one at the same time, both use that of the first.
     *
     * @throws IOException if the directory can't be written
     */
    public static void make(Path file) throws IOException {
        if (Files.exists(file)) {
            return;
        }
        Path partial =
                Files.createTempFile(
                        file.toAbsolutePath().getParent(),
                        ".note",
                        ".pem",
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rw-------")));
        try {
            write(partial, KeyPairGenerator.getInstance("Ed25519").generateKeyPair());
            Files.createLink(file, partial);
        } catch (FileAlreadyExistsException e) {
            // another process was faster
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(
                    "this Java runtime lacks Ed25519; use a complete Java 25 runtime", e);
        } finally {
            Files.delete(partial);
        }
    }

    private static void write(Path file, KeyPair made) throws IOException {
        String pem =
                "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n"
                        .formatted(
                                Base64.getEncoder().encodeToString(made.getPrivate().getEncoded()));
        try (FileChannel channel = FileChannel.open(file, Set.of(StandardOpenOption.WRITE))) {
            ByteBuffer bytes = ByteBuffer.wrap(pem.getBytes(StandardCharsets.US_ASCII));
            while (bytes.hasRemaining()) {
                var _ = channel.write(bytes);
            }
            channel.force(true);
        }
    }
}
