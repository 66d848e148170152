package io.mintmark.provider.ssh;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.broker.identity.KeyDirectory;
import io.mintmark.broker.token.RsaPairs;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;

import org.bouncycastle.crypto.Signer;
import org.bouncycastle.crypto.params.AsymmetricKeyParameter;
import org.bouncycastle.crypto.params.Ed25519PrivateKeyParameters;
import org.bouncycastle.crypto.params.Ed25519PublicKeyParameters;
import org.bouncycastle.crypto.signers.Ed25519Signer;
import org.bouncycastle.crypto.util.OpenSSHPrivateKeyUtil;
import org.bouncycastle.crypto.util.OpenSSHPublicKeyUtil;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;

/** What a real sshd makes of these certificates: {@link SshdIT}. */
class SshProviderTest {
    private static final String KEY_ID = "mintmark:acme/deploy:" + Orders.MINT_ID;

    @AutoClose private final MintingBroker broker = MintingBroker.usual();

    @BeforeEach
    void caKey() throws GeneralSecurityException {
        broker.secret("ca", pem("Ed25519"));
    }

    /** The fields of PROTOCOL.certkeys, in its order. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Certificate(
            String type,
            byte[] key,
            long serial,
            int role,
            String keyId,
            List<String> principals,
            Instant after,
            Instant before,
            String options,
            String extensions,
            byte[] caKey,
            byte[] signed,
            byte[] signature) {

        static Certificate of(String line) {
            ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(line.split(" ", -1)[1]));
            String type = text(bytes);
            assertEquals(32, string(bytes).length);
            byte[] key = string(bytes);
            long serial = bytes.getLong();
            int role = bytes.getInt();
            String keyId = text(bytes);
            List<String> principals = texts(string(bytes));
            Instant after = Instant.ofEpochSecond(bytes.getLong());
            Instant before = Instant.ofEpochSecond(bytes.getLong());
            String options = text(bytes);
            String extensions = text(bytes);
            assertEquals(0, string(bytes).length);
            byte[] caKey = string(bytes);
            byte[] signed = Arrays.copyOf(bytes.array(), bytes.position());
            byte[] signature = string(bytes);
            assertFalse(bytes.hasRemaining());
            return new Certificate(
                    type,
                    key,
                    serial,
                    role,
                    keyId,
                    principals,
                    after,
                    before,
                    options,
                    extensions,
                    caKey,
                    signed,
                    signature);
        }

        private static byte[] string(ByteBuffer bytes) {
            byte[] string = new byte[bytes.getInt()];
            bytes.get(string);
            return string;
        }

        private static String text(ByteBuffer bytes) {
            return new String(string(bytes), StandardCharsets.UTF_8);
        }

        private static List<String> texts(byte[] list) {
            ByteBuffer bytes = ByteBuffer.wrap(list);
            List<String> texts = new ArrayList<>();
            while (bytes.hasRemaining()) {
                texts.add(text(bytes));
            }
            return texts;
        }
    }

    @Test
    void a_certificate_names_the_mint_and_the_principals_and_has_no_extensions() {
        Instant before = Instant.now();

        Minted minted =
                broker.minted(
                        order("'principals':['deploy','backup']").lasting(Duration.ofSeconds(90)));

        Certificate certificate = Certificate.of(MintingBroker.field(minted, "Certificate"));
        assertEquals("ssh-ed25519-cert-v01@openssh.com", certificate.type());
        assertEquals(1, certificate.role(), "a user certificate");
        assertEquals(KEY_ID, certificate.keyId());
        assertEquals(KEY_ID, MintingBroker.field(minted, "KeyId"));
        assertEquals(Orders.MINT_ID.value().getLeastSignificantBits(), certificate.serial());
        assertEquals(List.of("deploy", "backup"), certificate.principals());
        assertEquals("", certificate.options());
        assertEquals("", certificate.extensions());
        assertEquals(minted.expiresAt(), certificate.before());
        assertEquals(
                Duration.ofSeconds(150),
                Duration.between(certificate.after(), certificate.before()));
        assertFalse(minted.expiresAt().isBefore(before.plusSeconds(89)));
        assertEquals(new SshType().fields(), new TreeSet<>(minted.fields().keySet()));
    }

    @Test
    void the_ca_signed_the_whole_certificate_and_the_private_key_fits_it() {
        Minted minted = broker.minted(order("'principals':['deploy']"));

        Certificate certificate = Certificate.of(MintingBroker.field(minted, "Certificate"));
        Signer verifier = new Ed25519Signer();
        verifier.init(false, key(certificate.caKey()));
        verifier.update(certificate.signed(), 0, certificate.signed().length);
        ByteBuffer signature = ByteBuffer.wrap(certificate.signature());
        assertEquals("ssh-ed25519", Certificate.text(signature));
        assertTrue(verifier.verifySignature(Certificate.string(signature)));
        var pair =
                (Ed25519PrivateKeyParameters)
                        OpenSSHPrivateKeyUtil.parsePrivateKeyBlob(
                                Base64.getMimeDecoder()
                                        .decode(
                                                MintingBroker.field(minted, "PrivateKey")
                                                        .replaceAll("-----.*-----", "")));
        assertArrayEquals(certificate.key(), pair.generatePublicKey().getEncoded());
        var shown =
                (Ed25519PublicKeyParameters)
                        key(
                                Base64.getDecoder()
                                        .decode(
                                                MintingBroker.field(minted, "PublicKey")
                                                        .split(" ", -1)[1]));
        assertArrayEquals(certificate.key(), shown.getEncoded());
    }

    @Test
    void options_are_critical_and_sorted() {
        Minted minted =
                broker.minted(
                        order(
                                "'principals':['deploy'],'source_address':['192.0.2.0/24','2001:db8::1'],'force_command':'/bin/deploy,"
                                        + " now','extensions':['permit-pty','permit-X11-forwarding']"));

        Certificate certificate = Certificate.of(MintingBroker.field(minted, "Certificate"));
        var options = new TreeMap<String, String>();
        options.put("force-command", "/bin/deploy, now");
        options.put("source-address", "192.0.2.0/24,2001:db8::1");
        List<String> written =
                Certificate.texts(certificate.options().getBytes(StandardCharsets.UTF_8));
        assertEquals(List.copyOf(options.keySet()), List.of(written.get(0), written.get(2)));
        assertEquals(
                List.copyOf(options.values()),
                List.of(written.get(1).substring(4), written.get(3).substring(4)));
        assertEquals(
                List.of("permit-X11-forwarding", "", "permit-pty", ""),
                Certificate.texts(certificate.extensions().getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @CsvSource({"EC, secp256r1", "EC, secp384r1", "RSA, 3072"})
    void a_ca_key_may_be_of_these_kinds(String algorithm, String parameter)
            throws GeneralSecurityException {
        broker.secret("ca", pem(algorithm, parameter));

        Certificate certificate =
                Certificate.of(
                        MintingBroker.field(
                                broker.minted(order("'principals':['deploy']")), "Certificate"));

        assertFalse(key(certificate.caKey()).isPrivate());
    }

    @ParameterizedTest
    @CsvSource({"EC, secp521r1", "RSA, 2048", "Ed448, -"})
    void a_ca_key_of_another_kind_signs_nothing(String algorithm, String parameter)
            throws GeneralSecurityException {
        broker.secret("ca", pem(algorithm, parameter));

        Failed failed =
                broker.assertFailed(
                        Reason.PROVIDER_MISCONFIGURED, order("'principals':['deploy']"));
        assertEquals(
                "access provider setting 'ca_key' refers to 'ca', which must be an Ed25519, P-256"
                        + " or P-384 key, or RSA of at least 3072 bits",
                failed.detail());
    }

    @Test
    void a_missing_ca_key_is_reported_without_its_content() {
        broker.secret(
                "ca",
                "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----");

        Failed failed =
                broker.assertFailed(
                        Reason.PROVIDER_MISCONFIGURED, order("'principals':['deploy']"));
        assertFalse(failed.detail().contains("secret"), failed.detail());
        assertFalse(failed.detail().contains("c2Vj"), failed.detail());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    'extensions':['permit-pty']                          | 'principals' is missing
                    'principals':[]                                      | 'principals' is missing
                    'principals':['']                                    | 'principals' must be a non-empty string
                    'principals':['a,root']                              | 'principals' must be at most 64 names
                    'principals':['a\\nroot']                            | 'principals' must be at most 64 names
                    'principals':['a root']                              | 'principals' must be at most 64 names
                    'principals':['*']                                   | 'principals' must be at most 64 names
                    'principals':['{mint_id}']                           | 'principals' must be at most 64 names
                    'principals':['a'],'extensions':['permit-everything'] | 'extensions' may contain only
                    'principals':['a'],'source_address':['192.0.2.1,0.0.0.0/0'] | 'source_address' has '
                    'principals':['a'],'source_address':['!192.0.2.1']   | 'source_address' has '
                    'principals':['a'],'force_command':'a\\nb'           | 'force_command' must be one line
                    'principals':['a'],'caKey':'x'                       | 'caKey' is not a setting
                    """)
    void settings_that_cannot_work_are_reported(String settings, String told) {
        broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, told, order(settings));
    }

    @Test
    void a_clients_key_is_certified_and_no_private_key_is_made() {
        String line =
                MintingBroker.field(broker.minted(order("'principals':['deploy']")), "PublicKey");

        Minted minted = broker.minted(order("'principals':['deploy']").certifying(line));

        assertEquals(line, MintingBroker.field(minted, "PublicKey"));
        assertFalse(minted.fields().containsKey("PrivateKey"));
    }

    @Test
    void the_cas_own_key_is_not_certified() {
        Minted usual = broker.minted(order("'principals':['deploy']"));
        broker.secret("ca", MintingBroker.field(usual, "PrivateKey"));

        Failed failed =
                broker.failed(
                        order("'principals':['deploy']")
                                .certifying(MintingBroker.field(usual, "PublicKey")));

        assertEquals(
                "the client sent the public key of the CA; it must send a key of its own",
                failed.detail());
    }

    @Test
    void a_certificate_without_principals_cannot_be_made() {
        assertThrows(
                IllegalArgumentException.class,
                () ->
                        new SshCertificate(
                                1,
                                KEY_ID,
                                List.of(),
                                Instant.EPOCH,
                                Instant.MAX,
                                new TreeMap<>(),
                                new TreeSet<>()));
    }

    @Test
    void a_principal_that_the_access_provider_does_not_allow_is_refused() {
        Failed failed = broker.failed(order("'principals':['deploy','root']").allowing("deploy"));

        assertTrue(failed.detail().contains("the key's target is 'root'"), failed.detail());
    }

    private static Orders order(String settings) {
        return Orders.of("ssh", "{'ca_key':{'file':'ca'}}", "{" + settings + "}");
    }

    private static AsymmetricKeyParameter key(byte[] blob) {
        return OpenSSHPublicKeyUtil.parsePublicKey(blob);
    }

    private static String pem(String algorithm, String... parameter)
            throws GeneralSecurityException {
        if (algorithm.equals("RSA")) {
            return KeyDirectory.pkcs8(RsaPairs.next(Integer.parseInt(parameter[0])));
        }
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        if (algorithm.equals("EC")) {
            generator.initialize(new ECGenParameterSpec(parameter[0]));
        }
        return KeyDirectory.pkcs8(generator.generateKeyPair());
    }
}
