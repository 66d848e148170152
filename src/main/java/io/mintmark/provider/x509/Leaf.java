package io.mintmark.provider.x509;

import io.mintmark.provider.MintOrder;

import org.bouncycastle.asn1.ASN1Encodable;
import org.bouncycastle.asn1.DERSequence;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;

import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;

/** The certificate of one mint (RFC 5280): of a client or a server, never of a CA. */
record Leaf(MintOrder order, X509Settings settings, Instant now, Instant expiry) {
    @SuppressWarnings("JavaUtilDate") // Bouncy Castle's
    X509CertificateHolder signed(byte[] publicKey, CertificateAuthority ca) {
        ca.requireValid(now, expiry);
        var builder =
                new X509v3CertificateBuilder(
                        X500Name.getInstance(
                                ca.certificate().getSubjectX500Principal().getEncoded()),
                        order.mintId().number(),
                        Date.from(now.minusSeconds(CertificateAuthority.BACKDATED_SECONDS)),
                        Date.from(expiry),
                        subject(),
                        SubjectPublicKeyInfo.getInstance(publicKey));
        try {
            extend(builder, ca);
        } catch (CertIOException | NoSuchAlgorithmException e) {
            throw new IllegalStateException("the certificate's extensions can't be encoded", e);
        }
        return ca.sign(builder);
    }

    private void extend(X509v3CertificateBuilder builder, CertificateAuthority ca)
            throws CertIOException, NoSuchAlgorithmException {
        builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
        builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
        builder.addExtension(
                Extension.extendedKeyUsage,
                false,
                new ExtendedKeyUsage(
                        settings.usages().stream()
                                .map(usage ->
                                        usage.equals("server")
                                                ? KeyPurposeId.id_kp_serverAuth
                                                : KeyPurposeId.id_kp_clientAuth)
                                .toArray(KeyPurposeId[]::new)));
        builder.addExtension(
                Extension.authorityKeyIdentifier,
                false,
                new JcaX509ExtensionUtils()
                        .createAuthorityKeyIdentifier(ca.certificate().getPublicKey()));
        List<ASN1Encodable> names = new ArrayList<>();
        settings.uri()
                .ifPresent(uri ->
                        names.add(new GeneralName(GeneralName.uniformResourceIdentifier, uri)));
        settings.dnsNames().forEach(name -> names.add(new GeneralName(GeneralName.dNSName, name)));
        if (!names.isEmpty()) {
            builder.addExtension(
                    Extension.subjectAlternativeName,
                    false,
                    GeneralNames.getInstance(new DERSequence(names.toArray(ASN1Encodable[]::new))));
        }
    }

    /**
     * The subject. Names of tenants and keys contain no slash, so none can begin another attribute.
     */
    private X500Name subject() {
        String filled =
                settings.subject()
                        .replace("{tenant}", order.tenant().value())
                        .replace("{key}", order.key().value())
                        .replace("{mint_id}", order.mintId().toString());
        X500NameBuilder name = new X500NameBuilder(BCStyle.INSTANCE);
        for (String part : filled.substring(1).split("/", -1)) {
            int equals = part.indexOf('=');
            name.addRDN(
                    BCStyle.INSTANCE.attrNameToOID(part.substring(0, equals)),
                    part.substring(equals + 1));
        }
        return name.build();
    }
}
