package io.mintmark.base.outbound;

import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.jspecify.annotations.Nullable;

import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** A private certificate authority, and the TLS of servers that it vouches for. */
public final class Authority {
    private static final char[] PASSWORD = {};

    private final KeyPair keys = keyPair();
    private final X500Name name = new X500Name("CN=A private authority");
    private final X509Certificate certificate = certify(name, keys, null);

    /** What goes into {@code ca_certificate}. */
    public String pem() throws Exception {
        return pem("CERTIFICATE", certificate.getEncoded());
    }

    /** The TLS of a client that trusts this authority alone. */
    public SSLContext client() throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust(), null);
        return context;
    }

    private TrustManager[] trust() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("authority", certificate);
        TrustManagerFactory managers = TrustManagerFactory.getInstance("PKIX");
        managers.init(store);
        return managers.getTrustManagers();
    }

    /** Writes a new key, and a certificate for this name with the authority's behind it, as PEM. */
    public void write(String host, Path certificateFile, Path keyFile) throws Exception {
        write(host, certificateFile, keyFile, Instant.now());
    }

    /** The same with a certificate that is valid for an hour before and after a moment. */
    public void write(String host, Path certificateFile, Path keyFile, Instant validAround)
            throws Exception {
        KeyPair pair = keyPair();
        X509Certificate own =
                certify(
                        new X500Name("CN=a server"),
                        pair,
                        new GeneralNames(new GeneralName(GeneralName.dNSName, host)),
                        validAround);
        Files.writeString(keyFile, pem("PRIVATE KEY", pair.getPrivate().getEncoded()));
        Files.writeString(certificateFile, pem("CERTIFICATE", own.getEncoded()) + pem());
    }

    private static String pem(String kind, byte[] content) {
        return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
                .formatted(kind, Base64.getMimeEncoder().encodeToString(content), kind);
    }

    /** The TLS of a server with a certificate for this name, whose clients may have one too. */
    public SSLContext server(String host) throws Exception {
        KeyPair pair = keyPair();
        X509Certificate own =
                certify(
                        new X500Name("CN=a server"),
                        pair,
                        new GeneralNames(new GeneralName(GeneralName.dNSName, host)));
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry(
                "server", pair.getPrivate(), PASSWORD, new Certificate[] {own, certificate});
        KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
        managers.init(store, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), trust(), null);
        return context;
    }

    private X509Certificate certify(X500Name subject, KeyPair pair, @Nullable GeneralNames hosts) {
        return certify(subject, pair, hosts, Instant.now());
    }

    private X509Certificate certify(
            X500Name subject, KeyPair pair, @Nullable GeneralNames hosts, Instant now) {
        try {
            var builder =
                    new JcaX509v3CertificateBuilder(
                            name,
                            BigInteger.valueOf(now.toEpochMilli()),
                            Date.from(now.minus(Duration.ofHours(1))),
                            Date.from(now.plus(Duration.ofHours(1))),
                            subject,
                            pair.getPublic());
            builder.addExtension(
                    Extension.basicConstraints, true, new BasicConstraints(hosts == null));
            if (hosts != null) {
                builder.addExtension(Extension.subjectAlternativeName, false, hosts);
            }
            return new JcaX509CertificateConverter()
                    .getCertificate(
                            builder.build(
                                    new JcaContentSignerBuilder("SHA256withECDSA")
                                            .build(keys.getPrivate())));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static KeyPair keyPair() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(256);
            return generator.generateKeyPair();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
