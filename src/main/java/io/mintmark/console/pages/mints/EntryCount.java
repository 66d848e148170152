package io.mintmark.console.pages.mints;

import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.mints.MintSearch.Listing;

/**
 * The number of entries that a search found.
 *
 * @param all whether there are no more
 */
record EntryCount(int number, boolean all) {
    static EntryCount of(Listing listing) {
        return new EntryCount(Math.min(listing.ids().size(), Listing.MOST), listing.isComplete());
    }

    String words() {
        return (all ? "" : "At least ")
                + (number == 1 ? "1 entry" : Frame.number(number) + " entries");
    }
}
