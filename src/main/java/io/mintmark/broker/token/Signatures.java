package io.mintmark.broker.token;

import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.TokenRefusal.InvalidSignature;
import io.mintmark.base.verdict.TokenRefusal.MissingKeyId;
import io.mintmark.base.verdict.TokenRefusal.UnsupportedAlgorithm;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.base.verdict.Verdict;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Finds the identity provider that signed a token, among the possible ones. */
final class Signatures {
    /** The maximum number of key sources for one token. */
    static final int MAX_SOURCES = 5;

    private final IssuerKeys keys;

    Signatures(IssuerKeys keys) {
        this.keys = keys;
    }

    /**
     * The first provider that accepts the token's algorithm and whose keys verify it.
     *
     * @param possible the providers that could have signed it
     * @param wait called before waiting for keys
     * @throws Unavailable if none verifies it and the keys of some can't be fetched
     */
    Verdict<IdentityProvider> signer(
            Jwt jwt, String issuer, List<IdentityProvider> possible, KeyWait wait) {
        List<IdentityProvider> able =
                possible.stream().filter(p -> p.algorithms().contains(jwt.algorithm())).toList();
        if (able.isEmpty() && !possible.isEmpty()) {
            return Verdict.refused(new UnsupportedAlgorithm(jwt.algorithm()));
        }
        Set<KeySet.Finding> findings = EnumSet.noneOf(KeySet.Finding.class);
        Optional<Unavailable> trouble = Optional.empty();
        for (IdentityProvider provider : oneForEachSource(able)) {
            try {
                KeySet.Finding finding = keys.check(jwt, provider, wait);
                if (finding == KeySet.Finding.VERIFIED) {
                    return Verdict.passed(provider);
                }
                findings.add(finding);
            } catch (Unavailable e) {
                trouble = Optional.of(e);
            }
        }
        return unverified(issuer, findings, trouble);
    }

    private static Verdict<IdentityProvider> unverified(
            String issuer, Set<KeySet.Finding> findings, Optional<Unavailable> trouble) {
        if (trouble.isPresent()) {
            throw trouble.get();
        }
        TokenRefusal refusal =
                findings.contains(KeySet.Finding.KEY_ID_MISSING)
                        ? new MissingKeyId()
                        : new InvalidSignature(issuer);
        return Verdict.refused(refusal);
    }

    /**
     * One provider for each key source. Those with cached keys come first, so that a host that
     * hangs is waited for last.
     */
    private List<IdentityProvider> oneForEachSource(Collection<IdentityProvider> providers) {
        if (providers.size() == 1) {
            return List.copyOf(providers);
        }
        Map<KeySource, IdentityProvider> bySource = new LinkedHashMap<>();
        providers.forEach(provider -> bySource.putIfAbsent(provider.keys(), provider));
        // other requests fetch keys at the same time, so each is asked once
        Map<Boolean, List<IdentityProvider>> atHand =
                bySource.values().stream()
                        .limit(MAX_SOURCES)
                        .collect(Collectors.partitioningBy(keys::atHand));
        List<IdentityProvider> sorted = new ArrayList<>(atHand.getOrDefault(true, List.of()));
        sorted.addAll(atHand.getOrDefault(false, List.of()));
        return sorted;
    }
}
