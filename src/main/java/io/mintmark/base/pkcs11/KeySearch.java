package io.mintmark.base.pkcs11;

import io.mintmark.base.config.Pkcs11Uri;
import io.mintmark.base.pkcs11.Cryptoki.Attribute;
import io.mintmark.base.pkcs11.TokenSessions.Found;

import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.ASN1OctetString;
import org.bouncycastle.asn1.DERNull;
import org.bouncycastle.asn1.edec.EdECObjectIdentifiers;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.asn1.pkcs.RSAPublicKey;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.asn1.x9.X9ObjectIdentifiers;

import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Finds a key pair: the private key, and its public half in whatever object the token has it. */
final class KeySearch {
    private static final long CLASS = 0;
    private static final long LABEL = 3;
    private static final long KEY_TYPE = 0x100;
    private static final long ID = 0x102;
    private static final long MODULUS = 0x120;
    private static final long PUBLIC_EXPONENT = 0x122;
    private static final long EC_PARAMS = 0x180;
    private static final long EC_POINT = 0x181;

    private static final long PUBLIC_KEY = 2;
    private static final long PRIVATE_KEY = 3;

    private static final long RSA = 0;
    private static final long EC = 3;
    private static final long EC_EDWARDS = 0x40;

    private static final int SHORTEST_RSA = 2048;
    private static final byte UNCOMPRESSED = 4;
    private static final int POINT_BYTES = 65;

    /** The curve's name as a PrintableString (PKCS#11 3.0), and its OID (RFC 8410). */
    private static final Set<String> EDWARDS25519 =
            Set.of("130c656477617264733235353139", "06032b6570");

    private static final int EDWARDS_POINT_BYTES = 32;

    private final Cryptoki functions;
    private final long session;

    KeySearch(Cryptoki functions, long session) {
        this.functions = functions;
        this.session = session;
    }

    Found find(Pkcs11Uri uri) throws CryptokiFailure {
        List<Long> keys = functions.find(session, terms(PRIVATE_KEY, uri));
        if (keys.size() != 1) {
            throw TokenUnavailable.key(
                    "%s: the PKCS#11 token has %s"
                            .formatted(
                                    uri,
                                    keys.isEmpty()
                                            ? "no such private key"
                                            : "several such private keys; add id= to the URI to choose one"));
        }
        long key = keys.getFirst();
        return new Found(session, key, publicKey(uri, key));
    }

    private static List<Attribute> terms(long kind, Pkcs11Uri uri) {
        List<Attribute> terms = new ArrayList<>();
        terms.add(Attribute.number(CLASS, kind));
        uri.object().ifPresent(label -> terms.add(Attribute.text(LABEL, label)));
        uri.id().ifPresent(id -> terms.add(new Attribute(ID, HexFormat.of().parseHex(id))));
        return terms;
    }

    private PublicKey publicKey(Pkcs11Uri uri, long key) throws CryptokiFailure {
        try {
            long type = number(functions.value(session, key, KEY_TYPE));
            if (type == RSA) {
                return rsa(uri, key);
            }
            if (type == EC) {
                return p256(uri, key);
            }
            if (type == EC_EDWARDS) {
                return ed25519(uri, key);
            }
        } catch (GeneralSecurityException | IOException | RuntimeException e) {
            throw e instanceof TokenUnavailable known
                    ? known
                    : TokenUnavailable.key(
                            uri + ": the public key that belongs to it can't be read");
        }
        throw TokenUnavailable.key(uri + " is neither a P-256 nor an RSA key");
    }

    private PublicKey rsa(Pkcs11Uri uri, long key)
            throws CryptokiFailure, GeneralSecurityException, IOException {
        long half =
                functions.value(session, key, PUBLIC_EXPONENT).isPresent() ? key : half(uri, key);
        BigInteger modulus = new BigInteger(1, required(uri, half, MODULUS));
        if (modulus.bitLength() < SHORTEST_RSA) {
            throw TokenUnavailable.key(
                    "%s is an RSA key of %d bits; the minimum is %d"
                            .formatted(uri, modulus.bitLength(), SHORTEST_RSA));
        }
        var exponent = new BigInteger(1, required(uri, half, PUBLIC_EXPONENT));
        return decoded(
                "RSA",
                new SubjectPublicKeyInfo(
                        new AlgorithmIdentifier(
                                PKCSObjectIdentifiers.rsaEncryption, DERNull.INSTANCE),
                        new RSAPublicKey(modulus, exponent)));
    }

    private PublicKey p256(Pkcs11Uri uri, long key)
            throws CryptokiFailure, GeneralSecurityException, IOException {
        byte[] curve = SECObjectIdentifiers.secp256r1.getEncoded();
        if (!Arrays.equals(curve, required(uri, key, EC_PARAMS))) {
            throw TokenUnavailable.key(uri + " must be a P-256 key");
        }
        byte[] point = required(uri, half(uri, key), EC_POINT);
        // PKCS#11 2.20 wraps it in an OCTET STRING; older libraries don't
        byte[] plain =
                point.length == POINT_BYTES && point[0] == UNCOMPRESSED
                        ? point
                        : ASN1OctetString.getInstance(point).getOctets();
        return decoded(
                "EC",
                new SubjectPublicKeyInfo(
                        new AlgorithmIdentifier(
                                X9ObjectIdentifiers.id_ecPublicKey,
                                ASN1ObjectIdentifier.getInstance(curve)),
                        plain));
    }

    private PublicKey ed25519(Pkcs11Uri uri, long key)
            throws CryptokiFailure, GeneralSecurityException, IOException {
        if (!EDWARDS25519.contains(HexFormat.of().formatHex(required(uri, key, EC_PARAMS)))) {
            throw TokenUnavailable.key(uri + " must be an Ed25519 key");
        }
        byte[] point = required(uri, half(uri, key), EC_POINT);
        byte[] plain =
                point.length == EDWARDS_POINT_BYTES
                        ? point
                        : ASN1OctetString.getInstance(point).getOctets();
        return decoded(
                "Ed25519",
                new SubjectPublicKeyInfo(
                        new AlgorithmIdentifier(EdECObjectIdentifiers.id_Ed25519), plain));
    }

    private static PublicKey decoded(String algorithm, SubjectPublicKeyInfo info)
            throws GeneralSecurityException, IOException {
        return KeyFactory.getInstance(algorithm)
                .generatePublic(new X509EncodedKeySpec(info.getEncoded()));
    }

    /** The object with the public half: by the private key's id, else by its label. */
    private long half(Pkcs11Uri uri, long key) throws CryptokiFailure {
        Optional<byte[]> id = functions.value(session, key, ID);
        List<Attribute> terms = new ArrayList<>();
        terms.add(Attribute.number(CLASS, PUBLIC_KEY));
        id.ifPresentOrElse(
                value -> terms.add(new Attribute(ID, value)),
                () -> uri.object().ifPresent(label -> terms.add(Attribute.text(LABEL, label))));
        return functions.find(session, terms).stream()
                .findFirst()
                .orElseThrow(() ->
                        TokenUnavailable.key(
                                uri
                                        + ": the PKCS#11 token has no public key with the id of this private key; import the public key too"));
    }

    private byte[] required(Pkcs11Uri uri, long object, long type) throws CryptokiFailure {
        return functions
                .value(session, object, type)
                .orElseThrow(() ->
                        TokenUnavailable.key(
                                uri + ": the public key that belongs to it can't be read"));
    }

    private static long number(Optional<byte[]> value) {
        return value.map(
                        bytes -> {
                            long number = 0;
                            for (int i = bytes.length - 1; i >= 0; i--) {
                                number = (number << Byte.SIZE) | (bytes[i] & 0xFF);
                            }
                            return number;
                        })
                .orElse(-1L);
    }
}
