package io.mintmark.broker.exchange;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;

import io.mintmark.base.tenant.Glob;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.StateId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.grant.BlockRule;
import io.mintmark.broker.grant.CatalogueStore;
import io.mintmark.broker.grant.GlobIndex;
import io.mintmark.broker.grant.Grant;
import io.mintmark.broker.grant.Grants;
import io.mintmark.broker.grant.IdentityProviderStore;
import io.mintmark.broker.grant.IssuerIndex;
import io.mintmark.broker.grant.Key;
import io.mintmark.broker.grant.Provider;
import io.mintmark.broker.grant.SharedSnapshot;
import io.mintmark.broker.grant.SubjectGrants;
import io.mintmark.broker.grant.SubjectPattern;
import io.mintmark.broker.grant.TenantSnapshot;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.IdentityProvider;
import io.mintmark.broker.token.KeySource;
import io.mintmark.broker.token.Role;
import io.mintmark.broker.token.TestKey;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
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
    private Optional<String> jwksUri = Optional.empty();
    private long revision = 1;
    private String history = "";
    private final Map<String, Instant> blockedUntil = new HashMap<>();
    private final List<BlockRule> blockedGlobs = new ArrayList<>();
    private InstantSource databaseClock = InstantSource.fixed(Instant.EPOCH);
    private long sharedRevision = 1;
    private int readings;
    private int readingsOfGrants;
    private int questions;
    private Runnable onQuestion = () -> {};
    private boolean gone;
    private boolean oneTimeTokens;
    private Duration ofType = Duration.ofDays(1);
    private long bytes;
    private long bytesOfGrants;

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
                        "");
        var key =
                new Key(
                        new KeyName(name),
                        "",
                        AT_MOST,
                        JsonNodeFactory.instance.objectNode().put("target", target),
                        Map.of("SECRET", "Secret"),
                        Optional.empty(),
                        provider,
                        "");
        keys.put(key.name(), key);
        revision++;
        return this;
    }

    synchronized MemoryTenant grant(String subject, String key) {
        return grant(subject, key, Optional.empty());
    }

    synchronized MemoryTenant grant(String subject, String key, Optional<Instant> until) {
        grants.add(
                Grants.within(
                        grants.size() + 1,
                        IDP,
                        new SubjectPattern.Exact(subject),
                        new KeyName(key),
                        Optional.empty(),
                        until));
        revision++;
        return this;
    }

    synchronized void revoke(String key) {
        grants.removeIf(grant -> grant.key().value().equals(key));
        revision++;
    }

    /** Blocks a subject in this tenant, until a time by the database's clock. */
    synchronized void block(String subject, Instant until) {
        blockedUntil.put(subject, until);
        revision++;
    }

    /** Blocks subjects in all tenants. */
    synchronized void blockEverywhere(String glob) {
        blockedGlobs.add(
                new BlockRule(
                        Optional.empty(),
                        new SubjectPattern.Matching(new Glob(glob)),
                        ClaimConditions.NONE,
                        Instant.MAX));
        sharedRevision++;
    }

    /** How often all that the tenant has was read. */
    synchronized int readings() {
        return readings;
    }

    /** How often the grants of a subject were read. */
    synchronized int readingsOfGrants() {
        return readingsOfGrants;
    }

    /** What the database's clock shows, whatever others do. */
    synchronized void databaseTime(Instant time) {
        databaseClock(InstantSource.fixed(time));
    }

    /** What the database's clock shows. */
    synchronized void databaseClock(InstantSource clock) {
        databaseClock = clock;
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

    /** Publishes its keys here instead of in the row. */
    synchronized void publishKeysAt(String uri) {
        jwksUri = Optional.of(uri);
        revision++;
    }

    /** Its rows weigh so much from now on. */
    synchronized void weigh(long more) {
        bytes = more;
        revision++;
    }

    /** The grants of each subject weigh so much from now on. */
    synchronized void weighGrants(long more) {
        bytesOfGrants = more;
        revision++;
    }

    /** Credentials of the type live no longer than this from now on. */
    synchronized void limitType(Duration longest) {
        ofType = longest;
        sharedRevision++;
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

    /** Happens whenever somebody asks whether anything has changed. */
    synchronized void onQuestion(Runnable happens) {
        onQuestion = happens;
    }

    /** How often somebody asked whether anything has changed. */
    synchronized int questions() {
        return questions;
    }

    @Override
    public synchronized StateId state(TenantName tenant) {
        questions++;
        onQuestion.run();
        return new StateId(revision, history + revision);
    }

    /** That of its own rows and of those of all tenants. */
    synchronized TenantState wholeState() {
        return new TenantState(state(NAME), sharedState().state());
    }

    @Override
    public synchronized SharedState sharedState() {
        return new SharedState(
                new StateId(sharedRevision, history + sharedRevision), databaseClock.instant());
    }

    @Override
    public synchronized SharedSnapshot shared() {
        return new SharedSnapshot(
                sharedState().state(),
                databaseClock.instant(),
                Map.of("fake", new SharedSnapshot.Lifetime(Duration.ofSeconds(60), ofType)),
                GlobIndex.of(blockedGlobs));
    }

    @Override
    public Set<TenantName> changed(Map<TenantName, StateId> known) {
        return known.entrySet().stream()
                .filter(entry -> !entry.getValue().equals(state(entry.getKey())))
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    @Override
    public synchronized TenantSnapshot tenant(TenantName tenant, long most) {
        if (gone) {
            throw new Unavailable("gone for the test", Duration.ofSeconds(1));
        }
        readings++;
        if (bytes > most) {
            return TenantSnapshot.tooLarge(NAME, state(NAME));
        }
        return new TenantSnapshot(
                NAME,
                state(NAME),
                new UUID(0, 1),
                256,
                OptionalInt.empty(),
                TenantSnapshot.Place.HERE,
                Map.of(IDP, identityProvider()),
                keys,
                GlobIndex.of(List.of()),
                GlobIndex.of(List.of()),
                Map.of(),
                0,
                false);
    }

    @Override
    public synchronized SubjectGrants grants(
            TenantName tenant, IdpName idp, String subject, long most) {
        readingsOfGrants++;
        if (bytesOfGrants > most) {
            return SubjectGrants.tooLarge(wholeState());
        }
        return new SubjectGrants(
                wholeState(),
                grants.stream().filter(grant -> grant.subject().matches(subject)).toList(),
                blockedUntil.getOrDefault(subject, Instant.MIN),
                0,
                false);
    }

    @Override
    public synchronized Entries entries() {
        return new Entries(
                state(NAME).toString(),
                List.of(
                        IssuerIndex.Entry.of(
                                new IssuerIndex.Version(IDP, revision),
                                ISSUER,
                                List.of(AUDIENCE),
                                true)));
    }

    @Override
    public synchronized Optional<IdentityProvider> provider(IdpName name) {
        return Optional.of(identityProvider());
    }

    private IdentityProvider identityProvider() {
        return new IdentityProvider(
                IDP,
                NAME,
                ISSUER,
                List.of(AUDIENCE),
                new KeySource(
                        ISSUER,
                        Optional.of("{\"keys\":[%s]}".formatted(signer.publicJwk()))
                                .filter(_ -> jwksUri.isEmpty()),
                        jwksUri,
                        Optional.empty()),
                algorithms,
                Set.of(),
                ClaimConditions.NONE,
                Duration.ZERO,
                oneTimeTokens ? Optional.of(Duration.ofMinutes(10)) : Optional.empty(),
                oneTimeTokens,
                Set.of(Role.SUBJECT),
                true,
                "");
    }
}
