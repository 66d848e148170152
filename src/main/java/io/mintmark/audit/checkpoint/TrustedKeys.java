package io.mintmark.audit.checkpoint;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObject;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.util.Base64URL;

import org.jspecify.annotations.Nullable;

import java.text.ParseException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** The trusted keys: those that were given, and those that a trusted key announced. */
public final class TrustedKeys {
    /** A JWS in compact form. A library would also accept whitespace around it. */
    private static final Pattern COMPACT = Pattern.compile("[A-Za-z0-9_-]+([.][A-Za-z0-9_-]+){2}");

    private final Map<String, ECKey> keys = new HashMap<>();

    public TrustedKeys(Collection<ECKey> given) {
        given.forEach(key -> keys.put(SealingKeys.thumbprint(key), key.toPublicJWK()));
    }

    /** The ids of the trusted keys, which are RFC 7638 thumbprints. */
    public List<String> ids() {
        return keys.keySet().stream().sorted().toList();
    }

    /**
     * A checkpoint whose signature holds.
     *
     * @param announcer the key before, if it vouches for this one's
     * @param flaws what is wrong with the row around the signature, as ends of a sentence
     */
    public record Opened(Checkpoint checkpoint, @Nullable String announcer, List<String> flaws) {}

    /**
     * Checks the signature.
     *
     * @throws IllegalArgumentException whose message is the end of a sentence about the checkpoint
     */
    public Opened open(SignedCheckpoint signed) {
        JWSObject jws = parse(signed.jws());
        List<String> flaws = new ArrayList<>();
        String announcer =
                signed.announcedBy().map(text -> announcer(jws, text, flaws)).orElse(null);
        ECKey key = keys.get(id(jws));
        if (key == null) {
            throw new IllegalArgumentException(
                    flaws.isEmpty()
                            ? "is signed by key %s, which is not trusted".formatted(id(jws))
                            : flaws.getFirst());
        }
        Checkpoint checkpoint = verified(jws, key);
        if (!checkpoint.key().equals(id(jws))) {
            throw new IllegalArgumentException("names a key other than the one that signed it");
        }
        if (checkpoint.number() != signed.number()) {
            throw new IllegalArgumentException(
                    "has another number in its signed content: %d".formatted(checkpoint.number()));
        }
        if (!checkpoint.sealedAt().equals(signed.sealedAt())) {
            flaws.add(
                    "was sealed at %s, but its row has the time %s"
                            .formatted(checkpoint.sealedAt(), signed.sealedAt()));
        }
        return new Opened(checkpoint, announcer, List.copyOf(flaws));
    }

    /**
     * Checks the signature of a checkpoint alone, without the checkpoints around it. Announcements
     * count if they were checked before.
     *
     * @return what is wrong with it, as the end of a sentence; empty if nothing is
     */
    public Optional<String> fault(SignedCheckpoint signed) {
        try {
            return open(signed).flaws().stream().findFirst();
        } catch (IllegalArgumentException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /**
     * The reason of a checkpoint's declaration; empty without one, or if no trusted key signed the
     * checkpoint.
     */
    public Optional<String> declared(SignedCheckpoint signed) {
        try {
            return open(signed).checkpoint().declared().map(Checkpoint.Declaration::reason);
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /**
     * The payload of a statement that is no checkpoint.
     *
     * @throws IllegalArgumentException whose message is the end of a sentence about the statement
     */
    String statement(String jws) {
        JWSObject parsed = parse(jws);
        ECKey key = keys.get(id(parsed));
        if (key == null) {
            throw new IllegalArgumentException(
                    "is signed by key %s, which is not among the trusted audit keys"
                            .formatted(id(parsed)));
        }
        requireValid(parsed, key);
        return parsed.getPayload().toString();
    }

    private static String id(JWSObject jws) {
        return String.valueOf(jws.getHeader().getKeyID());
    }

    /**
     * The trusted key whose signature announces the new key, which is trusted from now on; null if
     * there is none.
     */
    private @Nullable String announcer(JWSObject announced, String text, List<String> flaws) {
        try {
            JWSObject jws = parse(text);
            ECKey known = keys.get(id(jws));
            ECKey next = shown(announced);
            Checkpoint checkpoint = verified(jws, known == null ? shown(jws) : known);
            if (!jws.getPayload().toString().equals(announced.getPayload().toString())
                    || !checkpoint.key().equals(SealingKeys.thumbprint(next))
                    || id(jws).equals(id(announced))) {
                flaws.add(
                        "has an announcement by the previous key that names a key other than the checkpoint's");
                return null;
            }
            if (known == null) {
                return null;
            }
            keys.putIfAbsent(SealingKeys.thumbprint(next), next);
            return id(jws);
        } catch (IllegalArgumentException e) {
            flaws.add("has an announcement of its key that " + e.getMessage());
            return null;
        }
    }

    /** The key that a signature shows; whether it is to be trusted is another question. */
    private static ECKey shown(JWSObject jws) {
        if (jws.getHeader().getJWK() instanceof ECKey key
                && SealingKeys.thumbprint(key).equals(id(jws))) {
            return key;
        }
        throw new IllegalArgumentException("doesn't contain its public key");
    }

    private static Checkpoint verified(JWSObject jws, ECKey key) {
        requireValid(jws, key);
        return CheckpointJson.read(jws.getPayload().toString());
    }

    private static void requireValid(JWSObject jws, ECKey key) {
        try {
            if (!jws.getHeader().getAlgorithm().equals(JWSAlgorithm.ES256)
                    || !jws.verify(new ECDSAVerifier(key))) {
                throw new IllegalArgumentException("has an invalid signature");
            }
        } catch (JOSEException e) {
            throw new IllegalArgumentException("has a signature that can't be checked", e);
        }
    }

    private static JWSObject parse(String text) {
        if (!COMPACT.matcher(text).matches()) {
            throw new IllegalArgumentException("isn't a JWS");
        }
        try {
            for (Base64URL encoded : JOSEObject.split(text)) {
                if (!Base64URL.encode(encoded.decode()).equals(encoded)) {
                    throw new IllegalArgumentException("isn't a JWS");
                }
            }
            return JWSObject.parse(text);
        } catch (ParseException e) {
            throw new IllegalArgumentException("isn't a JWS", e);
        }
    }
}
