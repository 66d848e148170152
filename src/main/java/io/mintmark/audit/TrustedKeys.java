package io.mintmark.audit;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.jwk.ECKey;

import org.jspecify.annotations.Nullable;

import java.text.ParseException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * The keys whose checkpoints are believed: those given, and those that a believed key announced.
 */
public final class TrustedKeys {
    private final Map<String, ECKey> keys = new HashMap<>();

    public TrustedKeys(Collection<ECKey> given) {
        given.forEach(key -> keys.put(SealingKeys.thumbprint(key), key.toPublicJWK()));
    }

    /** A checkpoint whose signature holds, and whether the key before vouches for its key. */
    record Opened(Checkpoint checkpoint, @Nullable String announcer) {}

    /**
     * Checks the signature.
     *
     * @throws IllegalArgumentException whose message is the end of a sentence about the checkpoint
     */
    Opened open(SignedCheckpoint signed) {
        JWSObject jws = parse(signed.jws());
        String announcer = signed.announcedBy().map(text -> announcer(jws, text)).orElse(null);
        ECKey key = keys.get(String.valueOf(jws.getHeader().getKeyID()));
        if (key == null) {
            throw new IllegalArgumentException(
                    "is signed by key %s, which isn't to be trusted"
                            .formatted(jws.getHeader().getKeyID()));
        }
        Checkpoint checkpoint = verified(jws, key);
        if (!checkpoint.key().equals(jws.getHeader().getKeyID())) {
            throw new IllegalArgumentException("names another key than the one that signed it");
        }
        if (checkpoint.number() != signed.number()) {
            throw new IllegalArgumentException(
                    "was sealed as number %d".formatted(checkpoint.number()));
        }
        return new Opened(checkpoint, announcer);
    }

    /**
     * Whose signature announces the key, which is trusted from now on; null: nobody's that counts.
     */
    private @Nullable String announcer(JWSObject announced, String text) {
        JWSObject jws = parse(text);
        String id = String.valueOf(jws.getHeader().getKeyID());
        ECKey key = keys.get(id);
        if (key == null && keys.containsKey(String.valueOf(announced.getHeader().getKeyID()))) {
            return null;
        }
        if (key == null || !(announced.getHeader().getJWK() instanceof ECKey next)) {
            throw new IllegalArgumentException("has a key that no trusted key announced");
        }
        if (!jws.getPayload().toString().equals(announced.getPayload().toString())
                || !verified(jws, key).key().equals(SealingKeys.thumbprint(next))) {
            throw new IllegalArgumentException("has a key whose announcement is of another key");
        }
        keys.putIfAbsent(SealingKeys.thumbprint(next), next);
        return id;
    }

    private static Checkpoint verified(JWSObject jws, ECKey key) {
        try {
            if (!jws.getHeader().getAlgorithm().equals(JWSAlgorithm.ES256)
                    || !jws.verify(new ECDSAVerifier(key))) {
                throw new IllegalArgumentException("has a signature that doesn't hold");
            }
            return CheckpointJson.read(jws.getPayload().toString());
        } catch (JOSEException e) {
            throw new IllegalArgumentException("has a signature that can't be checked", e);
        }
    }

    private static JWSObject parse(String text) {
        try {
            return JWSObject.parse(text);
        } catch (ParseException e) {
            throw new IllegalArgumentException("isn't a JWS", e);
        }
    }
}
