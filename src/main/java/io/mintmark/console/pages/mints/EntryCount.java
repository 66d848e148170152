package io.mintmark.console.pages.mints;

import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.mints.MintSearch.Listing;

/**
 * The number of entries that a search found.
 *
 * @param more whether there are more than that
 * @param stopped whether the search gave up, so that there may be more
 */
record EntryCount(int number, boolean more, boolean stopped) {
    static EntryCount of(Listing listing) {
        return new EntryCount(
                listing.counted().size(), listing.isFull(), listing.stop().isPresent());
    }

    String words() {
        return (more ? "Over " : "")
                + Frame.count(number, "entry", "entries")
                + (stopped && !more ? " so far" : "");
    }
}
