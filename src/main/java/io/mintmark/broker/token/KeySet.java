package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The usable keys of a JWK set (RFC 7517 section 5), and of a second set that counts where the
 * first has no key for a token. Immutable.
 */
final class KeySet {
    /** The maximum number of usable keys that are kept of a set: the first ones. */
    static final int MAX_KEPT = 64;

    /**
     * The maximum number of keys with the same {@code kid} that are tried. Without it, one token
     * could cost a thousand verifications.
     */
    private static final int MAX_TRIES = 4;

    /**
     * The maximum number of keys in a document, more than any real issuer publishes. Each takes
     * time to parse.
     */
    static final int MAX_KEYS = 500;

    /** The limit of a fetched document; a key set in a row is shorter. */
    private static final int MAX_BYTES = 1 << 20;

    private static final long OBJECTS = 256;

    /** The maximum number of ignored keys that are named. */
    private static final int MAX_NAMED = 10;

    /** The number of characters of a {@code kid} that are shown. */
    private static final int MAX_SHOWN = 80;

    private final List<VerificationKey> keys;
    private final List<String> ignored;
    private final Optional<KeySet> second;
    private final Extent extent;

    /** The places of its source that a set was read from. */
    private enum Extent {
        FIRST_PLACE,
        ALL_PLACES,
        /** The second place couldn't be read. */
        SECOND_MISSING
    }

    /** The result of checking a token against a key set. */
    enum Finding {
        VERIFIED,
        /** There are several keys, and the token doesn't say which. */
        KEY_ID_MISSING,
        /** No key has the token's {@code kid}: the issuer may have new ones. */
        KEY_UNKNOWN,
        NOT_VERIFIED
    }

    private KeySet(
            List<VerificationKey> keys,
            List<String> ignored,
            Optional<KeySet> second,
            Extent extent) {
        this.keys = List.copyOf(keys);
        this.ignored = List.copyOf(ignored);
        this.second = second;
        this.extent = extent;
    }

    /** Reads a set, without the keys that aren't to verify with. */
    static Parsed<KeySet> parse(byte[] json) {
        return Parsed.object(json, MAX_BYTES).then(KeySet::of);
    }

    private static Parsed<KeySet> of(ObjectNode set) {
        JsonNode array = set.path("keys");
        if (!array.isArray()) {
            return Parsed.unusable(
                    array.isMissingNode()
                            ? "has no field 'keys'"
                            : "has %s as 'keys' instead of a list".formatted(Text.kind(array)));
        }
        if (array.size() > MAX_KEYS) {
            return Parsed.unusable(
                    "has %d keys; the maximum is %d".formatted(array.size(), MAX_KEYS));
        }
        return Parsed.usable(of(array));
    }

    private static KeySet of(JsonNode array) {
        List<VerificationKey> keys = new ArrayList<>();
        List<String> ignored = new ArrayList<>();
        for (JsonNode json : array) {
            switch (VerificationKey.of(json)) {
                case Parsed.Usable<VerificationKey>(VerificationKey key) -> keys.add(key);
                case Parsed.Unusable<VerificationKey>(String fault) -> {
                    if (ignored.size() < MAX_NAMED) {
                        ignored.add(name(json) + " " + fault);
                    }
                }
            }
            if (keys.size() == MAX_KEPT) {
                break;
            }
        }
        return new KeySet(keys, ignored, Optional.empty(), Extent.ALL_PLACES);
    }

    private static String name(JsonNode key) {
        JsonNode id = key.path("kid");
        return Text.fault(id, MAX_SHOWN).isEmpty() ? "'" + id.textValue() + "'" : "one without kid";
    }

    /** This set with that of the second place, if that has keys which this one lacks. */
    KeySet followedBy(KeySet other) {
        return other.keys.stream().allMatch(key -> key.id().filter(this::hasKeyNamed).isPresent())
                ? this
                : new KeySet(keys, ignored, Optional.of(other), Extent.ALL_PLACES);
    }

    /** Whether the first set has a key of this {@code kid}. */
    boolean hasKeyNamed(String id) {
        return keys.stream().anyMatch(key -> key.id().filter(id::equals).isPresent());
    }

    /** The keys of the first place, without a read of the second. */
    KeySet ofFirstPlace() {
        return new KeySet(keys, ignored, second, Extent.FIRST_PLACE);
    }

    /** The keys of the first place, because those of the second couldn't be read. */
    KeySet withoutSecond() {
        return new KeySet(keys, ignored, second, Extent.SECOND_MISSING);
    }

    /** Whether all places were read, with or without success. */
    boolean isOfAllPlaces() {
        return extent != Extent.FIRST_PLACE;
    }

    /** Whether all places that were read answered. */
    boolean isComplete() {
        return extent != Extent.SECOND_MISSING;
    }

    /** Whether some keys come from a second place. */
    boolean hasSecond() {
        return second.isPresent();
    }

    /** The first keys that are left out, each by its name and with the reason. */
    List<String> ignored() {
        return Stream.concat(
                        ignored.stream(), second.stream().flatMap(set -> set.ignored().stream()))
                .toList();
    }

    /** Whether the first set has no usable key. */
    boolean isEmpty() {
        return keys.isEmpty();
    }

    /** Whether the maximum number of keys is kept, so that others may have been left out. */
    boolean isFull() {
        return keys.size() == MAX_KEPT;
    }

    /** An upper bound of the set's size on the heap, in bytes. */
    long bytes() {
        return OBJECTS
                + (long) Character.BYTES * ignored.stream().mapToInt(String::length).sum()
                + keys.stream().mapToLong(VerificationKey::bytes).sum()
                + second.map(KeySet::bytes).orElse(0L);
    }

    /**
     * Checks the signature of a token with the keys that it can mean: those with its {@code kid};
     * or the only key of the set, if either that or the token has no {@code kid}. A key without
     * {@code kid} among several is never used, for nothing says that it was meant.
     */
    Finding check(Jwt jwt) {
        Finding finding = checkWithFirst(jwt);
        return finding == Finding.KEY_UNKNOWN
                ? second.map(set -> set.check(jwt)).orElse(finding)
                : finding;
    }

    private Finding checkWithFirst(Jwt jwt) {
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

    /** The number of keys, for messages. */
    @Override
    public String toString() {
        return keys.size() + second.map(set -> set.keys.size()).orElse(0) + " keys";
    }
}
