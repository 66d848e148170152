package io.mintmark.grant;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.TenantState;
import io.mintmark.token.MatchingBudget;
import io.mintmark.token.VerifiedToken;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * What a tenant has for one token, in one state: decides, without asking anybody. The token is held
 * against the grants once, when this is made. Of several grants for a key the one that gives the
 * longest life counts, then the lowest id.
 */
public final class Entitlements {
    private static final Comparator<Granted> BEST =
            Comparator.comparing(Granted::duration).reversed().thenComparingLong(Granted::grantId);

    private final TenantSnapshot tenant;
    private final VerifiedToken token;
    private final JsonNode claims;
    private final List<Grant> ofSubject;
    private final List<Grant> met;

    /**
     * Holds a token against the grants.
     *
     * @throws io.mintmark.verdict.Unavailable if that is more work than the budget allows
     */
    Entitlements(
            TenantSnapshot tenant,
            SubjectGrants exact,
            VerifiedToken token,
            MatchingBudget budget) {
        this.tenant = tenant;
        this.token = token;
        this.claims = token.claims();
        List<Grant> patterns =
                tenant.patterns().matching(token.provider().name(), token.subject(), budget);
        this.ofSubject = Stream.concat(exact.grants().stream(), patterns.stream()).toList();
        this.met =
                ofSubject.stream()
                        .filter(grant -> grant.claims().areMetBy(claims, budget))
                        .toList();
    }

    /** The state of the tenant that this is of. */
    public TenantState state() {
        return tenant.state();
    }

    /** How many calls of access providers the tenant may have under way on this replica. */
    public int maxCalls() {
        return tenant.maxCalls();
    }

    /** The tenant's AWS ExternalId. */
    public UUID externalId() {
        return tenant.externalId();
    }

    /**
     * Whether the tenant, in this state, has the very identity provider that the token was verified
     * with. If not, the token must be verified again.
     */
    public boolean believeToken() {
        return token.provider().equals(tenant.identityProviders().get(token.provider().name()));
    }

    /** Whether the tenant has an enabled key of this name. */
    public boolean haveKey(KeyName key) {
        return tenant.keys().containsKey(key);
    }

    /** The keys that the subject could mint now, by name. */
    public SortedMap<String, Granted> mintable(Instant now) {
        SortedMap<String, Granted> mintable = new TreeMap<>();
        met.stream()
                .filter(grant -> grant.inForce(now))
                .flatMap(grant -> granted(grant, now).stream())
                .forEach(granted ->
                        mintable.merge(granted.key().name().value(), granted, Entitlements::best));
        return mintable;
    }

    private Optional<Granted> granted(Grant grant, Instant now) {
        return Optional.ofNullable(tenant.keys().get(grant.key()))
                .flatMap(key -> {
                    Duration duration = grant.atMost(key.maxDuration(), now);
                    return duration.compareTo(key.provider().minDuration()) < 0
                            ? Optional.empty()
                            : Optional.of(new Granted(key, grant, duration));
                });
    }

    private static Granted best(Granted one, Granted other) {
        return BEST.compare(one, other) <= 0 ? one : other;
    }

    /** The claims that the decision looked at, by name; a pointer keeps its form. */
    public SortedMap<String, JsonNode> claimsLookedAt() {
        SortedMap<String, JsonNode> looked = new TreeMap<>();
        Stream.concat(
                        Stream.of(token.provider().requiredClaims()),
                        ofSubject.stream().map(Grant::claims))
                .flatMap(conditions -> conditions.byClaim().keySet().stream())
                .distinct()
                .forEach(name -> {
                    JsonNode value = claim(name);
                    if (!value.isMissingNode()) {
                        looked.put(name, value);
                    }
                });
        return looked;
    }

    private JsonNode claim(String name) {
        return name.startsWith("/") ? claims.at(name) : claims.path(name);
    }
}
