package io.mintmark.base.outbound;

import io.mintmark.base.outbound.OutboundFailure.Kind;

import org.apache.hc.client5.http.ssl.DefaultClientTlsStrategy;
import org.apache.hc.client5.http.ssl.DefaultHostnameVerifier;
import org.apache.hc.client5.http.ssl.HostnameVerificationPolicy;
import org.apache.hc.client5.http.ssl.TlsSocketStrategy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import java.util.Optional;

import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** The certificates that a TLS connection trusts. The host's name is verified in any case. */
final class Trust {
    private static final char[] NO_PASSWORD = {};

    private Trust() {}

    /** The authorities that come with the Java platform, read by the first connection. */
    static TlsSocketStrategy publicAuthorities() {
        return (socket, host, port, attachment, context) -> {
            try {
                return platform().upgrade(socket, host, port, attachment, context);
            } catch (GeneralSecurityException e) {
                throw new SSLException(
                        "the Java platform's CA certificates can't be loaded; check its cacerts file",
                        e);
            }
        };
    }

    /**
     * Creates a strategy that trusts the platform's authorities, which the JDK reads once.
     *
     * @throws GeneralSecurityException if the authorities can't be read
     */
    static TlsSocketStrategy platform() throws GeneralSecurityException {
        return strategy(SSLContext.getDefault());
    }

    /** Creates a strategy that trusts these authorities and no others. */
    static TlsSocketStrategy only(String pem) throws OutboundFailure {
        return of(Optional.of(pem), Optional.empty());
    }

    /**
     * These authorities and no others, or else those of the Java platform.
     *
     * @param own presented to hosts that ask for a certificate
     */
    static TlsSocketStrategy of(Optional<String> pem, Optional<ClientCertificate> own)
            throws OutboundFailure {
        return strategy(context(pem, own));
    }

    /** The context of protocols other than HTTP. */
    static SSLContext context(Optional<String> pem, Optional<ClientCertificate> own)
            throws OutboundFailure {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(
                    own.isPresent() ? keyManagers(own.get()) : null,
                    pem.isPresent() ? trustManagers(pem.get()) : null,
                    null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new OutboundFailure(
                    Kind.AUTHORITY_UNREADABLE, "ca_certificate isn't a certificate in PEM", e);
        }
    }

    private static TrustManager[] trustManagers(String pem)
            throws GeneralSecurityException, IOException {
        TrustManagerFactory trust =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(keyStore(certificates(pem)));
        return trust.getTrustManagers();
    }

    private static KeyManager[] keyManagers(ClientCertificate own)
            throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry(
                "broker", own.key(), NO_PASSWORD, own.chain().toArray(Certificate[]::new));
        KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
        managers.init(store, NO_PASSWORD);
        return managers.getKeyManagers();
    }

    private static Collection<? extends Certificate> certificates(String pem)
            throws CertificateException {
        Collection<? extends Certificate> certificates =
                CertificateFactory.getInstance("X.509")
                        .generateCertificates(
                                new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8)));
        if (certificates.isEmpty()) {
            throw new CertificateException("the PEM contains no certificate");
        }
        return certificates;
    }

    private static KeyStore keyStore(Collection<? extends Certificate> certificates)
            throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        for (Certificate certificate : certificates) {
            store.setCertificateEntry("authority-" + store.size(), certificate);
        }
        return store;
    }

    private static TlsSocketStrategy strategy(SSLContext context) {
        return new DefaultClientTlsStrategy(
                context, HostnameVerificationPolicy.BOTH, new DefaultHostnameVerifier());
    }
}
