package io.mintmark.base.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.broker.identity.KeyDirectory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPrivateKeySpec;

class PublicPointTest {
    private static final ECParameterSpec P256 =
            ((ECPrivateKey) KeyDirectory.ec("secp256r1").getPrivate()).getParams();

    /** Half of them have the other y. */
    @ParameterizedTest
    @ValueSource(strings = {"secp256r1", "secp384r1", "secp521r1"})
    void the_public_half_is_that_of_the_pair(String curve) throws GeneralSecurityException {
        for (int i = 0; i < 40; i++) {
            KeyPair pair = KeyDirectory.ec(curve);
            assertEquals(pair.getPublic(), PublicPoint.of((ECPrivateKey) pair.getPrivate()));
        }
    }

    @Test
    void one_leads_to_the_base_point_and_the_last_number_to_its_opposite()
            throws GeneralSecurityException {
        ECPublicKey first = PublicPoint.of(key(BigInteger.ONE));
        ECPublicKey last = PublicPoint.of(key(P256.getOrder().subtract(BigInteger.ONE)));

        assertEquals(P256.getGenerator(), first.getW());
        assertEquals(P256.getGenerator().getAffineX(), last.getW().getAffineX());
        assertEquals(
                P256.getCurve().getField().getFieldSize(),
                P256.getGenerator().getAffineY().add(last.getW().getAffineY()).bitLength());
    }

    @Test
    void a_number_that_is_no_private_key_is_refused() {
        for (BigInteger d : new BigInteger[] {BigInteger.ZERO, P256.getOrder()}) {
            assertThrows(GeneralSecurityException.class, () -> PublicPoint.of(key(d)));
        }
    }

    private static ECPrivateKey key(BigInteger d) throws GeneralSecurityException {
        return (ECPrivateKey)
                KeyFactory.getInstance("EC").generatePrivate(new ECPrivateKeySpec(d, P256));
    }
}
