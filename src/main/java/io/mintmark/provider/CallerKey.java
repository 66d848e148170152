package io.mintmark.provider;

import io.mintmark.base.verdict.RequestRefusal.BadField;
import io.mintmark.base.verdict.Verdict;

import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.DERNull;
import org.bouncycastle.asn1.edec.EdECObjectIdentifiers;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.asn1.pkcs.RSAPublicKey;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.asn1.x9.X9ObjectIdentifiers;
import org.bouncycastle.crypto.params.AsymmetricKeyParameter;
import org.bouncycastle.crypto.util.OpenSSHPublicKeyUtil;
import org.bouncycastle.crypto.util.PublicKeyFactory;
import org.bouncycastle.crypto.util.SubjectPublicKeyInfoFactory;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentVerifierProviderBuilder;
import org.bouncycastle.pkcs.PKCS10CertificationRequest;
import org.bouncycastle.pkcs.PKCSException;
import org.bouncycastle.util.io.pem.PemObject;
import org.bouncycastle.util.io.pem.PemReader;

import java.io.IOException;
import java.io.StringReader;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A client's public key: Ed25519, on a NIST curve, RSA of 3072 to 4096 bits, or of a security key.
 * The broker never sees the private half.
 */
public final class CallerKey {
    private static final String BEGIN = "-----BEGIN ";
    private static final int LONGEST = 8_192;
    private static final int LONGEST_RSA = 4_096;
    private static final BigInteger LEAST_EXPONENT = BigInteger.valueOf(65_537);
    private static final int LONGEST_EXPONENT = 64;
    private static final BigInteger SMALL_PRIMES =
            Stream.iterate(BigInteger.TWO, BigInteger::nextProbablePrime)
                    .limit(200)
                    .reduce(BigInteger.ONE, BigInteger::multiply);
    private static final Set<ASN1ObjectIdentifier> CURVES =
            Set.of(
                    SECObjectIdentifiers.secp256r1,
                    SECObjectIdentifiers.secp384r1,
                    SECObjectIdentifiers.secp521r1);
    private static final Set<ASN1ObjectIdentifier> SIGNATURES =
            Set.of(
                    EdECObjectIdentifiers.id_Ed25519,
                    X9ObjectIdentifiers.ecdsa_with_SHA256,
                    X9ObjectIdentifiers.ecdsa_with_SHA384,
                    X9ObjectIdentifiers.ecdsa_with_SHA512,
                    PKCSObjectIdentifiers.sha256WithRSAEncryption,
                    PKCSObjectIdentifiers.sha384WithRSAEncryption,
                    PKCSObjectIdentifiers.sha512WithRSAEncryption);

    private final byte[] ssh;
    private final Optional<byte[]> info;

    private CallerKey(byte[] ssh, Optional<byte[]> info) {
        this.ssh = ssh;
        this.info = info;
    }

    /** Why a key isn't certified: the end of a sentence about it. */
    private static final class UnfitKeyException extends Exception {
        private static final long serialVersionUID = 1L;

        UnfitKeyException(String why) {
            super(why);
        }
    }

    /**
     * Reads a line of OpenSSH's, a public key in PEM, or a CSR, of which only key and signature
     * count.
     */
    public static Verdict<CallerKey> of(String text) {
        try {
            if (text.length() > LONGEST) {
                throw new UnfitKeyException("is longer than %d characters".formatted(LONGEST));
            }
            String given = text.strip();
            return Verdict.passed(given.startsWith(BEGIN) ? ofPem(given) : ofLine(given));
        } catch (UnfitKeyException e) {
            return refused("The key %s.".formatted(e.getMessage()));
        } catch (IOException | RuntimeException | StackOverflowError e) {
            // nested without end, for which Bouncy Castle has no limit
            return refused(
                    "The body must be an OpenSSH public key line, or a public key or CSR in PEM.");
        }
    }

    /** The key in the wire format of SSH. */
    public byte[] ssh() {
        return ssh.clone();
    }

    /** The key as in a certificate (RFC 5280 section 4.1.2.7); empty for security keys. */
    public Optional<byte[]> info() {
        return info.map(byte[]::clone);
    }

    private static Verdict<CallerKey> refused(String reason) {
        return Verdict.refused(new BadField("body", reason));
    }

    private static CallerKey ofLine(String line) throws UnfitKeyException, IOException {
        String[] words = line.split(" ", 3);
        byte[] key = Base64.getDecoder().decode(words[1]);
        ByteBuffer parts = ByteBuffer.wrap(key);
        String type = SshData.text(parts);
        if (!type.equals(words[0]) || line.indexOf('\n') >= 0) {
            throw new IllegalArgumentException(
                    "the key must be one line, and its type must be that of its data");
        }
        return switch (type) {
            case "ssh-rsa" -> {
                BigInteger exponent = new BigInteger(SshData.string(parts));
                CallerKey rsa = rsa(new BigInteger(SshData.string(parts)), exponent);
                yield rsa.written(key);
            }
            case "sk-ssh-ed25519@openssh.com" -> securityKey(key, "ssh-ed25519", 1);
            case "sk-ecdsa-sha2-nistp256@openssh.com" -> securityKey(key, "ecdsa-sha2-nistp256", 2);
            case "ssh-ed25519",
                    "ecdsa-sha2-nistp256",
                    "ecdsa-sha2-nistp384",
                    "ecdsa-sha2-nistp521" ->
                    of(OpenSSHPublicKeyUtil.parsePublicKey(key)).written(key);
            default -> throw new UnfitKeyException("has an unsupported type");
        };
    }

    /** A security key has the format of a plain key, followed by its application string. */
    private static CallerKey securityKey(byte[] key, String plainType, int strings)
            throws IOException {
        ByteBuffer parts = ByteBuffer.wrap(key);
        var _ = SshData.string(parts);
        SshData plain = new SshData().string(plainType);
        SshData again = new SshData().string(SshData.text(ByteBuffer.wrap(key)));
        for (int i = 0; i < strings; i++) {
            byte[] part = SshData.string(parts);
            plain.string(part);
            again.string(part);
        }
        byte[] application = SshData.string(parts);
        for (byte each : application) {
            if (each <= ' ' || each > '~') {
                throw new IllegalArgumentException(
                        "the application of the security key is not one that OpenSSH accepts");
            }
        }
        again.string(application);
        var _ = of(OpenSSHPublicKeyUtil.parsePublicKey(plain.bytes())).written(plain.bytes());
        return new CallerKey(again.bytes(), Optional.empty()).written(key);
    }

    private static CallerKey ofPem(String pem) throws UnfitKeyException, IOException {
        try (PemReader reader = new PemReader(new StringReader(pem))) {
            PemObject object = reader.readPemObject();
            if (pem.indexOf(BEGIN, BEGIN.length()) >= 0) {
                throw new UnfitKeyException(
                        "is followed by another PEM block; send only one block");
            }
            return switch (object.getType()) {
                case "PUBLIC KEY" -> of(SubjectPublicKeyInfo.getInstance(object.getContent()));
                case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST" ->
                        ofRequest(new PKCS10CertificationRequest(object.getContent()));
                default -> throw new UnfitKeyException("is neither a public key nor a CSR");
            };
        }
    }

    /**
     * The key of a CSR, whose signature proves that the client has the private half (RFC 2986
     * section 4.2). The other forms have no such proof.
     */
    private static CallerKey ofRequest(PKCS10CertificationRequest request)
            throws UnfitKeyException, IOException {
        CallerKey key = of(request.getSubjectPublicKeyInfo());
        if (!SIGNATURES.contains(request.getSignatureAlgorithm().getAlgorithm())) {
            throw new UnfitKeyException(
                    "is in a CSR with an unsupported signature algorithm; sign it with Ed25519, or"
                            + " with ECDSA or RSA (PKCS #1 v1.5) and SHA-256, SHA-384 or SHA-512");
        }
        if (!key.signed(request)) {
            throw new UnfitKeyException(
                    "is in a CSR with an invalid signature; sign it with the key's private half");
        }
        return key;
    }

    /** Never throws: neither a malformed signature nor an algorithm of another type of key does. */
    private boolean signed(PKCS10CertificationRequest request) {
        try {
            return request.isSignatureValid(
                    new JcaContentVerifierProviderBuilder()
                            .build(SubjectPublicKeyInfo.getInstance(info.orElseThrow())));
        } catch (PKCSException | OperatorCreationException | RuntimeException e) {
            return false;
        }
    }

    private static CallerKey of(SubjectPublicKeyInfo key) throws UnfitKeyException, IOException {
        ASN1ObjectIdentifier algorithm = key.getAlgorithm().getAlgorithm();
        if (algorithm.equals(PKCSObjectIdentifiers.rsaEncryption)) {
            RSAPublicKey numbers = RSAPublicKey.getInstance(key.parsePublicKey());
            return rsa(numbers.getModulus(), numbers.getPublicExponent());
        }
        if (algorithm.equals(X9ObjectIdentifiers.id_ecPublicKey)
                ? CURVES.contains(key.getAlgorithm().getParameters())
                : algorithm.equals(EdECObjectIdentifiers.id_Ed25519)) {
            return of(PublicKeyFactory.createKey(key));
        }
        throw new UnfitKeyException("has an unsupported type");
    }

    private static CallerKey of(AsymmetricKeyParameter key) throws IOException {
        return new CallerKey(
                OpenSSHPublicKeyUtil.encodePublicKey(key),
                Optional.of(
                        SubjectPublicKeyInfoFactory.createSubjectPublicKeyInfo(key).getEncoded()));
    }

    /** Not by the library, whose test for a prime takes long. */
    private static CallerKey rsa(BigInteger modulus, BigInteger exponent)
            throws UnfitKeyException, IOException {
        int bits = modulus.bitLength();
        if (modulus.signum() < 0 || bits < CaKey.SHORTEST_RSA || bits > LONGEST_RSA) {
            throw new UnfitKeyException(
                    "must have %d to %d bits".formatted(CaKey.SHORTEST_RSA, LONGEST_RSA));
        }
        if (!modulus.gcd(SMALL_PRIMES).equals(BigInteger.ONE)
                || modulus.sqrtAndRemainder()[1].signum() == 0
                || !exponent.testBit(0)
                || exponent.compareTo(LEAST_EXPONENT) < 0
                || exponent.bitLength() > LONGEST_EXPONENT) {
            throw new UnfitKeyException("is not a secure RSA key");
        }
        return new CallerKey(
                new SshData().string("ssh-rsa").mpint(exponent).mpint(modulus).bytes(),
                Optional.of(
                        new SubjectPublicKeyInfo(
                                        new AlgorithmIdentifier(
                                                PKCSObjectIdentifiers.rsaEncryption,
                                                DERNull.INSTANCE),
                                        new RSAPublicKey(modulus, exponent))
                                .getEncoded()));
    }

    /** Requires the canonical encoding of the key, and returns the key. */
    private CallerKey written(byte[] given) {
        if (!Arrays.equals(ssh, given)) {
            throw new IllegalArgumentException("the key is not in its canonical form");
        }
        return this;
    }
}
