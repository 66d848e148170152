package io.mintmark.provider;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.crypto.factories.DefaultJWSVerifierFactory;
import com.nimbusds.jose.jwk.AsymmetricJWK;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jwt.SignedJWT;

import java.text.ParseException;
import java.util.function.Supplier;

/**
 * Verifies signatures with what an issuer publishes at this moment.
 *
 * @param keySet its JWK set
 */
public record PublishedKeys(Supplier<String> keySet) {

    /** The token, if one of the keys signed it. */
    public SignedJWT verified(String token) throws ParseException, JOSEException {
        SignedJWT parsed = SignedJWT.parse(token);
        JWK key = JWKSet.parse(keySet.get()).getKeyByKeyId(parsed.getHeader().getKeyID());
        if (!(key instanceof AsymmetricJWK known)
                || key.isPrivate()
                || !parsed.verify(
                        new DefaultJWSVerifierFactory()
                                .createJWSVerifier(parsed.getHeader(), known.toPublicKey()))) {
            throw new JOSEException("the signature is none of the published keys'");
        }
        return parsed;
    }
}
