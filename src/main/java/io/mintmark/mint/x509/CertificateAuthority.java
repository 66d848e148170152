package io.mintmark.mint.x509;

import io.mintmark.mint.CaKey;
import io.mintmark.mint.UnusableSettingsException;

import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.operator.ContentSigner;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.util.io.pem.PemObject;
import org.bouncycastle.util.io.pem.PemWriter;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;

/**
 * A CA of a tenant.
 *
 * @param chain its certificate, then those above it
 */
record CertificateAuthority(List<X509Certificate> chain, CaKey key) {

    static CertificateAuthority of(String pem, CaKey key) {
        try {
            List<X509Certificate> chain =
                    CertificateFactory.getInstance("X.509")
                            .generateCertificates(
                                    new ByteArrayInputStream(
                                            pem.getBytes(StandardCharsets.US_ASCII)))
                            .stream()
                            .map(X509Certificate.class::cast)
                            .toList();
            if (chain.isEmpty() || chain.getFirst().getBasicConstraints() < 0) {
                throw unusable("must begin with the certificate of a CA");
            }
            if (!Arrays.equals(chain.getFirst().getPublicKey().getEncoded(), key.info())) {
                throw unusable("is not the certificate of ca_key");
            }
            return new CertificateAuthority(chain, key);
        } catch (CertificateException e) {
            throw unusable("must be certificates in PEM format");
        }
    }

    X509Certificate certificate() {
        return chain.getFirst();
    }

    /** Refuses a lifetime that the CA's own doesn't include. */
    void requireValid(Instant from, Instant to) {
        if (certificate().getNotBefore().toInstant().isAfter(from)) {
            throw unusable("is not valid before " + certificate().getNotBefore().toInstant());
        }
        Instant end = certificate().getNotAfter().toInstant();
        if (end.isBefore(to)) {
            throw unusable("expires at %s, before the credential: renew it".formatted(end));
        }
    }

    X509CertificateHolder sign(X509v3CertificateBuilder leaf) {
        return leaf.build(signer());
    }

    private ContentSigner signer() {
        try {
            return new JcaContentSignerBuilder(key.algorithm()).build(key.privateKey());
        } catch (OperatorCreationException e) {
            throw new IllegalStateException("the CA key does not sign", e);
        }
    }

    /** The CA that clients trust. */
    String root() {
        return pem(chain.getLast());
    }

    /** What a client sends after its own certificate. */
    String intermediates() {
        StringBuilder all = new StringBuilder();
        chain.subList(0, chain.size() - 1).forEach(one -> all.append(pem(one)));
        return all.toString();
    }

    private static String pem(X509Certificate certificate) {
        try {
            return pem("CERTIFICATE", certificate.getEncoded());
        } catch (CertificateException e) {
            throw new IllegalStateException(e);
        }
    }

    static String pem(String label, byte[] content) {
        StringWriter text = new StringWriter();
        try (PemWriter writer = new PemWriter(text)) {
            writer.writeObject(new PemObject(label, content));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private static UnusableSettingsException unusable(String what) {
        return new UnusableSettingsException("access provider setting 'ca_certificate' " + what);
    }
}
