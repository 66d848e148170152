package io.mintmark.broker.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.tenant.Glob;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.broker.token.MatchingBudget;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

class GrantTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final IdpName IDP = new IdpName("ci");
    private static final Duration HOUR = Duration.ofHours(1);

    private static Grant grant(
            SubjectPattern subject, Optional<Instant> from, Optional<Instant> until) {
        return Grants.within(1, IDP, subject, new KeyName("key"), from, until);
    }

    private static Grant glob(String pattern) {
        return grant(
                new SubjectPattern.Matching(new Glob(pattern)), Optional.empty(), Optional.empty());
    }

    private static MatchingBudget budget() {
        return new MatchingBudget(new TenantName("acme"));
    }

    @Test
    void a_window_includes_its_start_and_excludes_its_end() {
        Grant noonToOne =
                grant(
                        new SubjectPattern.Exact("s"),
                        Optional.of(NOON),
                        Optional.of(NOON.plus(HOUR)));
        assertFalse(noonToOne.inForce(TimeBounds.of(NOON.minusNanos(1))));
        assertTrue(noonToOne.inForce(TimeBounds.of(NOON)));
        assertTrue(noonToOne.inForce(TimeBounds.of(NOON.plus(HOUR).minusNanos(1))));
        assertFalse(noonToOne.inForce(TimeBounds.of(NOON.plus(HOUR))));
    }

    @Test
    void a_window_begins_by_the_earlier_clock_and_ends_by_the_later() {
        Grant noonToOne =
                grant(
                        new SubjectPattern.Exact("s"),
                        Optional.of(NOON),
                        Optional.of(NOON.plus(HOUR)));
        Duration apart = Duration.ofSeconds(20);
        Instant end = NOON.plus(HOUR);

        assertFalse(noonToOne.inForce(new TimeBounds(NOON.minusNanos(1), NOON.plus(apart))));
        assertTrue(noonToOne.inForce(new TimeBounds(NOON, NOON.plus(apart))));
        assertTrue(noonToOne.inForce(new TimeBounds(end.minus(apart), end.minusNanos(1))));
        assertFalse(noonToOne.inForce(new TimeBounds(end.minus(apart), end)));
        assertEquals(
                Duration.ofSeconds(10),
                noonToOne.atMost(HOUR, new TimeBounds(end.minus(apart), end.minusSeconds(10))));
    }

    @Test
    void a_credential_never_outlives_the_grant_and_lasts_whole_seconds() {
        Grant endsSoon =
                grant(
                        new SubjectPattern.Exact("s"),
                        Optional.empty(),
                        Optional.of(NOON.plusMillis(1_999)));
        assertEquals(Duration.ofSeconds(1), endsSoon.atMost(HOUR, TimeBounds.of(NOON)));
    }

    @Test
    void a_grant_lowers_the_keys_duration_and_never_raises_it() {
        Grant longer =
                Grants.lasting(
                        HOUR.multipliedBy(2),
                        grant(new SubjectPattern.Exact("s"), Optional.empty(), Optional.empty()));
        assertEquals(HOUR, longer.atMost(HOUR, TimeBounds.of(NOON)));
        assertEquals(
                HOUR.multipliedBy(2), longer.atMost(HOUR.multipliedBy(3), TimeBounds.of(NOON)));
    }

    @Test
    void patterns_are_found_by_what_they_begin_with_among_ten_thousand_others() {
        List<Grant> many =
                IntStream.range(0, 10_000).mapToObj(i -> glob("repo:acme/app" + i + ":*")).toList();
        GlobIndex<Grant> patterns = GlobIndex.of(many);
        assertEquals(
                List.of(many.get(4_321)),
                patterns.matching(IDP, "repo:acme/app4321:main", budget()));
        assertEquals(List.of(), patterns.matching(IDP, "repo:acme/app4321:main:x", budget()));
        assertEquals(
                List.of(),
                patterns.matching(new IdpName("other"), "repo:acme/app4321:main", budget()));
    }

    @Test
    void a_subject_that_is_shorter_than_every_pattern_matches_none() {
        assertEquals(List.of(), GlobIndex.of(List.of(glob("abc**"))).matching(IDP, "ab", budget()));
        assertEquals(1, GlobIndex.of(List.of(glob("abc**"))).matching(IDP, "abc", budget()).size());
    }
}
