package io.mintmark.token;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.json.StrictJson;

import java.util.List;
import java.util.Optional;

/** The usable keys of a JWK set (RFC 7517 section 5). Immutable. */
final class KeySet {
    /** Of keys with the same {@code kid}, so that one token can't cost a thousand verifications. */
    private static final int MAX_TRIES = 4;

    /** Nobody publishes more, and each takes time to get ready. */
    private static final int MAX_KEYS = 500;

    /** As much as is fetched; what stands in a row is shorter. */
    private static final int MAX_BYTES = 1 << 20;

    private final List<VerificationKey> keys;

    /** What a set says of a token. */
    enum Finding {
        VERIFIED,
        /** There are several keys, and the token doesn't say which. */
        KEY_ID_MISSING,
        /** No key has the token's {@code kid}: the issuer may have new ones. */
        KEY_UNKNOWN,
        NOT_VERIFIED
    }

    private KeySet(List<VerificationKey> keys) {
        this.keys = keys;
    }

    /** Reads a set, without the keys that aren't to verify with; empty if it isn't a set. */
    static Optional<KeySet> parse(byte[] json) {
        return StrictJson.object(json, MAX_BYTES)
                .map(set -> set.path("keys"))
                .filter(JsonNode::isArray)
                .filter(array -> array.size() <= MAX_KEYS)
                .map(array ->
                        array.valueStream().map(VerificationKey::of).flatMap(Optional::stream))
                .map(usable -> new KeySet(usable.toList()));
    }

    /**
     * Checks the signature of a token with the keys that it can mean: those with its {@code kid};
     * or the only key of the set, if either that or the token has no {@code kid}. A key without
     * {@code kid} among several is never used, for nothing says that it was meant.
     */
    Finding check(Jwt jwt) {
        if (jwt.keyId().isEmpty() && keys.size() > 1) {
            return Finding.KEY_ID_MISSING;
        }
        List<VerificationKey> named = keys.stream().filter(key -> isNamed(key, jwt)).toList();
        List<VerificationKey> meant = named.isEmpty() ? sole(jwt) : named;
        if (meant.stream().limit(MAX_TRIES).anyMatch(key -> key.verifies(jwt))) {
            return Finding.VERIFIED;
        }
        return named.isEmpty() ? Finding.KEY_UNKNOWN : Finding.NOT_VERIFIED;
    }

    private List<VerificationKey> sole(Jwt jwt) {
        return keys.size() == 1 && (jwt.keyId().isEmpty() || keys.getFirst().id().isEmpty())
                ? keys
                : List.of();
    }

    private static boolean isNamed(VerificationKey key, Jwt jwt) {
        return jwt.keyId().isPresent() && key.id().equals(jwt.keyId());
    }

    /** For messages: how many keys there are. */
    @Override
    public String toString() {
        return keys.size() + " keys";
    }
}
