package io.mintmark.broker.identity;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.JWKSet;

import io.mintmark.base.key.SigningKey;

import java.time.LocalDate;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * All keys of the broker at one time, each with the day (UTC) from which it signs. All are
 * published, those of days to come as well, so that providers know a key before it signs.
 *
 * <p>Of the keys of one kind the latest that has begun signs. ES256 goes before RS256, which costs
 * eight times as much, except for those who verify nothing else. If none has begun, the first one
 * signs: a new broker shouldn't have to wait for midnight. Keys in a token have no days: the last
 * one named signs, whatever files there are.
 */
final class SigningKeys {
    private final NavigableMap<LocalDate, SigningKey> byDay;
    private final List<SigningKey> held;

    SigningKeys(SortedMap<LocalDate, SigningKey> byDay) {
        this(byDay, List.of());
    }

    private SigningKeys(SortedMap<LocalDate, SigningKey> byDay, List<SigningKey> held) {
        if (byDay.isEmpty() && held.isEmpty()) {
            throw new IllegalArgumentException("there is no signing key");
        }
        this.byDay = new TreeMap<>(byDay);
        this.held = List.copyOf(held);
    }

    /** Keys in a token alone; the last one signs. */
    static SigningKeys held(List<SigningKey> held) {
        return new SigningKeys(new TreeMap<>(), held);
    }

    /**
     * These keys, which are then only published, together with keys in a token, if any, of which
     * the last signs.
     */
    SigningKeys with(List<SigningKey> keys) {
        return new SigningKeys(byDay, keys);
    }

    /** The key that signs on a day, of any type. */
    SigningKey signer(LocalDate today) {
        if (!held.isEmpty()) {
            return held.getLast();
        }
        return begun(today, JWSAlgorithm.ES256)
                .or(() -> begun(today, JWSAlgorithm.RS256))
                .orElseGet(() -> byDay.get(byDay.firstKey()));
    }

    /** The day from which the key that signs on a day has signed; empty for one in a token. */
    Optional<LocalDate> signerSince(LocalDate today) {
        SigningKey signer = signer(today);
        return byDay.entrySet().stream()
                .filter(entry -> entry.getValue().equals(signer))
                .map(Map.Entry::getKey)
                .findFirst();
    }

    /** The key that signs with an algorithm on a day, if there is such a key at all. */
    Optional<SigningKey> signer(LocalDate today, JWSAlgorithm algorithm) {
        return held.reversed().stream()
                .filter(signs(algorithm))
                .findFirst()
                .or(() -> begun(today, algorithm))
                .or(() -> byDay.values().stream().filter(signs(algorithm)).findFirst());
    }

    /** The keys that sign something on a day. */
    Set<SigningKey> signers(LocalDate today) {
        Set<SigningKey> signers = new LinkedHashSet<>(Set.of(signer(today)));
        signer(today, JWSAlgorithm.RS256).ifPresent(signers::add);
        signer(today, JWSAlgorithm.ES256).ifPresent(signers::add);
        return signers;
    }

    /** Whether providers may have fetched this key from the broker. */
    boolean includes(SigningKey key) {
        return published().getKeyByKeyId(key.id()) != null;
    }

    /** The public keys. */
    JWKSet published() {
        return new JWKSet(all().map(SigningKey::published).distinct().toList());
    }

    private Stream<SigningKey> all() {
        return Stream.concat(byDay.values().stream(), held.stream());
    }

    /** The algorithms that signatures may have, by name. */
    List<String> algorithms() {
        return all().map(key -> key.algorithm().getName()).distinct().sorted().toList();
    }

    @Override
    public String toString() {
        return held.isEmpty() ? byDay.toString() : "%s and %s".formatted(byDay, held);
    }

    private Optional<SigningKey> begun(LocalDate today, JWSAlgorithm algorithm) {
        for (SigningKey key : byDay.headMap(today, true).descendingMap().values()) {
            if (signs(algorithm).test(key)) {
                return Optional.of(key);
            }
        }
        return Optional.empty();
    }

    private static Predicate<SigningKey> signs(JWSAlgorithm algorithm) {
        return key -> key.algorithm().equals(algorithm);
    }
}
