package io.mintmark.exchange;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;

import io.mintmark.grant.CatalogueStore;
import io.mintmark.grant.Grant;
import io.mintmark.grant.IdentityProviderStore;
import io.mintmark.grant.Key;
import io.mintmark.grant.PatternGrants;
import io.mintmark.grant.Provider;
import io.mintmark.grant.SubjectGrants;
import io.mintmark.grant.SubjectPattern;
import io.mintmark.grant.TenantSnapshot;
import io.mintmark.tenant.Glob;
import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.ProviderName;
import io.mintmark.tenant.StateId;
import io.mintmark.tenant.TenantName;
import io.mintmark.tenant.TenantState;
import io.mintmark.token.ClaimConditions;
import io.mintmark.token.IdentityProvider;
import io.mintmark.token.KeySource;
import io.mintmark.token.TestKey;
import io.mintmark.verdict.Unavailable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** One tenant, kept in memory instead of tables; every edit raises its revision. */
final class MemoryTenant implements CatalogueStore, IdentityProviderStore {
    static final TenantName NAME = new TenantName("acme");
    static final IdpName IDP = new IdpName("ci");
    static final String ISSUER = "https://ci.example";
    static final String AUDIENCE = "mintmark";
    static final Duration AT_MOST = Duration.ofHours(1);

    private final Map<KeyName, Key> keys = new HashMap<>();
    private final List<Grant> grants = new ArrayList<>();
    private final TestKey signer;
    private Set<String> algorithms = Set.of("ES256");
    private long revision = 1;
    private String history = "";
    private boolean gone;
    private boolean oneTimeTokens;

    MemoryTenant(TestKey signer) {
        this.signer = signer;
    }

    /** A key of the fake provider, whose name is its target. */
    MemoryTenant key(String name) {
        return key(name, name);
    }

    synchronized MemoryTenant key(String name, String target) {
        var provider =
                new Provider(
                        new ProviderName("cloud"),
                        "fake",
                        JsonNodeFactory.instance.objectNode(),
                        List.of(new Glob("**")),
                        false,
                        Duration.ofSeconds(60));
        var key =
                new Key(
                        new KeyName(name),
                        "",
                        AT_MOST,
                        JsonNodeFactory.instance.objectNode().put("target", target),
                        Map.of("SECRET", "Secret"),
                        provider);
        keys.put(key.name(), key);
        revision++;
        return this;
    }

    synchronized MemoryTenant grant(String subject, String key) {
        return grant(subject, key, Optional.empty());
    }

    synchronized MemoryTenant grant(String subject, String key, Optional<Instant> until) {
        grants.add(
                new Grant(
                        grants.size() + 1,
                        IDP,
                        new SubjectPattern.Exact(subject),
                        new KeyName(key),
                        ClaimConditions.NONE,
                        Optional.empty(),
                        until,
                        Optional.empty()));
        revision++;
        return this;
    }

    synchronized void revoke(String key) {
        grants.removeIf(grant -> grant.key().value().equals(key));
        revision++;
    }

    /** Changes something that matters to nobody here. */
    synchronized void touch() {
        revision++;
    }

    /** The last edits are undone, as by a restore, and the same number of others came instead. */
    synchronized void beginAnotherHistory(Runnable edit) {
        long reached = revision;
        edit.run();
        history += "'";
        revision = reached;
    }

    /** Believes signatures by another algorithm only, which the signer's aren't. */
    synchronized void distrust() {
        algorithms = Set.of("RS256");
        revision++;
    }

    /** Can't be read from now on. */
    synchronized void goAway() {
        gone = true;
        revision++;
    }

    /** Accepts each token once. */
    synchronized void acceptTokensOnce() {
        oneTimeTokens = true;
        revision++;
    }

    @Override
    public synchronized TenantState state(TenantName tenant) {
        StateId shared = new StateId(0, "");
        return new TenantState(new StateId(revision, history + revision), shared);
    }

    @Override
    public Set<TenantName> changed(Map<TenantName, TenantState> known) {
        return known.entrySet().stream()
                .filter(entry -> !entry.getValue().equals(state(entry.getKey())))
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    @Override
    public String fingerprint() {
        return state(NAME).toString();
    }

    @Override
    public synchronized TenantSnapshot tenant(TenantName tenant) {
        if (gone) {
            throw new Unavailable("gone for the test", Duration.ofSeconds(1));
        }
        return new TenantSnapshot(
                NAME,
                state(NAME),
                new UUID(0, 1),
                256,
                Map.of(IDP, identityProvider()),
                keys,
                PatternGrants.of(List.of()),
                0);
    }

    @Override
    public synchronized SubjectGrants grants(TenantName tenant, IdpName idp, String subject) {
        return new SubjectGrants(
                state(tenant),
                grants.stream().filter(grant -> grant.subject().matches(subject)).toList(),
                0);
    }

    @Override
    public boolean knows(String issuer) {
        return issuer.equals(ISSUER);
    }

    @Override
    public List<IdentityProvider> trusting(String issuer, Set<String> audiences) {
        return knows(issuer) && audiences.contains(AUDIENCE) ? listed() : List.of();
    }

    @Override
    public List<IdentityProvider> listed(String issuer) {
        return knows(issuer) ? listed() : List.of();
    }

    @Override
    public synchronized List<IdentityProvider> listed() {
        return List.of(identityProvider());
    }

    private IdentityProvider identityProvider() {
        return new IdentityProvider(
                IDP,
                NAME,
                ISSUER,
                List.of(AUDIENCE),
                new KeySource(
                        ISSUER,
                        Optional.of("{\"keys\":[%s]}".formatted(signer.publicJwk())),
                        Optional.empty(),
                        Optional.empty()),
                algorithms,
                ClaimConditions.NONE,
                Duration.ZERO,
                oneTimeTokens ? Optional.of(Duration.ofMinutes(10)) : Optional.empty(),
                oneTimeTokens,
                true);
    }
}
