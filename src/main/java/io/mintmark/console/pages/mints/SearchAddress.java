package io.mintmark.console.pages.mints;

import io.mintmark.console.pages.activity.Period;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.TypedTime;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The address of a search for mints: its parameters, times as they were typed. */
final class SearchAddress {
    /** The parameter that shows each of the repeats if it is "no". */
    static final String FOLD = "fold";

    private final Map<String, String> parameters;

    private SearchAddress(Map<String, String> parameters) {
        this.parameters = parameters;
    }

    SearchAddress(
            Wanted wanted,
            TypedTime.Span span,
            Optional<Period> period,
            Order order,
            boolean folds) {
        this.parameters = new LinkedHashMap<>();
        wanted.any().ifPresent(text -> parameters.put("q", text));
        wanted.tenant().ifPresent(text -> parameters.put("tenant", text));
        wanted.subject().ifPresent(text -> parameters.put("subject", text));
        wanted.actor().ifPresent(text -> parameters.put("actor", text));
        wanted.key().ifPresent(text -> parameters.put("key", text));
        wanted.outcome().ifPresent(text -> parameters.put("outcome", text));
        period.ifPresent(one -> parameters.put("range", one.word()));
        parameters.put("from", span.from().text());
        parameters.put("to", span.to().text());
        wanted.before().ifPresent(id -> parameters.put("before", id.toString()));
        if (order != Order.NEWEST_FIRST) {
            parameters.put("order", "oldest");
        }
        if (!folds) {
            parameters.put(FOLD, "no");
        }
        parameters.values().removeIf(String::isEmpty);
    }

    SearchAddress with(String parameter, String value) {
        Map<String, String> changed = new LinkedHashMap<>(parameters);
        changed.put(parameter, value);
        return new SearchAddress(changed);
    }

    SearchAddress without(String... names) {
        Map<String, String> changed = new LinkedHashMap<>(parameters);
        changed.keySet().removeAll(List.of(names));
        return new SearchAddress(changed);
    }

    /** Fixes the times, which move with the clock otherwise. */
    SearchAddress fixed(Optional<Instant> from, Instant now) {
        SearchAddress since = from.map(at -> with("from", Links.minute(at))).orElse(this);
        return parameters.containsKey("to")
                ? since
                : since.with("to", Links.minute(now.plus(Duration.ofMinutes(1))));
    }

    /** The address of the page of mints, with the search. */
    String text() {
        return of("/mints");
    }

    /** The address of another page that takes the same parameters. */
    String of(String path) {
        return parameters.isEmpty()
                ? path
                : parameters.entrySet().stream()
                        .map(part -> part.getKey() + "=" + Links.encoded(part.getValue()))
                        .collect(Collectors.joining("&", path + "?", ""));
    }
}
