package io.mintmark.provider;

import io.mintmark.base.key.PrivateKeyPem;
import io.mintmark.base.key.PrivateKeyPem.UnfitException;
import io.mintmark.base.outbound.ClientCertificate;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.TenantName;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;

/**
 * The settings {@code client_certificate} and {@code client_key} of an access provider: what the
 * broker presents in TLS.
 *
 * @param certificate PEM, the broker's own first
 * @param keyFile the reference to the private key
 */
public record PresentedCertificate(String certificate, String keyFile) {

    /** Reads the certificate and its key; empty if the access provider has neither. */
    public static Optional<PresentedCertificate> of(Settings provider) {
        Optional<String> certificate = provider.text("client_certificate");
        Optional<String> file = provider.secretFile("client_key");
        if (certificate.isPresent() != file.isPresent()) {
            throw provider.unusable("client_certificate", "must be set together with client_key");
        }
        return certificate.map(pem -> new PresentedCertificate(pem, file.orElseThrow()));
    }

    /**
     * Makes the client certificate with the private key of the tenant's file.
     *
     * @throws UnusableSettingsException if the certificate or the key is unusable
     */
    public ClientCertificate read(SettingSecrets secrets, TenantName tenant) {
        return with(secrets.read(tenant, "client_key", keyFile));
    }

    /** Makes the client certificate with its private key. */
    public ClientCertificate with(Secret key) {
        try {
            return new ClientCertificate(PrivateKeyPem.readAnyKind(key.reveal()), chain());
        } catch (UnfitException e) {
            throw unusable(
                    "client_key' refers to '%s', which %s".formatted(keyFile, e.getMessage()));
        }
    }

    private List<X509Certificate> chain() {
        try {
            var pem = new ByteArrayInputStream(certificate.getBytes(StandardCharsets.US_ASCII));
            List<X509Certificate> chain =
                    CertificateFactory.getInstance("X.509").generateCertificates(pem).stream()
                            .map(X509Certificate.class::cast)
                            .toList();
            if (chain.isEmpty()) {
                throw new CertificateException("the PEM contains no certificate");
            }
            return chain;
        } catch (CertificateException e) {
            throw unusable("client_certificate' must be certificates in PEM format");
        }
    }

    private static UnusableSettingsException unusable(String what) {
        return new UnusableSettingsException("access provider setting '" + what);
    }
}
