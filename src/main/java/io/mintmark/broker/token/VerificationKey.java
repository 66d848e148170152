package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.crypto.impl.BaseJWSProvider;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.jwk.OctetSequenceKey;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.Base64URL;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.text.ParseException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A key that an issuer publishes for the verifying of signatures.
 *
 * @param id its {@code kid}
 * @param algorithm its {@code alg}: the only one that it may be used with, if it names one
 * @param bytes that it takes on the heap, at most
 */
record VerificationKey(
        Optional<String> id, Optional<String> algorithm, JWSVerifier verifier, long bytes) {
    /**
     * The accepted values of {@code use}: signatures, and JWT-SVIDs (SPIFFE Trust Domain and
     * Bundle, section 4.2.2).
     */
    private static final Set<KeyUse> USES = Set.of(KeyUse.SIGNATURE, new KeyUse("jwt-svid"));

    private static final int MIN_RSA_BITS = 2048;
    private static final int MAX_RSA_BITS = 8192;
    private static final BigInteger LEAST_EXPONENT = BigInteger.valueOf(3);
    private static final int MAX_EXPONENT_BITS = 64;

    /**
     * What a key takes without its numbers, and how often it holds these, as measured: twice on the
     * heap, and once where native code has it.
     */
    private static final long OBJECTS = 768;

    private static final long COPIES = 3;

    /** RFC 7517 section 4, RFC 7518 section 6, RFC 8037 section 2. */
    private static final Set<String> MEMBERS =
            Set.of(
                    "kty", "use", "key_ops", "alg", "kid", "n", "e", "crv", "x", "y", "d", "p", "q",
                    "dp", "dq", "qi", "oth", "k");

    /** Base64 of 16,384 bits has 2,731 characters. */
    private static final int MAX_TEXT = 4096;

    /**
     * Makes a key of a JWK (RFC 7517). Unusable if it isn't one to verify with: weak, so large that
     * verifying gets slow, symmetric, published with its private half, for another use or an
     * algorithm that isn't accepted, or not a key at all.
     */
    static Parsed<VerificationKey> of(JsonNode json) {
        try {
            JWK jwk = JWK.parse(members(json));
            Optional<String> fault = fault(jwk);
            return fault.isPresent() ? Parsed.unusable(fault.get()) : of(jwk);
        } catch (ParseException | JOSEException | GeneralSecurityException | RuntimeException e) {
            // one odd key must not take the others of its set along
            return Parsed.unusable("isn't a key that the broker can read");
        }
    }

    private static Parsed<VerificationKey> of(JWK jwk)
            throws JOSEException, GeneralSecurityException {
        VerificationKey key =
                new VerificationKey(
                        Optional.ofNullable(jwk.getKeyID()), named(jwk), verifier(jwk), bytes(jwk));
        return key.hasAcceptedAlgorithm()
                ? Parsed.usable(key)
                : Parsed.unusable("is for an algorithm that the broker doesn't accept");
    }

    /** The reason why a key must not or can't be used; empty if it may be used. */
    private static Optional<String> fault(JWK jwk) throws JOSEException {
        if (jwk instanceof OctetSequenceKey) {
            return Optional.of("is symmetric");
        }
        if (jwk.isPrivate()) {
            return Optional.of("is published with its private half");
        }
        if (!mayVerify(jwk)) {
            return Optional.of(
                    "isn't meant for verifying signatures, according to its use or key_ops");
        }
        return switch (jwk) {
            case RSAKey rsa -> fault(rsa.toRSAPublicKey());
            case OctetKeyPair pair when !pair.getCurve().equals(Curve.Ed25519) ->
                    Optional.of("is on a curve that the broker doesn't accept");
            default -> Optional.empty();
        };
    }

    /**
     * The members of a key and those that forbid its use. Others are ignored, because certificates
     * and huge numbers would cost time.
     */
    private static Map<String, Object> members(JsonNode json) {
        Map<String, Object> members = new HashMap<>();
        for (String name : MEMBERS) {
            JsonNode value = json.path(name);
            if (value.isTextual() && value.textValue().length() <= MAX_TEXT) {
                members.put(name, value.textValue());
            } else if (value.isArray()) {
                members.put(name, value.valueStream().map(JsonNode::textValue).toList());
            } else if (!value.isMissingNode()) {
                throw new IllegalArgumentException("a field of the key has an unexpected value");
            }
        }
        return members;
    }

    boolean verifies(Jwt jwt) {
        JWSAlgorithm wanted = JWSAlgorithm.parse(jwt.algorithm());
        if (!algorithm.map(jwt.algorithm()::equals).orElse(true)
                || !verifier.supportedJWSAlgorithms().contains(wanted)) {
            return false;
        }
        try {
            return verifier.verify(new JWSHeader(wanted), jwt.signedBytes(), jwt.signature());
        } catch (JOSEException e) {
            // thrown for signatures of impossible forms, among other things
            return false;
        }
    }

    private boolean hasAcceptedAlgorithm() {
        return verifier.supportedJWSAlgorithms().stream()
                .map(JWSAlgorithm::getName)
                .filter(name -> algorithm.map(name::equals).orElse(true))
                .anyMatch(TokenVerifier.ALGORITHMS::contains);
    }

    private static long bytes(JWK jwk) {
        int id = jwk.getKeyID() == null ? 0 : jwk.getKeyID().length();
        return OBJECTS + COPIES * Math.ceilDiv(jwk.size(), Byte.SIZE) + (long) Character.BYTES * id;
    }

    private static boolean mayVerify(JWK jwk) {
        Set<KeyOperation> operations = jwk.getKeyOperations();
        return (jwk.getKeyUse() == null || USES.contains(jwk.getKeyUse()))
                && (operations == null || operations.contains(KeyOperation.VERIFY));
    }

    /** RFC 9864 gives EdDSA with this curve a name of its own, which keys may carry. */
    private static Optional<String> named(JWK jwk) {
        return Optional.ofNullable(jwk.getAlgorithm())
                .map(algorithm ->
                        algorithm.getName().equals("Ed25519") ? "EdDSA" : algorithm.getName());
    }

    private static JWSVerifier verifier(JWK jwk) throws JOSEException, GeneralSecurityException {
        return switch (jwk) {
            case RSAKey rsa -> new RSASSAVerifier(rsa.toRSAPublicKey());
            case ECKey ec -> new ECDSAVerifier(ec.toECPublicKey());
            case OctetKeyPair pair -> new Ed25519Verifier(pair.getDecodedX());
            default -> throw new InvalidKeyException("the key can't verify signatures");
        };
    }

    /** Under the exponent 1 every text is its own signature, and no even one has a private half. */
    private static Optional<String> fault(RSAPublicKey key) {
        int bits = key.getModulus().bitLength();
        if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) {
            return Optional.of(
                    "is an RSA key of %d bits; it must have %d to %d bits"
                            .formatted(bits, MIN_RSA_BITS, MAX_RSA_BITS));
        }
        BigInteger exponent = key.getPublicExponent();
        boolean sound =
                exponent.compareTo(LEAST_EXPONENT) >= 0
                        && exponent.testBit(0)
                        && exponent.bitLength() <= MAX_EXPONENT_BITS;
        return sound ? Optional.empty() : Optional.of("has an RSA exponent that isn't secure");
    }

    /** EdDSA with Ed25519 (RFC 8037) by the JDK; the JOSE library's own would need Tink. */
    private static final class Ed25519Verifier extends BaseJWSProvider implements JWSVerifier {
        /** The bytes before the 32 bytes of a key in X.509's SubjectPublicKeyInfo (RFC 8410). */
        private static final byte[] PREFIX = HexFormat.of().parseHex("302a300506032b6570032100");

        private static final int KEY_BYTES = 32;

        private final PublicKey key;

        /** Takes the JWK's {@code x}, decoded. */
        Ed25519Verifier(byte[] x) throws GeneralSecurityException {
            super(Set.of(JWSAlgorithm.EdDSA));
            if (x.length != KEY_BYTES) {
                throw new InvalidKeyException("an Ed25519 key must have 32 bytes");
            }
            byte[] encoded = Arrays.copyOf(PREFIX, PREFIX.length + KEY_BYTES);
            System.arraycopy(x, 0, encoded, PREFIX.length, KEY_BYTES);
            key = KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded));
        }

        @Override
        public boolean verify(JWSHeader header, byte[] signingInput, Base64URL signature)
                throws JOSEException {
            try {
                Signature verifier = Signature.getInstance("Ed25519");
                verifier.initVerify(key);
                verifier.update(signingInput);
                return verifier.verify(signature.decode());
            } catch (SignatureException e) {
                return false;
            } catch (GeneralSecurityException e) {
                throw new JOSEException(
                        "this Java runtime lacks Ed25519; use a complete Java 25 runtime", e);
            }
        }
    }
}
