package io.mintmark.provider.x509;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** What real servers make of these certificates: {@link CertificateServersIT}. */
class X509ProviderTest {
    private static final String CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
    private static final String SERVER_AUTH = "1.3.6.1.5.5.7.3.1";

    @AutoClose private final MintingBroker broker = MintingBroker.usual();
    private final Ca ca = Ca.of("EC", Duration.ofDays(1));

    @Test
    void a_certificate_names_the_mint_and_is_no_ca() throws Exception {
        Minted minted =
                broker.minted(
                        order(ca, "'subject':'/O=Acme Corp/CN={tenant}.{key}.{mint_id}'")
                                .lasting(Duration.ofSeconds(90)));

        X509Certificate certificate = certificate(MintingBroker.field(minted, "Certificate"));
        assertEquals(
                new java.math.BigInteger(Orders.MINT_ID.toString().replace("-", ""), 16),
                certificate.getSerialNumber());
        assertEquals(
                "CN=acme.deploy." + Orders.MINT_ID + ",O=Acme Corp",
                certificate.getSubjectX500Principal().getName());
        assertEquals(-1, certificate.getBasicConstraints());
        assertEquals(List.of(CLIENT_AUTH), certificate.getExtendedKeyUsage());
        boolean[] usage = certificate.getKeyUsage();
        assertTrue(usage[0], "digitalSignature");
        assertTrue(!usage[5] && !usage[6], "no keyCertSign, no cRLSign");
        assertNull(certificate.getSubjectAlternativeNames());
        assertEquals(minted.expiresAt(), certificate.getNotAfter().toInstant());
        assertEquals(
                Duration.ofSeconds(150),
                Duration.between(certificate.getNotBefore().toInstant(), minted.expiresAt()));
        certificate.verify(certificate(ca.certificate()).getPublicKey());
    }

    @ParameterizedTest
    @CsvSource({"ec-p256, EC, SHA256withECDSA", "ed25519, Ed25519, Ed25519"})
    void the_private_key_fits(String type, String family, String algorithm) throws Exception {
        Minted minted =
                broker.minted(order(ca, "'subject':'/CN={key}','key_type':'%s'".formatted(type)));

        Signature signature = Signature.getInstance(algorithm);
        signature.initSign(
                KeyFactory.getInstance(family)
                        .generatePrivate(
                                new PKCS8EncodedKeySpec(
                                        Base64.getMimeDecoder()
                                                .decode(
                                                        MintingBroker.field(minted, "PrivateKey")
                                                                .replaceAll("-----.*-----", "")))));
        signature.update((byte) 1);
        byte[] signed = signature.sign();
        signature.initVerify(certificate(MintingBroker.field(minted, "Certificate")));
        signature.update((byte) 1);
        assertTrue(signature.verify(signed));
    }

    @ParameterizedTest
    @ValueSource(strings = {"EC", "Ed25519", "RSA"})
    void a_ca_may_be_of_any_kind(String algorithm) throws Exception {
        Ca other = Ca.of(algorithm, Duration.ofDays(1));

        Minted minted = broker.minted(order(other, "'subject':'/CN={key}'"));

        certificate(MintingBroker.field(minted, "Certificate"))
                .verify(certificate(other.certificate()).getPublicKey());
        assertEquals(
                certificate(other.certificate()),
                certificate(MintingBroker.field(minted, "CaCertificate")));
    }

    @Test
    void a_spiffe_id_and_host_names_are_alternative_names() throws Exception {
        Minted minted =
                broker.minted(
                        order(
                                ca,
                                "'subject':'/CN={key}','uri':'spiffe://acme.example/ci/deploy',"
                                        + "'usage':['server','client'],'dns_names':['*.acme.example']"));

        X509Certificate certificate = certificate(MintingBroker.field(minted, "Certificate"));
        assertEquals(
                List.of(
                        List.of(6, "spiffe://acme.example/ci/deploy"),
                        List.of(2, "*.acme.example")),
                List.copyOf(certificate.getSubjectAlternativeNames()));
        assertEquals(List.of(CLIENT_AUTH, SERVER_AUTH), certificate.getExtendedKeyUsage());
        assertEquals("spiffe://acme.example/ci/deploy", MintingBroker.field(minted, "Uri"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    'uri':'spiffe://acme.example/x'                        | 'subject' is missing
                    'subject':'CN=x'                                       | 'subject' must have the form
                    'subject':'/CN=x/CN='                                  | 'subject' must have the form
                    'subject':'/CN=x+OU=y'                                 | 'subject' must have the form
                    'subject':'/CN=x,O=y'                                  | 'subject' must have the form
                    'subject':'/CN=x\\nO=y'                                | 'subject' must have the form
                    'subject':'/CN={subject}'                              | 'subject' must have the form
                    'subject':'/emailAddress=x'                            | 'subject' must have the form
                    'subject':'/CN=x','uri':'spiffe://globex.example/x'    | 'uri' must be in the trust_domain
                    'subject':'/CN=x','uri':'spiffe://acme.example'        | 'uri' must be a SPIFFE id
                    'subject':'/CN=x','uri':'spiffe://acme.example/a/../b' | 'uri' must be a SPIFFE id
                    'subject':'/CN=x','uri':'spiffe://acme.example/..'     | 'uri' must be a SPIFFE id
                    'subject':'/CN=x','uri':'spiffe://acme.example//b'     | 'uri' must be a SPIFFE id
                    'subject':'/CN=x','uri':'spiffe://acme.example/b?c'    | 'uri' must be a SPIFFE id
                    'subject':'/CN=x','uri':'spiffe://u@acme.example/b'    | 'uri' must be a SPIFFE id
                    'subject':'/CN=x','uri':'spiffe://acme.example:1/b'    | 'uri' must be a SPIFFE id
                    'subject':'/CN=x','uri':'https://acme.example/b'       | 'uri' must be a SPIFFE id
                    'subject':'/CN=x','dns_names':['a.example']            | 'dns_names' needs the usage 'server'
                    'subject':'/CN=x','usage':['server'],'dns_names':['a b'] | 'dns_names' must be
                    'subject':'/CN=x','usage':['ca']                       | 'usage' may contain only
                    'subject':'/CN=x','key_type':'rsa-1024'                | 'key_type' must be one of
                    """)
    void settings_that_cannot_work_are_reported(String settings, String told) {
        failed(order(ca, settings), told);
    }

    @Test
    void a_spiffe_id_needs_a_trust_domain() {
        broker.secret("ca", ca.key());
        failed(
                Orders.of(
                        "x509",
                        json(
                                Map.of(
                                        "ca_certificate", ca.certificate(),
                                        "ca_key", Map.of("file", "ca"))),
                        "{'subject':'/CN=x','uri':'spiffe://acme.example/x'}"),
                "'uri' must be in the trust_domain");
    }

    @Test
    void a_key_of_another_ca_signs_nothing() {
        Ca other = Ca.of("EC", Duration.ofDays(1));

        failed(
                order(new Ca(other.certificate(), ca.key()), "'subject':'/CN=x'"),
                "'ca_certificate' is not the certificate of ca_key");
        failed(
                order(
                        new Ca(Ca.of("RSA", Duration.ofDays(1)).certificate(), ca.key()),
                        "'subject':'/CN=x'"),
                "'ca_certificate' is not the certificate of ca_key");
    }

    @Test
    void a_certificate_does_not_outlive_its_ca() {
        Instant end = Instant.now().plus(Duration.ofMinutes(30));

        failed(
                order(Ca.of("EC", Duration.ofMinutes(30)), "'subject':'/CN=x'"),
                "'ca_certificate' expires at " + end.toString().substring(0, 13));
        failed(
                order(Ca.of("EC", Duration.ofMinutes(-30)), "'subject':'/CN=x'"),
                "'ca_certificate' expired at ");
    }

    @Test
    void a_certificate_of_no_ca_signs_nothing() {
        failed(
                order(Ca.of("EC", Duration.ofDays(1), false), "'subject':'/CN=x'"),
                "'ca_certificate' must begin with the certificate of a CA");
    }

    @Test
    void a_subject_that_the_access_provider_does_not_allow_is_refused() {
        failed(
                order(ca, "'subject':'/O=acme/CN=root'").allowing("subject:/O=acme/CN=app-*"),
                "the key's target is 'subject:/O=acme/CN=root'");
        broker.minted(
                order(ca, "'subject':'/O=acme/CN=app-1'").allowing("subject:/O=acme/CN=app-*"));
    }

    private void failed(Orders order, String told) {
        broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, told, order);
    }

    private Orders order(Ca authority, String settings) {
        broker.secret("ca", authority.key());
        return Orders.of(
                "x509",
                json(
                        Map.of(
                                "ca_certificate", authority.certificate(),
                                "ca_key", Map.of("file", "ca"),
                                "trust_domain", "acme.example")),
                "{" + settings + "}");
    }

    private static String json(Map<String, Object> settings) {
        return new ObjectMapper().valueToTree(settings).toString();
    }

    static X509Certificate certificate(String pem) throws Exception {
        return (X509Certificate)
                CertificateFactory.getInstance("X.509")
                        .generateCertificate(
                                new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
    }
}
