package io.mintmark.broker.grant;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.TenantState;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.base.verdict.AccessRefusal.TooShortGrant;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.IdentityProvider;
import io.mintmark.broker.token.MatchingBudget;

import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * A tenant's grants for the parties of one request, in one state; decides without I/O, live and for
 * the proof of past mints. PartyBlocks and grants are matched once, in the constructor. A block of
 * either party overrides every grant. Of several grants for a key, the one with the longest
 * lifetime counts, then the one with the lowest id.
 */
public final class Entitlements {
    private static final Comparator<Granted> BEST =
            Comparator.comparing(Granted::duration).reversed().thenComparingLong(Granted::grantId);

    private final TenantSnapshot tenant;
    private final SharedSnapshot shared;
    private final Parties parties;
    private final PartyBlocks onSubject;
    private final Optional<PartyBlocks> onActor;
    private final boolean blocked;
    private final List<Grant> ofSubject;
    private final List<Grant> ofParties;
    private final List<Grant> met;
    private final List<Grant> open;

    /**
     * Holds the parties of a request against the blocks, and if none is in force against the
     * grants.
     *
     * @param exact of exactly this subject
     * @param actorBlockedUntil the end of the last block of exactly this actor; {@link Instant#MIN}
     *     for none
     * @param databaseNow by the database's clock, which blocks end by
     * @param budget for the tenant's rules
     * @throws io.mintmark.base.verdict.Unavailable if that is more work than the budget allows
     */
    public Entitlements(
            TenantSnapshot tenant,
            SharedSnapshot shared,
            SubjectGrants exact,
            Instant actorBlockedUntil,
            Parties parties,
            Instant databaseNow,
            MatchingBudget budget) {
        this.tenant = tenant;
        this.shared = shared;
        this.parties = parties;
        this.onSubject = PartyBlocks.of(parties.subject(), tenant, shared, databaseNow, budget);
        this.onActor =
                parties.actor()
                        .map(actor -> PartyBlocks.of(actor, tenant, shared, databaseNow, budget));
        this.blocked =
                databaseNow.isBefore(exact.blockedUntil())
                        || databaseNow.isBefore(actorBlockedUntil)
                        || onSubject.stop()
                        || onActor.map(PartyBlocks::stop).orElse(false);
        this.ofSubject = blocked ? List.of() : ofSubject(exact, budget);
        this.ofParties =
                ofSubject.stream().filter(grant -> grant.isFor(parties.actor(), budget)).toList();
        this.met = ofParties.stream().filter(grant -> grant.areClaimsMet(parties, budget)).toList();
        this.open = met.stream().filter(grant -> grant.isOpenTo(parties.address())).toList();
    }

    private List<Grant> ofSubject(SubjectGrants exact, MatchingBudget budget) {
        Party subject = parties.subject();
        List<Grant> patterns = tenant.patterns().matching(subject.idp(), subject.subject(), budget);
        return Stream.concat(exact.grants().stream(), patterns.stream()).toList();
    }

    /**
     * The reason why a grant doesn't allow the request; empty if it does, for the keys and
     * durations of its tenant.
     */
    public Optional<Unmet> unmet(Grant grant, TimeBounds now) {
        if (blocked) {
            return Optional.of(Unmet.NOT_BLOCKED);
        } else if (!ofSubject.contains(grant)) {
            return Optional.of(Unmet.SUBJECT);
        } else if (!ofParties.contains(grant)) {
            return Optional.of(Unmet.ACTOR);
        } else if (!met.contains(grant)) {
            return Optional.of(Unmet.CLAIMS);
        } else if (!open.contains(grant)) {
            return Optional.of(Unmet.NETWORKS);
        }
        return grant.inForce(now) ? Optional.empty() : Optional.of(Unmet.TIME);
    }

    /** The state of the tenant on which this is based. */
    public TenantState state() {
        return new TenantState(tenant.state(), shared.state());
    }

    /** Whether the subject or the actor is blocked, so that nothing is granted. */
    public boolean areBlocked() {
        return blocked;
    }

    /** The client's address; empty if it isn't known. */
    public Optional<InetAddress> address() {
        return parties.address();
    }

    /** The maximum number of the tenant's concurrent provider calls on this replica. */
    public int maxCalls() {
        return tenant.maxCalls();
    }

    /**
     * The maximum number of requests that the tenant may make on this replica in a minute; empty
     * for no limit.
     */
    public OptionalInt maxRequests() {
        return tenant.maxRequests();
    }

    /** The tenant's cell, if the tenant moved from or to another one. */
    public TenantSnapshot.Place place() {
        return tenant.place();
    }

    /** The tenant's AWS ExternalId. */
    public UUID externalId() {
        return tenant.externalId();
    }

    /**
     * Whether the tenant, in this state, has the very identity provider that a token was verified
     * with. If not, the token must be verified again.
     */
    public boolean accept(IdentityProvider provider) {
        return provider.equals(tenant.identityProviders().get(provider.name()));
    }

    /** Whether the tenant has an enabled key of this name. */
    public boolean haveKey(KeyName key) {
        return tenant.keys().containsKey(key);
    }

    /**
     * The given keys that the subject may request by a rule of its tenant. Rules that cost too much
     * to evaluate allow nothing.
     */
    public List<KeyName> requestable(Collection<KeyName> keys) {
        if (blocked) {
            return List.of();
        }
        MatchingBudget budget = new MatchingBudget(tenant.name());
        try {
            return keys.stream().filter(key -> isRequestable(key, budget)).toList();
        } catch (Unavailable _) {
            return List.of(); // only the hint is left out; the refusal that it belongs to stands
        }
    }

    private boolean isRequestable(KeyName key, MatchingBudget budget) {
        return haveKey(key)
                && tenant.accessRules().getOrDefault(key, List.of()).stream()
                        .anyMatch(rule -> rule.isFor(parties, budget));
    }

    /** The tenant's enabled key with this {@code resource}, granted or not. */
    public Optional<KeyName> keyOfResource(ResourceUri resource) {
        return tenant.keys().values().stream()
                .filter(key -> key.resource().filter(resource::isEquivalentTo).isPresent())
                .map(Key::name)
                .findFirst();
    }

    /** The keys that the subject could mint now, by name. */
    public SortedMap<String, Granted> mintable(TimeBounds now) {
        return best(open, now);
    }

    /** The given keys that the subject could mint from another network, but not from this one. */
    public List<KeyName> elsewhere(Collection<KeyName> keys, TimeBounds now) {
        SortedMap<String, Granted> anywhere = best(met, now);
        return keys.stream().filter(key -> anywhere.containsKey(key.value())).toList();
    }

    private SortedMap<String, Granted> best(List<Grant> grants, TimeBounds now) {
        SortedMap<String, Granted> mintable = new TreeMap<>();
        grants.stream()
                .filter(grant -> grant.inForce(now))
                .flatMap(grant -> granted(grant, now).stream())
                .forEach(granted ->
                        mintable.merge(granted.key().name().value(), granted, Entitlements::best));
        return mintable;
    }

    private Optional<Granted> granted(Grant grant, TimeBounds now) {
        return longest(grant, now)
                .filter(granted -> granted.duration().compareTo(granted.atLeast()) >= 0);
    }

    /**
     * Applies a grant for the longest time that it allows, even if its key can't give credentials
     * that short.
     */
    private Optional<Granted> longest(Grant grant, TimeBounds now) {
        return Optional.ofNullable(tenant.keys().get(grant.key()))
                .map(key -> {
                    var ofType = shared.lifetime(key.provider().type());
                    Duration limit = Collections.min(List.of(key.maxDuration(), ofType.longest()));
                    return new Granted(key, grant, grant.atMost(limit, now), ofType.shortest());
                });
    }

    /** The given keys that are granted for too short a time to be mintable. */
    public List<TooShortGrant> tooShort(Collection<KeyName> keys, TimeBounds now) {
        return keys.stream()
                .flatMap(key ->
                        open.stream()
                                .filter(grant -> grant.key().equals(key) && grant.inForce(now))
                                .flatMap(grant -> longest(grant, now).stream())
                                .min(BEST)
                                .stream())
                .map(granted ->
                        new TooShortGrant(
                                granted.key().name().value(),
                                granted.duration(),
                                granted.atLeast()))
                .toList();
    }

    private static Granted best(Granted one, Granted other) {
        return BEST.compare(one, other) <= 0 ? one : other;
    }

    /**
     * The subject's claims that were evaluated, by name; a pointer keeps its form. Claims that the
     * decision depends on are complete, whatever their size: those of the identity provider, of
     * blocks and of the grants. Others are omitted if the total would exceed {@value
     * EvaluatedClaims#MOST} characters.
     *
     * @param granted the result of the decision
     */
    public SortedMap<String, JsonNode> claimsLookedAt(List<Granted> granted) {
        return EvaluatedClaims.of(
                parties.subject(), onSubject, granted, Granted::claims, ofParties, Grant::claims);
    }

    /** The actor's claims that these grants look at; empty without an actor. */
    public SortedMap<String, JsonNode> actorClaimsLookedAt(List<Granted> granted) {
        return parties.actor()
                .map(actor ->
                        EvaluatedClaims.of(
                                actor,
                                onActor.orElseThrow(),
                                granted,
                                Granted::actorClaims,
                                ofParties,
                                grant ->
                                        grant.actor()
                                                .map(ActorRule::claims)
                                                .orElse(ClaimConditions.NONE)))
                .orElseGet(TreeMap::new);
    }
}
