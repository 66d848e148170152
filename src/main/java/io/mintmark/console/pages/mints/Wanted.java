package io.mintmark.console.pages.mints;

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
 * @param any an id of any kind, a subject or a key
 * @param to exclusive
 * @param before only mints older than this one
 */
public record Wanted(
        Optional<String> any,
        Optional<String> tenant,
        Optional<String> subject,
        Optional<String> key,
        Optional<String> outcome,
        Optional<Instant> from,
        Optional<Instant> to,
        Optional<UUID> before) {
    private static final Set<String> REFUSALS = Set.of("denied", "rejected", "refused");

    /**
     * What an address asks for.
     *
     * @throws Parameters.Unusable for a time that can't be meant
     */
    static Wanted of(Parameters parameters) {
        TypedTime.Span span = TypedTime.Span.of(parameters);
        span.fault()
                .ifPresent(sentence -> {
                    throw new Parameters.Unusable(sentence);
                });
        return of(parameters, span);
    }

    /** The same, with its times as they were typed. */
    static Wanted of(Parameters parameters, TypedTime.Span span) {
        return new Wanted(
                parameters.text("q"),
                parameters.text("tenant"),
                parameters.text("subject"),
                parameters.text("key"),
                parameters.text("outcome").map(word -> word.toLowerCase(Locale.ROOT)),
                span.from().at(),
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
                Optional.empty());
    }

    /** The mints of a key, up to a time if one is given. */
    public static Wanted ofKey(String tenant, String key, Optional<Instant> to) {
        return new Wanted(
                Optional.empty(),
                Optional.of(tenant),
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
                outcome,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    boolean isRefusals() {
        return outcome.filter(REFUSALS::contains).isPresent();
    }

    /** Whether nothing narrows what is looked for by an id, a subject or a key. */
    boolean isAnyAlone() {
        return any.isPresent()
                && Stream.of(tenant, subject, key, outcome, from, to, before)
                        .allMatch(Optional::isEmpty);
    }

    /** Whether it says anything at all beyond where to go on. */
    boolean isNarrowed() {
        return any.isPresent()
                || tenant.isPresent()
                || subject.isPresent()
                || key.isPresent()
                || outcome.isPresent()
                || from.isPresent()
                || to.isPresent();
    }
}
