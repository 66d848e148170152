package io.mintmark.broker.token;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.opts.AllowWeakRSAKey;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.util.Base64URL;

import io.mintmark.Unchecked;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.Verdict;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.util.Arrays;
import java.util.Set;

/** A key that an issuer signs with, both halves. Signs whatever it is given. */
public final class TestKey {
    private static final int ED25519_BYTES = 32;

    private final JWK jwk;
    private final String algorithm;
    private final PrivateKey privateKey;

    private TestKey(JWK jwk, String algorithm, PrivateKey privateKey) {
        this.jwk = jwk;
        this.algorithm = algorithm;
        this.privateKey = privateKey;
    }

    /** A token taken apart, that is one. */
    static Jwt parsed(String token) {
        return switch (Jwt.parse(token)) {
            case Verdict.Passed<Jwt>(Jwt jwt) -> jwt;
            case Verdict.Refused<Jwt>(Refusal refusal) -> throw new AssertionError(refusal);
        };
    }

    /** A key set that is one. */
    static KeySet keySet(String json) {
        return switch (KeySet.parse(json.getBytes(StandardCharsets.UTF_8))) {
            case Parsed.Usable<KeySet>(KeySet keys) -> keys;
            case Parsed.Unusable<KeySet>(String fault) -> throw new AssertionError(fault);
        };
    }

    /** An RSA key; one under 2048 bits is weak. */
    public static TestKey rsa(String id, int bits) {
        KeyPair pair = RsaPairs.next(bits);
        JWK jwk =
                new RSAKey.Builder((RSAPublicKey) pair.getPublic())
                        .privateKey(pair.getPrivate())
                        .keyID(id)
                        .build();
        return new TestKey(jwk, "RS256", pair.getPrivate());
    }

    /** A key on {@code P-256}, {@code P-384} or {@code P-521}. */
    public static TestKey ec(String id, Curve curve) {
        try {
            ECKey key = new ECKeyGenerator(curve).keyID(id).generate();
            String algorithm =
                    JWSAlgorithm.Family.EC.stream()
                            .filter(a -> Curve.forJWSAlgorithm(a).contains(curve))
                            .findFirst()
                            .orElseThrow()
                            .getName();
            return new TestKey(key, algorithm, key.toPrivateKey());
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The usual one. */
    public static TestKey es256(String id) {
        return ec(id, Curve.P_256);
    }

    /** A key for EdDSA. */
    public static TestKey ed25519(String id) {
        try {
            KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
            byte[] encoded = pair.getPublic().getEncoded();
            byte[] x = Arrays.copyOfRange(encoded, encoded.length - ED25519_BYTES, encoded.length);
            JWK key =
                    new OctetKeyPair.Builder(Curve.Ed25519, Base64URL.encode(x)).keyID(id).build();
            return new TestKey(key, "EdDSA", pair.getPrivate());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    public String id() {
        return jwk.getKeyID();
    }

    /** What its tokens have in {@code alg} unless they say otherwise. */
    public String algorithm() {
        return algorithm;
    }

    /** The JWK that an issuer publishes. */
    public String publicJwk() {
        return jwk.toPublicJWK().toJSONString();
    }

    /** The JWK that nobody may publish. */
    public String privateJwk() {
        return jwk.toJSONString();
    }

    /** The public half as nimbus has it. */
    public JWK jwk() {
        return jwk.toPublicJWK();
    }

    /** A token of a header and claims as they are, which need not make sense. */
    public String sign(String header, String claims) {
        String input = encode(header) + "." + encode(claims);
        return input + "." + signature(algorithm, input);
    }

    /** A signature over a text, by an algorithm that this type of key can do. */
    public Base64URL signature(String by, String input) {
        byte[] bytes = input.getBytes(StandardCharsets.UTF_8);
        return Unchecked.call(() ->
                switch (jwk) {
                    case RSAKey _ ->
                            new RSASSASigner(privateKey, Set.of(AllowWeakRSAKey.getInstance()))
                                    .sign(header(by), bytes);
                    case ECKey key -> new ECDSASigner(key).sign(header(by), bytes);
                    default -> ed25519(bytes);
                });
    }

    private Base64URL ed25519(byte[] bytes) throws GeneralSecurityException {
        Signature signer = Signature.getInstance("Ed25519");
        signer.initSign(privateKey);
        signer.update(bytes);
        return Base64URL.encode(signer.sign());
    }

    private static JWSHeader header(String algorithm) {
        return new JWSHeader(JWSAlgorithm.parse(algorithm));
    }

    private static String encode(String part) {
        return Base64URL.encode(part).toString();
    }
}
