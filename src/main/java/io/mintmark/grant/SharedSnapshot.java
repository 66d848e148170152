package io.mintmark.grant;

import io.mintmark.tenant.StateId;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;

/**
 * What belongs to no tenant and counts for all, in one state, but for the subjects that are blocked
 * one by one: those are read subject by subject ({@link SubjectGrants}).
 *
 * @param readAt by the database's clock
 * @param minDurations the shortest life that each type of access provider can give a credential
 * @param blocks the globs over subjects that are blocked in all tenants
 */
public record SharedSnapshot(
        StateId state,
        Instant readAt,
        Map<String, Duration> minDurations,
        GlobIndex<BlockedGlob> blocks) {

    public SharedSnapshot {
        minDurations = Map.copyOf(minDurations);
    }

    /** The shortest life of a type's credentials; of one that there isn't, longer than any. */
    Duration minDuration(String type) {
        return minDurations.getOrDefault(type, ChronoUnit.FOREVER.getDuration());
    }
}
