package io.mintmark.broker.grant;

import io.mintmark.base.time.TimeBounds;
import io.mintmark.broker.token.ClaimConditions;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/** The proof that a subject may have a key, for so long. Only {@link Entitlements} can make one. */
public final class Granted {
    private final Key key;
    private final Grant grant;
    private final Duration duration;
    private final Duration atLeast;

    /**
     * @param atLeast the shortest life that the key's type can give a credential
     */
    Granted(Key key, Grant grant, Duration duration, Duration atLeast) {
        this.key = key;
        this.grant = grant;
        this.duration = duration;
        this.atLeast = atLeast;
    }

    public Key key() {
        return key;
    }

    public long grantId() {
        return grant.id();
    }

    /** The grant's conditions on the token's claims. */
    ClaimConditions claims() {
        return grant.claims();
    }

    /** The grant's conditions on the actor's claims. */
    ClaimConditions actorClaims() {
        return grant.actor().map(ActorRule::claims).orElse(ClaimConditions.NONE);
    }

    /** {@link Grant#digest} of the grant. */
    public String grantDigest() {
        return grant.digest();
    }

    /** The maximum lifetime of a credential that is requested now, in whole seconds. */
    public Duration duration() {
        return duration;
    }

    /** The shortest that a credential of the key's type can be valid. */
    public Duration atLeast() {
        return atLeast;
    }

    /**
     * Shortens what is granted, if the key's type can give a credential for that time.
     *
     * @param limit the longest that the credential may be valid
     */
    public Optional<Granted> atMost(Duration limit) {
        if (limit.compareTo(duration) >= 0) {
            return Optional.of(this);
        }
        return limit.compareTo(atLeast) < 0
                ? Optional.empty()
                : Optional.of(new Granted(key, grant, limit, atLeast));
    }

    /**
     * The grant at a later time, with the lifetime that is left; empty if it isn't in force then.
     */
    public Optional<Granted> asOf(TimeBounds later) {
        Duration left = grant.atMost(duration, later);
        return grant.inForce(later) && left.compareTo(atLeast) >= 0
                ? Optional.of(new Granted(key, grant, left, atLeast))
                : Optional.empty();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Granted that
                && key.equals(that.key)
                && grant.equals(that.grant)
                && duration.equals(that.duration);
    }

    @Override
    public int hashCode() {
        return Objects.hash(key, grant, duration);
    }

    @Override
    public String toString() {
        return "%s by grant %d for %s".formatted(key.name(), grant.id(), duration);
    }
}
