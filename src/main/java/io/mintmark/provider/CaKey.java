package io.mintmark.provider;

import io.mintmark.base.key.PrivateKeyPem;
import io.mintmark.base.key.PrivateKeyPem.UnfitException;
import io.mintmark.base.pkcs11.TokenKey;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.KeyReference.InFile;
import io.mintmark.provider.KeyReference.InToken;

import org.bouncycastle.crypto.params.AsymmetricKeyParameter;
import org.bouncycastle.crypto.params.ECPrivateKeyParameters;
import org.bouncycastle.crypto.params.ECPublicKeyParameters;
import org.bouncycastle.crypto.params.Ed25519PrivateKeyParameters;
import org.bouncycastle.crypto.params.RSAKeyParameters;
import org.bouncycastle.crypto.params.RSAPrivateCrtKeyParameters;
import org.bouncycastle.crypto.util.OpenSSHPublicKeyUtil;
import org.bouncycastle.crypto.util.PrivateKeyFactory;
import org.bouncycastle.crypto.util.PublicKeyFactory;
import org.bouncycastle.crypto.util.SubjectPublicKeyInfoFactory;
import org.bouncycastle.math.ec.FixedPointCombMultiplier;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPrivateKey;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.interfaces.RSAPublicKey;
import java.util.Arrays;
import java.util.Optional;

/**
 * The key of a tenant's certificate authority: Ed25519, P-256, P-384, or RSA of 3072 bits or more.
 */
public final class CaKey {
    public static final int SHORTEST_RSA = 3072;
    private static final int P256 = 256;
    private static final int P384 = 384;

    private final PrivateKey key;
    private final String algorithm;

    private CaKey(PrivateKey key) throws UnfitKeyException {
        this.key = key;
        this.algorithm = algorithm(key);
    }

    /** Why a key can't sign certificates: the end of a sentence about it. */
    private static final class UnfitKeyException extends Exception {
        private static final long serialVersionUID = 1L;

        UnfitKeyException(String why) {
            super(why);
        }
    }

    /** The reference in an access provider's settings. */
    public static KeyReference reference(Settings provider) {
        return provider.keyReference("ca_key")
                .orElseThrow(() -> provider.unusable("ca_key", "is missing"));
    }

    /**
     * A tenant's key, which the setting {@code ca_key} names.
     *
     * @throws UnusableSettingsException if there is none
     */
    public static CaKey read(SettingSecrets secrets, TenantName tenant, KeyReference reference) {
        try {
            return switch (reference) {
                case InFile(String file) ->
                        new CaKey(
                                PrivateKeyPem.readAnyKind(
                                        secrets.read(tenant, "ca_key", file).reveal()));
                case InToken key -> new CaKey(secrets.held(tenant, "ca_key", key));
            };
        } catch (UnfitException | UnfitKeyException e) {
            throw new UnusableSettingsException(
                    "access provider setting 'ca_key' refers to %s, which %s"
                            .formatted(reference, e.getMessage()));
        }
    }

    public PrivateKey privateKey() {
        return key;
    }

    /** The JCA name of the key's signature algorithm. */
    public String algorithm() {
        return algorithm;
    }

    /** Signs with {@link #algorithm}. */
    public byte[] sign(byte[] content) {
        try {
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key);
            signature.update(content);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("signing with the CA key failed", e);
        }
    }

    /** The public key as in a certificate (RFC 5280 section 4.1.2.7). */
    public byte[] info() {
        try {
            return SubjectPublicKeyInfoFactory.createSubjectPublicKeyInfo(publicHalf())
                    .getEncoded();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The public key in the wire format of SSH. */
    public byte[] ssh() {
        try {
            return OpenSSHPublicKeyUtil.encodePublicKey(publicHalf());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The reason why a client's key isn't certified with this one; empty if it is. */
    public Optional<String> objection(CallerKey key) {
        return Arrays.equals(key.ssh(), ssh())
                ? Optional.of("is the certificate authority's own; send a key of your own")
                : Optional.empty();
    }

    /**
     * The key that a client wants to have certified, if it has one.
     *
     * @throws UnusableSettingsException if that is this key
     */
    public Optional<CallerKey> callerKey(MintOrder order) {
        if (order.callerKey().flatMap(this::objection).isPresent()) {
            throw new UnusableSettingsException(
                    "the client sent the public key of the CA; it must send a key of its own");
        }
        return order.callerKey();
    }

    private AsymmetricKeyParameter publicHalf() {
        try {
            if (key instanceof TokenKey held) {
                return PublicKeyFactory.createKey(held.publicKey().getEncoded());
            }
            return switch (PrivateKeyFactory.createKey(key.getEncoded())) {
                case Ed25519PrivateKeyParameters ed25519 -> ed25519.generatePublicKey();
                case ECPrivateKeyParameters ec ->
                        new ECPublicKeyParameters(
                                new FixedPointCombMultiplier()
                                        .multiply(ec.getParameters().getG(), ec.getD()),
                                ec.getParameters());
                case RSAPrivateCrtKeyParameters rsa ->
                        new RSAKeyParameters(false, rsa.getModulus(), rsa.getPublicExponent());
                case AsymmetricKeyParameter _ -> throw new IllegalStateException(algorithm);
            };
        } catch (IOException e) {
            throw new IllegalStateException("the JDK can't read the key", e);
        }
    }

    private static String algorithm(PrivateKey key) throws UnfitKeyException {
        return switch (key) {
            case TokenKey held when held.publicKey() instanceof ECPublicKey -> "SHA256withECDSA";
            case TokenKey held
                    when held.publicKey() instanceof RSAPublicKey rsa
                            && rsa.getModulus().bitLength() >= SHORTEST_RSA ->
                    "SHA512withRSA";
            case EdECPrivateKey edwards when edwards.getParams().getName().equals("Ed25519") ->
                    "Ed25519";
            case ECPrivateKey ec when ec.getParams().getOrder().bitLength() == P256 ->
                    "SHA256withECDSA";
            case ECPrivateKey ec when ec.getParams().getOrder().bitLength() == P384 ->
                    "SHA384withECDSA";
            case RSAPrivateCrtKey rsa when rsa.getModulus().bitLength() >= SHORTEST_RSA ->
                    "SHA512withRSA";
            case PrivateKey _ ->
                    throw new UnfitKeyException(
                            "must be an Ed25519, P-256 or P-384 key, or RSA of at least %d bits"
                                    .formatted(SHORTEST_RSA));
        };
    }
}
