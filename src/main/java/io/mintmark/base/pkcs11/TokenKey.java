package io.mintmark.base.pkcs11;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.RSAKey;

import io.mintmark.base.config.Pkcs11Uri;

import org.jspecify.annotations.Nullable;

import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;

/**
 * A private key that its token never gives away. Java's {@code Signature} signs with it once a
 * {@link Pkcs11Module} is open, so whatever takes a {@link PrivateKey} takes this one.
 */
public final class TokenKey implements PrivateKey {
    private static final long serialVersionUID = 1L;

    private final transient Pkcs11Module module;
    private final transient Pkcs11Uri uri;
    private final PublicKey publicKey;

    TokenKey(Pkcs11Module module, Pkcs11Uri uri, PublicKey publicKey) {
        this.module = module;
        this.uri = uri;
        this.publicKey = publicKey;
    }

    /** The public half. */
    public PublicKey publicKey() {
        return publicKey;
    }

    /** The public half as a JWK. */
    public JWK jwk() {
        return switch (publicKey) {
            case ECPublicKey ec -> new ECKey.Builder(Curve.P_256, ec).privateKey(this).build();
            case RSAPublicKey rsa -> new RSAKey.Builder(rsa).privateKey(this).build();
            case PublicKey other -> throw new IllegalStateException(other.getAlgorithm());
        };
    }

    /** The URI that selected it. */
    Pkcs11Uri uri() {
        return uri;
    }

    /**
     * A raw signature.
     *
     * @param mechanism {@code CK_MECHANISM_TYPE}
     * @throws TokenUnavailable if the token doesn't sign
     */
    byte[] sign(long mechanism, byte[] data) {
        return module.sign(this, mechanism, data);
    }

    @Override
    public String getAlgorithm() {
        return publicKey.getAlgorithm();
    }

    /** Returns null, because the key stays in the token. */
    @Override
    public @Nullable String getFormat() {
        return null;
    }

    /** Returns null, because the key stays in the token. */
    @Override
    public byte @Nullable [] getEncoded() {
        return null;
    }

    /** The key's URI, by which messages name the key. */
    @Override
    public String toString() {
        return uri.toString();
    }
}
