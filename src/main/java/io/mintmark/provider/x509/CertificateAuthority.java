package io.mintmark.provider.x509;

import io.mintmark.base.tenant.MintId;
import io.mintmark.provider.CaKey;
import io.mintmark.provider.UnusableSettingsException;

import org.bouncycastle.asn1.x509.CRLNumber;
import org.bouncycastle.asn1.x509.CRLReason;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.X509v2CRLBuilder;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v2CRLBuilder;
import org.bouncycastle.operator.ContentSigner;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.util.io.pem.PemObject;
import org.bouncycastle.util.io.pem.PemWriter;
import org.jspecify.annotations.Nullable;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Date;
import java.util.List;

/**
 * A CA of a tenant.
 *
 * @param chain its certificate, then those above it
 */
record CertificateAuthority(List<X509Certificate> chain, CaKey key) {
    /** RFC 5280 section 4.2.1.3. */
    private static final int CRL_SIGN = 6;

    /**
     * The number of seconds by which a certificate is backdated, so that a server whose clock is
     * slow accepts it.
     */
    static final int BACKDATED_SECONDS = 60;

    private static final Duration VALID = Duration.ofDays(7);

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

    /** Requires that the CA's certificate is valid during the whole lifetime. */
    void requireValid(Instant from, Instant to) {
        if (certificate().getNotBefore().toInstant().isAfter(from)) {
            throw unusable("is not valid before " + certificate().getNotBefore().toInstant());
        }
        Instant end = certificate().getNotAfter().toInstant();
        if (end.isBefore(to)) {
            throw unusable(
                    end.isBefore(from)
                            ? "expired at %s: renew it".formatted(end)
                            : "expires at %s, before the credential: renew it".formatted(end));
        }
    }

    X509CertificateHolder sign(X509v3CertificateBuilder leaf) {
        return leaf.build(signer());
    }

    /**
     * A list of certificates that were revoked (RFC 5280 section 5), in DER. It is valid for a
     * week, so that servers notice when they no longer get new ones, and dated back as certificates
     * are, so that servers whose clocks are slow accept it.
     */
    byte[] revocationList(List<MintId> ended, Instant now) {
        boolean @Nullable [] usage = certificate().getKeyUsage();
        if (usage != null && !usage[CRL_SIGN]) {
            throw unusable(
                    "may not sign revocation lists: create a CA certificate with the key usage"
                            + " cRLSign");
        }
        requireValid(now, now);
        Date at = Date.from(now.truncatedTo(ChronoUnit.SECONDS).minusSeconds(BACKDATED_SECONDS));
        try {
            X509v2CRLBuilder list =
                    new JcaX509v2CRLBuilder(certificate().getSubjectX500Principal(), at)
                            .setNextUpdate(Date.from(at.toInstant().plus(VALID)));
            ended.forEach(mint -> list.addCRLEntry(mint.number(), at, CRLReason.unspecified));
            list.addExtension(
                    Extension.authorityKeyIdentifier,
                    false,
                    new JcaX509ExtensionUtils().createAuthorityKeyIdentifier(certificate()));
            list.addExtension(
                    Extension.cRLNumber,
                    false,
                    new CRLNumber(BigInteger.valueOf(now.toEpochMilli())));
            return list.build(signer()).getEncoded();
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("no revocation list could be made", e);
        }
    }

    private ContentSigner signer() {
        try {
            return new JcaContentSignerBuilder(key.algorithm()).build(key.privateKey());
        } catch (OperatorCreationException e) {
            throw new IllegalStateException("signing with the CA key failed", e);
        }
    }

    /** The CA that clients trust. */
    String root() {
        return pem(chain.getLast());
    }

    /** The intermediate certificates, which a client sends after its own. */
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
