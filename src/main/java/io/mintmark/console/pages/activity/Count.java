package io.mintmark.console.pages.activity;

import io.mintmark.console.pages.frame.Frame;

/**
 * A number of rows, up to a limit.
 *
 * @param number of rows that were counted
 * @param isMore whether there are more than that
 */
public record Count(long number, boolean isMore) {
    static final Count NONE = new Count(0, false);

    /**
     * The limit of a bound's leading part, so that a bound is shown with two significant digits.
     */
    private static final long DIGITS = 100;

    Count and(Count other) {
        return new Count(number + other.number, isMore || other.isMore);
    }

    /** The number if it is exact, else a round number that is exceeded: "over 1,200". */
    @Override
    public String toString() {
        if (!isMore) {
            return Frame.number(number);
        }
        long unit = 1;
        while (number / unit >= DIGITS) {
            unit *= 10;
        }
        return "over " + Frame.number(number / unit * unit);
    }

    /** The count with its noun, which must have a regular plural. */
    String of(String what) {
        return isMore ? this + " " + what + "s" : Frame.count(number, what);
    }
}
