package io.mintmark.broker.grant;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.token.IdentityProviders;
import io.mintmark.broker.token.IdentityProviders.Listed;
import io.mintmark.broker.token.IdentityProviders.Login;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * All identity providers, and which of them an issuer and an audience lead to: one state,
 * immutable, and small enough to be kept whole. Ten thousand providers with five audiences each
 * take 4 MB beside their entries, because a pair is kept as a hash. A hash collision costs one more
 * look-up.
 */
public final class IssuerIndex {
    private static final long HASH_OF_NOTHING = 0xcbf29ce484222325L;
    private static final long HASH_FACTOR = 0x100000001b3L;

    private final String fingerprint;
    private final List<Version> versions;
    private final Map<String, List<Version>> listedOf;
    private final long[] pairs;
    private final int[] versionOfPair;
    private final List<Listed> listed;
    private final List<String> listedIssuers;
    private final Map<TenantName, List<Login>> logins;
    private final Map<TenantName, String> tokenIssuers;

    /** An identity provider as it is until it is changed. */
    public record Version(IdpName name, long number) {}

    /**
     * An identity provider in the index.
     *
     * @param pairs the hashes of its issuer with each of its audiences
     * @param login how people log in there, if they can
     * @param signedAs the issuer of the tokens for its tenant, if that came from another cell
     */
    public record Entry(
            Version version,
            String issuer,
            boolean listed,
            List<Long> pairs,
            Optional<Login> login,
            Optional<SignedAs> signedAs) {
        /** The entry of an identity provider with these audiences. */
        public static Entry of(
                Version version, String issuer, List<String> audiences, boolean listed) {
            return new Entry(
                    version,
                    issuer,
                    listed,
                    audiences.stream().map(audience -> hash(issuer, audience)).toList(),
                    Optional.empty(),
                    Optional.empty());
        }

        /** Returns this entry with a login. */
        public Entry with(Optional<Login> its) {
            return new Entry(version, issuer, listed, pairs, its, signedAs);
        }

        /** Returns this entry with the issuer of its tenant's tokens. */
        public Entry ofTenant(Optional<SignedAs> tenants) {
            return new Entry(version, issuer, listed, pairs, login, tenants);
        }
    }

    /** The issuer that the broker's tokens for a tenant have. */
    public record SignedAs(TenantName tenant, String issuer) {}

    private record Pair(long hash, int version) {}

    /**
     * Builds an index.
     *
     * @param mayShow whether clients without a token may see a provider that is listed or has a
     *     login
     */
    static IssuerIndex of(IdentityProviderStore.Entries all, Predicate<Entry> mayShow) {
        List<Entry> entries = all.byName();
        return new IssuerIndex(
                all.fingerprint(),
                entries,
                entries.stream().filter(Entry::listed).filter(mayShow).toList(),
                entries.stream()
                        .filter(entry -> entry.login().isPresent())
                        .filter(mayShow)
                        .flatMap(entry -> entry.login().stream())
                        .toList());
    }

    private IssuerIndex(
            String fingerprint, List<Entry> entries, List<Entry> shown, List<Login> logins) {
        this.fingerprint = fingerprint;
        this.versions = entries.stream().map(Entry::version).toList();
        this.listed =
                shown.stream()
                        .map(entry -> new Listed(entry.version().name(), entry.issuer()))
                        .toList();
        this.listedIssuers =
                shown.stream()
                        .map(Entry::issuer)
                        .distinct()
                        .sorted()
                        .limit(IdentityProviders.MOST_SHOWN)
                        .toList();
        this.listedOf = listedOf(entries, shown);
        this.logins = logins.stream().collect(Collectors.groupingBy(Login::tenant));
        this.tokenIssuers =
                entries.stream()
                        .flatMap(entry -> entry.signedAs().stream())
                        .distinct()
                        .collect(Collectors.toMap(SignedAs::tenant, SignedAs::issuer));
        List<Pair> sorted = sortedPairs(entries);
        this.pairs = sorted.stream().mapToLong(Pair::hash).toArray();
        this.versionOfPair = sorted.stream().mapToInt(Pair::version).toArray();
    }

    /**
     * Maps each issuer to its first listed providers. If all providers of an issuer are hidden, the
     * list is empty.
     */
    private static Map<String, List<Version>> listedOf(List<Entry> entries, List<Entry> shown) {
        Map<String, List<Version>> byIssuer = new HashMap<>();
        entries.forEach(entry -> byIssuer.putIfAbsent(entry.issuer(), List.of()));
        for (Entry entry : shown) {
            byIssuer.compute(
                    entry.issuer(),
                    (_, before) ->
                            before == null || before.isEmpty()
                                    ? List.of(entry.version())
                                    : withOneMore(before, entry.version()));
        }
        return byIssuer;
    }

    private static List<Version> withOneMore(List<Version> before, Version version) {
        if (before.size() == IdentityProviders.MOST_FOUND) {
            return before;
        }
        List<Version> more = new ArrayList<>(before);
        more.add(version);
        return List.copyOf(more);
    }

    private static List<Pair> sortedPairs(List<Entry> entries) {
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < entries.size(); i++) {
            for (long hash : entries.get(i).pairs()) {
                pairs.add(new Pair(hash, i));
            }
        }
        pairs.sort(Comparator.comparingLong(Pair::hash));
        return pairs;
    }

    /** FNV-1a, of characters instead of bytes. */
    private static long hash(String issuer, String audience) {
        long hash = hash(HASH_OF_NOTHING, issuer);
        // no issuer has a line end
        return hash(hash(hash, "\n"), audience);
    }

    private static long hash(long before, String text) {
        long hash = before;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * HASH_FACTOR;
        }
        return hash;
    }

    /** Whether the index was built from these entries. */
    boolean isOf(IdentityProviderStore.Entries entries) {
        return fingerprint.equals(entries.fingerprint());
    }

    boolean knows(String issuer) {
        return listedOf.containsKey(issuer);
    }

    /** The first listed providers of an issuer, by name. */
    List<Version> listed(String issuer) {
        return listedOf.getOrDefault(issuer, List.of());
    }

    /** All listed providers, by name. */
    List<Listed> listed() {
        return listed;
    }

    /** The first issuers of listed providers, sorted. */
    List<String> listedIssuers() {
        return listedIssuers;
    }

    /** The first logins of a tenant, by the provider's name. */
    List<Login> logins(TenantName tenant) {
        return logins.getOrDefault(tenant, List.of()).stream()
                .limit(IdentityProviders.MOST_FOUND)
                .toList();
    }

    /** The logins of the only tenant that has any. */
    List<Login> logins() {
        return logins.size() == 1 ? logins(logins.keySet().iterator().next()) : List.of();
    }

    /** The issuer of the broker's tokens for a tenant that came from another cell. */
    Optional<String> tokenIssuer(TenantName tenant) {
        return Optional.ofNullable(tokenIssuers.get(tenant));
    }

    /**
     * The first providers, by name, that the pairs of an issuer with these audiences may lead to.
     */
    List<Version> leadingFrom(String issuer, Set<String> audiences) {
        if (!knows(issuer)) {
            return List.of();
        }
        SortedSet<Integer> found = new TreeSet<>();
        for (String audience : audiences) {
            long hash = hash(issuer, audience);
            for (int at = firstOf(hash); at < pairs.length && pairs[at] == hash; at++) {
                found.add(versionOfPair[at]);
            }
        }
        return found.stream().limit(IdentityProviders.MOST_FOUND).map(versions::get).toList();
    }

    private int firstOf(long hash) {
        int at = Arrays.binarySearch(pairs, hash);
        if (at < 0) {
            return pairs.length;
        }
        while (at > 0 && pairs[at - 1] == hash) {
            at--;
        }
        return at;
    }
}
