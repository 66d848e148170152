package io.mintmark.provider.x509;

import io.mintmark.broker.identity.KeyDirectory;
import io.mintmark.broker.token.RsaPairs;

import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;

/**
 * A certificate authority for tests.
 *
 * @param certificate in PEM
 * @param key in PEM
 */
public record Ca(String certificate, String key) {

    /** One that is valid for a while longer. */
    public static Ca of(String algorithm, Duration validFor) {
        return of(algorithm, validFor, true);
    }

    static Ca of(String algorithm, Duration validFor, boolean isCa) {
        try {
            KeyPair pair = pair(algorithm);
            X500Name name = new X500Name("CN=acme CA");
            Instant now = Instant.now();
            var certificate =
                    new JcaX509v3CertificateBuilder(
                                    name,
                                    BigInteger.ONE,
                                    Date.from(now.minusSeconds(3600)),
                                    Date.from(now.plus(validFor)),
                                    name,
                                    pair.getPublic())
                            .addExtension(
                                    Extension.basicConstraints, true, new BasicConstraints(isCa))
                            .addExtension(
                                    Extension.keyUsage,
                                    true,
                                    new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign))
                            .addExtension(
                                    Extension.subjectKeyIdentifier,
                                    false,
                                    new JcaX509ExtensionUtils()
                                            .createSubjectKeyIdentifier(pair.getPublic()))
                            .build(
                                    new JcaContentSignerBuilder(
                                                    algorithm.equals("RSA")
                                                            ? "SHA256withRSA"
                                                            : algorithm.equals("EC")
                                                                    ? "SHA256withECDSA"
                                                                    : algorithm)
                                            .build(pair.getPrivate()));
            return new Ca(
                    CertificateAuthority.pem("CERTIFICATE", certificate.getEncoded()),
                    KeyDirectory.pkcs8(pair));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Its public key in PEM. */
    public String publicKey() {
        try {
            byte[] pem = certificate.getBytes(StandardCharsets.US_ASCII);
            var parsed =
                    CertificateFactory.getInstance("X.509")
                            .generateCertificate(new ByteArrayInputStream(pem));
            return CertificateAuthority.pem("PUBLIC KEY", parsed.getPublicKey().getEncoded());
        } catch (CertificateException e) {
            throw new IllegalStateException(e);
        }
    }

    private static KeyPair pair(String algorithm) throws Exception {
        if (algorithm.equals("RSA")) {
            return RsaPairs.next(3072);
        }
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        if (algorithm.equals("EC")) {
            generator.initialize(new ECGenParameterSpec("secp256r1"));
        }
        return generator.generateKeyPair();
    }
}
