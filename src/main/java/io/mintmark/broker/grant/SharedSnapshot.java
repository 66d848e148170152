package io.mintmark.broker.grant;

import io.mintmark.base.tenant.StateId;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;

/**
 * What belongs to no tenant and counts for all, in one state, but for the subjects that are blocked
 * one by one: those are read subject by subject ({@link SubjectGrants}).
 *
 * @param readAt by the database's clock
 * @param lifetimes of the credentials of each type of access provider
 * @param blocks the globs over subjects that are blocked in all tenants
 */
public record SharedSnapshot(
        StateId state,
        Instant readAt,
        Map<String, Lifetime> lifetimes,
        GlobIndex<BlockRule> blocks) {

    /**
     * The lifetimes that a type of access provider can give to credentials.
     *
     * @param shortest that the type can give
     */
    public record Lifetime(Duration shortest, Duration longest) {
        /** The lifetime of an unknown type, which gives no credentials. */
        private static final Lifetime NONE =
                new Lifetime(ChronoUnit.FOREVER.getDuration(), Duration.ZERO);
    }

    public SharedSnapshot {
        lifetimes = Map.copyOf(lifetimes);
    }

    /** The lifetimes for a type of access provider. An unknown type gives no credentials. */
    Lifetime lifetime(String type) {
        return lifetimes.getOrDefault(type, Lifetime.NONE);
    }
}
