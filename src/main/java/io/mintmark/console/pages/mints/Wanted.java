package io.mintmark.console.pages.mints;

import io.mintmark.console.pages.activity.Activity;
import io.mintmark.console.pages.activity.Period;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.TypedTime;

import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * A search for mints and refusals.
 *
 * @param any an id of any kind, a subject, an actor or a key
 * @param to exclusive
 * @param before only mints older than this one
 */
public record Wanted(
        Optional<String> any,
        Optional<String> tenant,
        Optional<String> subject,
        Optional<String> actor,
        Optional<String> key,
        Optional<String> outcome,
        Optional<Instant> from,
        Optional<Instant> to,
        Optional<UUID> before) {
    private static final Set<String> REFUSALS = Set.of("denied", "rejected", "refused");

    /**
     * The search that a URL describes.
     *
     * @throws Parameters.Unusable for a time that can't be meant
     */
    static Wanted of(Parameters parameters, Instant now) {
        TypedTime.Span span = TypedTime.Span.of(parameters);
        span.fault()
                .ifPresent(sentence -> {
                    throw new Parameters.Unusable(sentence);
                });
        return of(parameters, span, now);
    }

    /** The search, with the times as they were typed. Typed times override a period. */
    static Wanted of(Parameters parameters, TypedTime.Span span, Instant now) {
        Optional<Instant> since =
                span.isEmpty()
                        ? Period.of(parameters).map(period -> period.bins(now).since())
                        : span.from().at();
        return new Wanted(
                parameters.text("q"),
                parameters.text("tenant"),
                parameters.text("subject"),
                parameters.text("actor"),
                parameters.text("key"),
                parameters.text("outcome").map(word -> word.toLowerCase(Locale.ROOT)),
                since,
                span.to().at(),
                parameters.id("before"));
    }

    /** The mints and refusals of a subject. */
    public static Wanted ofSubject(String subject) {
        return new Wanted(
                Optional.empty(),
                Optional.empty(),
                Optional.of(subject),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** The mints and refusals of an actor, whichever subject it acted for. */
    public static Wanted ofActor(String actor) {
        return new Wanted(
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.of(actor),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** The mints of a key, up to a time if one is given. */
    public static Wanted ofKey(String tenant, String key, Optional<Instant> to) {
        return new Wanted(
                Optional.empty(),
                Optional.of(tenant),
                Optional.empty(),
                Optional.empty(),
                Optional.of(key),
                Optional.empty(),
                Optional.empty(),
                to,
                Optional.empty());
    }

    /** All mints that the viewer may see. */
    public static Wanted ofOutcome(Optional<String> outcome) {
        return new Wanted(
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                outcome,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** The rows that a chart of this search counts; none if only the list itself can tell. */
    Optional<Activity.Scope> scope() {
        if (any.isPresent() || actor.isPresent() || outcome.isPresent()) {
            return Optional.empty();
        }
        if (subject.isPresent()) {
            return key.isPresent()
                    ? Optional.empty()
                    : Optional.of(Activity.Scope.subject(tenant, subject.get()));
        }
        return Optional.of(
                key.isPresent()
                        ? Activity.Scope.key(tenant, key.get())
                        : Activity.Scope.all(tenant));
    }

    /** Repeats this search for mints that are older than the given one. */
    Wanted olderThan(UUID mint) {
        return new Wanted(any, tenant, subject, actor, key, outcome, from, to, Optional.of(mint));
    }

    boolean isFailures() {
        return outcome.filter("failed"::equals).isPresent();
    }

    boolean isRefusals() {
        return outcome.filter(REFUSALS::contains).isPresent();
    }

    /** Whether no id, subject or key narrows the search. */
    boolean isAnyAlone() {
        return any.isPresent()
                && Stream.of(tenant, subject, actor, key, outcome, from, to, before)
                        .allMatch(Optional::isEmpty);
    }

    /** Whether the search has any condition, apart from the place where it continues. */
    boolean isNarrowed() {
        return any.isPresent()
                || tenant.isPresent()
                || subject.isPresent()
                || actor.isPresent()
                || key.isPresent()
                || outcome.isPresent()
                || from.isPresent()
                || to.isPresent();
    }
}
