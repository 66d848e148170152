package io.mintmark.console.pages.week;

import io.mintmark.console.pages.activity.Count;

import java.util.List;
import java.util.Locale;

/**
 * What happened of one kind.
 *
 * @param kind in words, which name the list
 * @param total in words, exact or a lower bound
 * @param explanation what counts, if the kind doesn't say it; may be empty
 * @param when what the column of times has
 * @param lines as many as are shown, or fewer
 * @param others the number of lines that are not shown
 * @param exact whether there are no more than that
 * @param address of a list of all
 * @param none what is shown in place of an empty list
 */
record WeekList(
        Kind kind,
        String total,
        String explanation,
        String when,
        List<WeekLine> lines,
        long others,
        boolean exact,
        String address,
        String none) {

    /** Lines that a list shows. All lists with that many fit on two sheets of paper. */
    static final int SHOWN = 5;

    /** The kinds, in the order of the page. */
    enum Kind {
        GRANTED("Granted"),
        USED("Used"),
        UNUSED("Unused"),
        APPROVED("Approved"),
        ENDED("Ended"),
        DENIED("Denied");

        private final String label;

        Kind(String label) {
            this.label = label;
        }

        String label() {
            return label;
        }

        String id() {
            return label.toLowerCase(Locale.ROOT);
        }
    }

    /** A number that is exact, or a bound. */
    static String total(long number, boolean exact) {
        return Count.of(number, exact).toString();
    }

    boolean hasOthers() {
        return others > 0 || !exact;
    }

    /** The link to what isn't shown. */
    String more() {
        return others > 0 ? "and %s more".formatted(Count.of(others, exact)) : "there may be more";
    }
}
