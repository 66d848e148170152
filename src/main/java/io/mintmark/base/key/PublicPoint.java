package io.mintmark.base.key;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECFieldFp;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.EllipticCurve;

import javax.crypto.KeyAgreement;

/**
 * Derives the public half of a key on a curve over a prime field, which the JDK has no method for:
 * what ECDH agrees on with the curve's base point is the x of that half, and of the two points with
 * this x it is the one that verifies what the private half signs.
 */
final class PublicPoint {
    private static final byte[] ANYTHING = "anything".getBytes(StandardCharsets.US_ASCII);

    private final ECPrivateKey key;
    private final ECParameterSpec curve;
    private final KeyFactory factory;

    private PublicPoint(ECPrivateKey key) throws GeneralSecurityException {
        this.key = key;
        this.curve = key.getParams();
        this.factory = KeyFactory.getInstance("EC");
    }

    /**
     * The public half.
     *
     * @throws GeneralSecurityException for a number that is no private key of its curve
     */
    static ECPublicKey of(ECPrivateKey key) throws GeneralSecurityException {
        return new PublicPoint(key).derived();
    }

    private ECPublicKey derived() throws GeneralSecurityException {
        BigInteger p = ((ECFieldFp) curve.getCurve().getField()).getP();
        BigInteger x = agreed();
        BigInteger y = rootOf(squareOfY(x, p), p);
        ECPublicKey one = at(x, y);
        return verifies(one) ? one : at(x, p.subtract(y));
    }

    private BigInteger agreed() throws GeneralSecurityException {
        KeyAgreement agreement = KeyAgreement.getInstance("ECDH");
        agreement.init(key);
        ECPoint base = curve.getGenerator();
        var _ = agreement.doPhase(at(base.getAffineX(), base.getAffineY()), true);
        return new BigInteger(1, agreement.generateSecret());
    }

    private BigInteger squareOfY(BigInteger x, BigInteger p) {
        EllipticCurve equation = curve.getCurve();
        return x.pow(2).add(equation.getA()).multiply(x).add(equation.getB()).mod(p);
    }

    /**
     * A square root modulo a prime that is 3 modulo 4, as the primes of all NIST curves but P-224
     * are.
     */
    private static BigInteger rootOf(BigInteger square, BigInteger p) {
        return square.modPow(p.add(BigInteger.ONE).shiftRight(2), p);
    }

    private ECPublicKey at(BigInteger x, BigInteger y) throws GeneralSecurityException {
        return (ECPublicKey) factory.generatePublic(new ECPublicKeySpec(new ECPoint(x, y), curve));
    }

    private boolean verifies(PublicKey half) throws GeneralSecurityException {
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(key);
        signature.update(ANYTHING);
        byte[] signed = signature.sign();
        signature.initVerify(half);
        signature.update(ANYTHING);
        return signature.verify(signed);
    }
}
