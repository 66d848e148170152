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

/**
 * All keys of the broker at one time, each with the day (UTC) from which it signs. All are
 * published, those of days to come as well, so that providers know a key before it signs.
 *
 * <p>Of the keys of one kind the latest that has begun signs. ES256 goes before RS256, which costs
 * eight times as much, except for those who verify nothing else. If none has begun, the first one
 * signs: a new broker shouldn't have to wait for midnight.
 */
final class SigningKeys {
    private final NavigableMap<LocalDate, SigningKey> byDay;

    SigningKeys(SortedMap<LocalDate, SigningKey> byDay) {
        if (byDay.isEmpty()) {
            throw new IllegalArgumentException("no signing key");
        }
        this.byDay = new TreeMap<>(byDay);
    }

    /** The key that signs on a day, of any type. */
    SigningKey signer(LocalDate today) {
        return begun(today, JWSAlgorithm.ES256)
                .or(() -> begun(today, JWSAlgorithm.RS256))
                .orElseGet(() -> byDay.get(byDay.firstKey()));
    }

    /** The day from which the key that signs on a day has signed. */
    LocalDate signerSince(LocalDate today) {
        SigningKey signer = signer(today);
        return byDay.entrySet().stream()
                .filter(entry -> entry.getValue().equals(signer))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseThrow();
    }

    /** The key that signs with an algorithm on a day, if there is such a key at all. */
    Optional<SigningKey> signer(LocalDate today, JWSAlgorithm algorithm) {
        return begun(today, algorithm)
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
        return new JWKSet(byDay.values().stream().map(SigningKey::published).toList());
    }

    /** The algorithms that signatures may have, by name. */
    List<String> algorithms() {
        return byDay.values().stream()
                .map(key -> key.algorithm().getName())
                .distinct()
                .sorted()
                .toList();
    }

    @Override
    public String toString() {
        return byDay.toString();
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
