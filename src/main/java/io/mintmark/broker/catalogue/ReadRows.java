package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.verdict.Unavailable;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Rows of one table, mapped one by one from the JSON document of each. */
final class ReadRows<T> {
    private static final Logger log = LoggerFactory.getLogger(ReadRows.class);
    private static final Duration SOON = Duration.ofSeconds(5);

    /** The number of ignored rows that are logged individually. */
    private static final int LOGGED = 10;

    private final String what;
    private final boolean required;
    private final RowWeight weight;
    private final Function<JsonNode, T> map;
    private final List<T> mapped = new ArrayList<>();
    private int ignored;

    private ReadRows(String what, boolean required, RowWeight weight, Function<JsonNode, T> map) {
        this.what = what;
        this.required = required;
        this.weight = weight;
        this.map = map;
    }

    /** Rows of which an unreadable or unusable one is logged and skipped. */
    static <T> ReadRows<T> optional(String what, RowWeight weight, Function<JsonNode, T> map) {
        return new ReadRows<>(what, false, weight, map);
    }

    /** Rows none of which may be skipped. */
    static <T> ReadRows<T> required(String what, RowWeight weight, Function<JsonNode, T> map) {
        return new ReadRows<>(what, true, weight, map);
    }

    /**
     * Maps one more row.
     *
     * @param document null if it is too large
     * @return what the row takes of the heap, in bytes
     * @throws Unavailable if the row can't be read, and may not be left out
     */
    long add(String name, @Nullable String document) {
        try {
            if (document == null) {
                throw new IllegalArgumentException(
                        "the row is larger than the maximum size of a row that the broker reads");
            }
            JsonNode parsed = DocumentFields.JSON.readTree(document);
            mapped.add(map.apply(parsed));
            return weight.of(parsed);
        } catch (JsonProcessingException | RuntimeException e) {
            ignore(name, e);
            return 0;
        }
    }

    private void ignore(String name, Exception e) {
        if (required) {
            log.error(
                    "The {} '{}' can't be read, so requests that need it get 503: {}",
                    what,
                    name,
                    why(e));
            throw new Unavailable(
                    Unavailable.Part.TENANT,
                    "The decision needs a %s that can't be read; ask an operator, because the broker's log has the reason."
                            .formatted(what),
                    SOON,
                    e);
        }
        ignored++;
        if (ignored <= LOGGED) {
            log.error("The {} '{}' is ignored: {}", what, name, why(e));
        }
    }

    /**
     * The reason of a failure, without the position, because that would quote the surrounding text.
     */
    private static @Nullable String why(Exception failure) {
        return failure instanceof JsonProcessingException unreadable
                ? unreadable.getOriginalMessage()
                : failure.getMessage();
    }

    /** All mapped rows. Call this once, at the end. */
    List<T> rows() {
        if (ignored > LOGGED) {
            log.error("{} more rows of the kind '{}' are ignored", ignored - LOGGED, what);
        }
        return mapped;
    }
}
