package io.mintmark.broker.grant;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.TenantState;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.broker.token.MatchingBudget;
import io.mintmark.broker.token.VerifiedToken;

import java.time.Duration;
import java.time.Instant;
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
 * A tenant's grants for one token, in one state; decides without I/O. Blocks and grants are matched
 * once, in the constructor. A block overrides every grant. Of several grants for a key, the one
 * with the longest lifetime counts, then the one with the lowest id.
 */
public final class Entitlements {
    private static final Comparator<Granted> BEST =
            Comparator.comparing(Granted::duration).reversed().thenComparingLong(Granted::grantId);

    private static final int MOST_CLAIMS = 65_536;

    private final TenantSnapshot tenant;
    private final SharedSnapshot shared;
    private final VerifiedToken token;
    private final JsonNode claims;
    private final boolean blocked;
    private final List<Grant> ofSubject;
    private final List<Grant> met;

    /**
     * Holds a token against the blocks, and if none is in force against the grants.
     *
     * @param databaseNow by the database's clock, which blocks end by
     * @param budget for the tenant's rules
     * @throws io.mintmark.base.verdict.Unavailable if that is more work than the budget allows
     */
    Entitlements(
            TenantSnapshot tenant,
            SharedSnapshot shared,
            SubjectGrants exact,
            VerifiedToken token,
            Instant databaseNow,
            MatchingBudget budget) {
        this.tenant = tenant;
        this.shared = shared;
        this.token = token;
        this.claims = token.claims();
        this.blocked = databaseNow.isBefore(blockedUntil(exact, budget));
        this.ofSubject = blocked ? List.of() : ofSubject(exact, budget);
        this.met =
                ofSubject.stream()
                        .filter(grant -> grant.claims().areMetBy(claims, budget))
                        .toList();
    }

    private Instant blockedUntil(SubjectGrants exact, MatchingBudget budget) {
        IdpName idp = token.provider().name();
        return Stream.concat(
                        tenant.blocks().matching(idp, token.subject(), budget).stream(),
                        shared
                                .blocks()
                                .matching(
                                        idp, token.subject(), MatchingBudget.ofRulesOfAllTenants())
                                .stream())
                .map(BlockedGlob::until)
                .reduce(exact.blockedUntil(), (one, other) -> one.isAfter(other) ? one : other);
    }

    private List<Grant> ofSubject(SubjectGrants exact, MatchingBudget budget) {
        List<Grant> patterns =
                tenant.patterns().matching(token.provider().name(), token.subject(), budget);
        return Stream.concat(exact.grants().stream(), patterns.stream()).toList();
    }

    /** The state of the tenant that this is of. */
    public TenantState state() {
        return new TenantState(tenant.state(), shared.state());
    }

    /** Whether the subject is blocked, so that nothing is granted to it. */
    public boolean areBlocked() {
        return blocked;
    }

    /** The maximum number of the tenant's concurrent provider calls on this replica. */
    public int maxCalls() {
        return tenant.maxCalls();
    }

    /** How many requests the tenant may make on this replica in a minute; empty for no limit. */
    public OptionalInt maxRequests() {
        return tenant.maxRequests();
    }

    /** The tenant's AWS ExternalId. */
    public UUID externalId() {
        return tenant.externalId();
    }

    /**
     * Whether the tenant, in this state, has the very identity provider that the token was verified
     * with. If not, the token must be verified again.
     */
    public boolean acceptToken() {
        return token.provider().equals(tenant.identityProviders().get(token.provider().name()));
    }

    /** Whether the tenant has an enabled key of this name. */
    public boolean haveKey(KeyName key) {
        return tenant.keys().containsKey(key);
    }

    /** The tenant's enabled key with this {@code resource}, granted or not. */
    public Optional<KeyName> keyOfResource(String resource) {
        return tenant.keys().values().stream()
                .filter(key -> key.resource().filter(resource::equals).isPresent())
                .map(Key::name)
                .findFirst();
    }

    /** The keys that the subject could mint now, by name. */
    public SortedMap<String, Granted> mintable(TimeBounds now) {
        SortedMap<String, Granted> mintable = new TreeMap<>();
        met.stream()
                .filter(grant -> grant.inForce(now))
                .flatMap(grant -> granted(grant, now).stream())
                .forEach(granted ->
                        mintable.merge(granted.key().name().value(), granted, Entitlements::best));
        return mintable;
    }

    private Optional<Granted> granted(Grant grant, TimeBounds now) {
        return Optional.ofNullable(tenant.keys().get(grant.key()))
                .flatMap(key -> {
                    var ofType = shared.lifetime(key.provider().type());
                    Duration limit = Collections.min(List.of(key.maxDuration(), ofType.longest()));
                    Duration duration = grant.atMost(limit, now);
                    return duration.compareTo(ofType.shortest()) < 0
                            ? Optional.empty()
                            : Optional.of(new Granted(key, grant, duration, ofType.shortest()));
                });
    }

    private static Granted best(Granted one, Granted other) {
        return BEST.compare(one, other) <= 0 ? one : other;
    }

    /**
     * The claims that were evaluated, by name; a pointer keeps its form. Claims that the decision
     * depends on are complete, whatever their size; others are omitted if the total would exceed
     * {@value #MOST_CLAIMS} characters.
     *
     * @param granted the result of the decision
     */
    public SortedMap<String, JsonNode> claimsLookedAt(List<Granted> granted) {
        SortedMap<String, JsonNode> looked = new TreeMap<>();
        Stream.concat(
                        Stream.of(token.provider().requiredClaims()),
                        granted.stream().map(Granted::claims))
                .forEach(conditions -> looked.putAll(conditions.seenIn(claims)));
        long left = MOST_CLAIMS;
        for (Grant grant : ofSubject) {
            SortedMap<String, JsonNode> more = grant.claims().seenIn(claims);
            more.keySet().removeAll(looked.keySet());
            left -= more.values().stream().mapToLong(value -> value.toString().length()).sum();
            if (left < 0) {
                break;
            }
            looked.putAll(more);
        }
        return looked;
    }
}
