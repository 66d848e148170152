package io.mintmark.base.key;

import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.crypto.util.OpenSSHPrivateKeyUtil;
import org.bouncycastle.crypto.util.PrivateKeyInfoFactory;
import org.bouncycastle.openssl.PEMEncryptedKeyPair;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.pkcs.PKCS8EncryptedPrivateKeyInfo;
import org.bouncycastle.util.io.pem.PemReader;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.security.spec.InvalidKeySpecException;

/**
 * Private keys that the JDK doesn't read: those before PKCS#8, and of kinds that the broker doesn't
 * sign with. Apart from {@link PrivateKeyPem}, so that a start whose keys are usual ones doesn't
 * load the library.
 */
final class OtherPrivateKeys {
    private OtherPrivateKeys() {}

    /** Converts a key to PKCS#8. */
    static byte[] toPkcs8(String pem) throws PrivateKeyPem.UnfitException, InvalidKeySpecException {
        if (pem.startsWith("-----BEGIN OPENSSH")) {
            return ofOpenSsh(pem);
        }
        try (PEMParser parser = new PEMParser(new StringReader(pem))) {
            return info(parser.readObject()).getEncoded();
        } catch (IOException | RuntimeException e) {
            throw new InvalidKeySpecException(e);
        }
    }

    /** openssh-key-v1 (PROTOCOL.key of OpenSSH), as ssh-keygen writes it. */
    private static byte[] ofOpenSsh(String pem)
            throws PrivateKeyPem.UnfitException, InvalidKeySpecException {
        try (PemReader reader = new PemReader(new StringReader(pem))) {
            byte[] content = reader.readPemObject().getContent();
            if (!new String(content, StandardCharsets.ISO_8859_1)
                    .startsWith("openssh-key-v1\0\0\0\0\4none")) {
                throw new PrivateKeyPem.UnfitException("is encrypted with a pass phrase");
            }
            return PrivateKeyInfoFactory.createPrivateKeyInfo(
                            OpenSSHPrivateKeyUtil.parsePrivateKeyBlob(content))
                    .getEncoded();
        } catch (IOException | RuntimeException e) {
            throw new InvalidKeySpecException(e);
        }
    }

    private static PrivateKeyInfo info(@Nullable Object part)
            throws PrivateKeyPem.UnfitException, IOException {
        return switch (part) {
            case PEMKeyPair pair -> pair.getPrivateKeyInfo();
            case PKCS8EncryptedPrivateKeyInfo _, PEMEncryptedKeyPair _ ->
                    throw new PrivateKeyPem.UnfitException("is encrypted with a pass phrase");
            case null, default -> throw new IOException("no key");
        };
    }

    /** Distinguishes a private key of another kind from content that isn't a key. */
    static void requireOne(byte[] pkcs8) throws InvalidKeySpecException {
        try {
            var _ = PrivateKeyInfo.getInstance(pkcs8);
        } catch (RuntimeException e) {
            throw new InvalidKeySpecException(e);
        }
    }
}
