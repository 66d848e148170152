package io.mintmark.console.pages.mints;

import io.mintmark.console.pages.frame.Parameters;

/** The order of the lines, by time. The oldest come first only if all can be counted. */
enum Order {
    NEWEST_FIRST,
    OLDEST_FIRST,
    TOO_MANY_FOR_OLDEST_FIRST;

    static Order of(Parameters parameters) {
        return parameters.text("order").filter("oldest"::equals).isPresent()
                ? OLDEST_FIRST
                : NEWEST_FIRST;
    }
}
