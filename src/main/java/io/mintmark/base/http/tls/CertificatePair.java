package io.mintmark.base.http.tls;

import io.mintmark.base.config.TlsFiles;
import io.mintmark.base.file.RegularFile;
import io.mintmark.base.key.PrivateKeyPem;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** The contents of a port's two files at one time. */
final class CertificatePair {
    private static final int MOST_BYTES = 256 << 10;
    private static final char[] NO_PASSWORD = {};
    private static final byte[] SIGNED = "mintmark".getBytes(StandardCharsets.US_ASCII);

    private final TlsFiles files;
    private final byte[] certificate;
    private final byte[] key;

    private CertificatePair(TlsFiles files, byte[] certificate, byte[] key) {
        this.files = files;
        this.certificate = certificate;
        this.key = key;
    }

    /** Reads both files. */
    static CertificatePair read(TlsFiles files) throws UnusableCertificate {
        return new CertificatePair(files, bytes(files.certificate()), bytes(files.key()));
    }

    private static byte[] bytes(Path file) throws UnusableCertificate {
        try {
            return RegularFile.read(file, MOST_BYTES);
        } catch (RegularFile.Unfit e) {
            throw new UnusableCertificate("'%s' %s".formatted(file, e.getMessage()));
        } catch (IOException e) {
            throw new UnusableCertificate("'%s' can't be read".formatted(file));
        }
    }

    /** Whether the files held the same bytes. */
    boolean isSameAs(CertificatePair other) {
        return Arrays.equals(certificate, other.certificate) && Arrays.equals(key, other.key);
    }

    /** The chain of certificates, the port's own first. */
    List<X509Certificate> chain() throws UnusableCertificate {
        try {
            List<X509Certificate> chain =
                    CertificateFactory.getInstance("X.509")
                            .generateCertificates(new ByteArrayInputStream(certificate))
                            .stream()
                            .map(X509Certificate.class::cast)
                            .toList();
            if (chain.isEmpty()) {
                throw unusable("'%s' holds no certificate in PEM", files.certificate());
            }
            return chain;
        } catch (CertificateException e) {
            throw unusable("'%s' isn't a chain of certificates in PEM", files.certificate());
        }
    }

    /**
     * The TLS of a port with this pair.
     *
     * @throws UnusableCertificate if the key isn't that of the first certificate, a certificate
     *     isn't signed by the next one, or the first isn't valid now: clients would refuse it
     */
    SSLContext context() throws UnusableCertificate {
        List<X509Certificate> chain = chain();
        PrivateKey secret = privateKey();
        requireFit(chain.getFirst(), secret);
        requireOrder(chain);
        requireValid(chain.getFirst());
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("port", secret, NO_PASSWORD, chain.toArray(Certificate[]::new));
            KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
            managers.init(store, NO_PASSWORD);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(managers.getKeyManagers(), null, null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new UnusableCertificate(
                    "'%s' and '%s' can't be used for TLS: %s"
                            .formatted(files.certificate(), files.key(), e.getMessage()));
        }
    }

    private PrivateKey privateKey() throws UnusableCertificate {
        try {
            return PrivateKeyPem.readAnyKind(new String(key, StandardCharsets.ISO_8859_1));
        } catch (PrivateKeyPem.UnfitException e) {
            throw unusable("'%s' " + e.getMessage(), files.key());
        }
    }

    private void requireFit(X509Certificate own, PrivateKey secret) throws UnusableCertificate {
        if (!isKeyOf(own, secret)) {
            throw new UnusableCertificate(
                    "the key in '%s' doesn't belong to the first certificate in '%s'"
                            .formatted(files.key(), files.certificate()));
        }
    }

    private static boolean isKeyOf(X509Certificate own, PrivateKey secret) {
        try {
            Signature signature = Signature.getInstance(algorithm(secret));
            signature.initSign(secret);
            signature.update(SIGNED);
            byte[] signed = signature.sign();
            signature.initVerify(own.getPublicKey());
            signature.update(SIGNED);
            return signature.verify(signed);
        } catch (GeneralSecurityException e) {
            return false; // keys of two kinds
        }
    }

    private static String algorithm(PrivateKey secret) {
        return switch (secret.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> "EdDSA";
        };
    }

    private void requireOrder(List<X509Certificate> chain) throws UnusableCertificate {
        for (int i = 1; i < chain.size(); i++) {
            try {
                chain.get(i - 1).verify(chain.get(i).getPublicKey());
            } catch (GeneralSecurityException e) {
                throw unusable(
                        "certificate "
                                + i
                                + " in '%s' isn't signed by the next one;"
                                + " put the port's own first, then each issuer's",
                        files.certificate());
            }
        }
    }

    private void requireValid(X509Certificate own) throws UnusableCertificate {
        try {
            own.checkValidity();
        } catch (CertificateExpiredException e) {
            throw unusable(
                    "the certificate in '%s' expired at " + own.getNotAfter().toInstant(),
                    files.certificate());
        } catch (CertificateNotYetValidException e) {
            throw unusable(
                    "the certificate in '%s' is not valid before " + own.getNotBefore().toInstant(),
                    files.certificate());
        }
    }

    private static UnusableCertificate unusable(String sentence, Path file) {
        return new UnusableCertificate(sentence.formatted(file));
    }
}
