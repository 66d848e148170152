package io.mintmark.base.pkcs11;

import org.bouncycastle.asn1.ASN1Integer;
import org.bouncycastle.asn1.ASN1Object;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.DERNull;
import org.bouncycastle.asn1.DERSequence;
import org.bouncycastle.asn1.nist.NISTObjectIdentifiers;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.asn1.x509.DigestInfo;
import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.PublicKey;
import java.security.Security;
import java.security.SignatureException;
import java.security.SignatureSpi;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

/** Makes {@link java.security.Signature} sign with a {@link TokenKey}, and with no other key. */
final class TokenSignatures extends Provider {
    private static final long serialVersionUID = 1L;

    static final String NAME = "MintmarkTokens";

    private TokenSignatures() {
        super(NAME, "1.0", "Signatures by keys in PKCS#11 tokens");
        putService(new Algorithm(this, "SHA256withECDSA", Ecdsa::new));
        putService(new Algorithm(this, "Ed25519", Ed25519::new));
        putService(new Algorithm(this, "SHA256withRSA", Rsa256::new));
        putService(new Algorithm(this, "SHA512withRSA", Rsa512::new));
    }

    /** One kind of signatures. */
    private static final class Algorithm extends Service {
        private final Supplier<SignatureSpi> made;

        Algorithm(Provider provider, String name, Supplier<SignatureSpi> made) {
            super(
                    provider,
                    "Signature",
                    name,
                    OfText.class.getName(),
                    List.of(),
                    Map.of("SupportedKeyClasses", TokenKey.class.getName()));
            this.made = made;
        }

        @Override
        public Object newInstance(@Nullable Object parameter) {
            return made.get();
        }
    }

    /**
     * Registers the provider as the process's last one, so that keys of other providers stay with
     * theirs.
     */
    static void install() {
        if (Security.getProvider(NAME) == null) {
            Security.addProvider(new TokenSignatures());
        }
    }

    /** Collects the text to be signed. */
    abstract static class OfText extends SignatureSpi {
        private final ByteArrayOutputStream text = new ByteArrayOutputStream();
        private @Nullable TokenKey key;

        abstract byte[] signedText(TokenKey key, byte[] whole);

        @Override
        protected void engineInitSign(PrivateKey given) throws InvalidKeyException {
            if (!(given instanceof TokenKey ours)) {
                throw new InvalidKeyException("the key is not in a PKCS#11 token");
            }
            text.reset();
            key = ours;
        }

        @Override
        protected void engineUpdate(byte one) {
            text.write(one);
        }

        @Override
        protected void engineUpdate(byte[] bytes, int from, int length) {
            text.write(bytes, from, length);
        }

        @Override
        protected byte[] engineSign() {
            byte[] whole = text.toByteArray();
            text.reset();
            return signedText(Objects.requireNonNull(key), whole);
        }

        @Override
        protected void engineInitVerify(PublicKey given) throws InvalidKeyException {
            throw new InvalidKeyException("others verify");
        }

        @Override
        protected boolean engineVerify(byte[] signature) throws SignatureException {
            throw new SignatureException("others verify");
        }

        @Override
        @Deprecated
        protected void engineSetParameter(String name, Object value) {
            throw new UnsupportedOperationException(name);
        }

        @Override
        @Deprecated
        protected Object engineGetParameter(String name) {
            throw new UnsupportedOperationException(name);
        }
    }

    /** The token signs a digest that is made here, because few of them take long texts. */
    abstract static class OfDigest extends OfText {
        private final String digest;

        OfDigest(String digest) {
            this.digest = digest;
        }

        abstract byte[] signed(TokenKey key, byte[] hash);

        @Override
        byte[] signedText(TokenKey key, byte[] whole) {
            try {
                return signed(key, MessageDigest.getInstance(digest).digest(whole));
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("this Java runtime lacks " + digest, e);
            }
        }
    }

    /** RFC 8032: the token needs the text itself. */
    static final class Ed25519 extends OfText {
        private static final long CKM_EDDSA = 0x1057;

        @Override
        byte[] signedText(TokenKey key, byte[] whole) {
            return key.sign(CKM_EDDSA, whole);
        }
    }

    /** PKCS#11 returns r and s side by side, Java wants them as in RFC 3279 section 2.2.3. */
    static final class Ecdsa extends OfDigest {
        private static final long CKM_ECDSA = 0x1041;

        Ecdsa() {
            super("SHA-256");
        }

        @Override
        byte[] signed(TokenKey key, byte[] hash) {
            byte[] both = key.sign(CKM_ECDSA, hash);
            int half = both.length / 2;
            return der(
                    new DERSequence(
                            new ASN1Integer[] {
                                new ASN1Integer(new BigInteger(1, Arrays.copyOf(both, half))),
                                new ASN1Integer(
                                        new BigInteger(
                                                1, Arrays.copyOfRange(both, half, both.length)))
                            }));
        }
    }

    /** RFC 8017 section 9.2: the token pads what names the digest. */
    abstract static class Rsa extends OfDigest {
        private static final long CKM_RSA_PKCS = 1;

        private final AlgorithmIdentifier algorithm;

        Rsa(String digest, ASN1ObjectIdentifier name) {
            super(digest);
            this.algorithm = new AlgorithmIdentifier(name, DERNull.INSTANCE);
        }

        @Override
        byte[] signed(TokenKey key, byte[] hash) {
            return key.sign(CKM_RSA_PKCS, der(new DigestInfo(algorithm, hash)));
        }
    }

    static final class Rsa256 extends Rsa {
        Rsa256() {
            super("SHA-256", NISTObjectIdentifiers.id_sha256);
        }
    }

    static final class Rsa512 extends Rsa {
        Rsa512() {
            super("SHA-512", NISTObjectIdentifiers.id_sha512);
        }
    }

    private static byte[] der(ASN1Object value) {
        try {
            return value.getEncoded("DER");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
