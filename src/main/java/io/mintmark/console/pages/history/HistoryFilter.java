package io.mintmark.console.pages.history;

import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.TypedTime;

import java.util.Optional;

/**
 * The filter of a history.
 *
 * @param by the login that made the changes
 * @param table without a row, of which the page then is
 */
public record HistoryFilter(Optional<String> by, Optional<String> table, TypedTime.Span span) {
    /** The filter that selects everything. */
    public static final HistoryFilter NONE =
            new HistoryFilter(Optional.empty(), Optional.empty(), TypedTime.Span.NONE);

    static HistoryFilter of(Parameters parameters) {
        TypedTime.Span span = TypedTime.Span.of(parameters);
        span.fault()
                .ifPresent(sentence -> {
                    throw new Parameters.Unusable(sentence);
                });
        return new HistoryFilter(
                parameters.text("by"),
                parameters.text("row").isPresent() ? Optional.empty() : parameters.text("table"),
                span);
    }

    boolean isEmpty() {
        return by.isEmpty() && table.isEmpty() && span.isEmpty();
    }

    /** The filter in an address, to be followed by more. */
    String query() {
        return "?by=%s&table=%s&from=%s&to=%s"
                .formatted(
                        Links.encoded(by.orElse("")),
                        Links.encoded(table.orElse("")),
                        Links.encoded(span.from().text()),
                        Links.encoded(span.to().text()));
    }
}
