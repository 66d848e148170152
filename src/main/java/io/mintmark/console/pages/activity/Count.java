package io.mintmark.console.pages.activity;

import io.mintmark.console.pages.frame.Frame;

/**
 * A number of rows, up to a limit.
 *
 * @param number of rows that were counted
 * @param isMore whether there may be more than that
 */
public record Count(long number, boolean isMore) {
    static final Count NONE = new Count(0, false);

    /**
     * The limit of a bound's leading part, so that a bound is shown with two significant digits.
     */
    private static final long DIGITS = 100;

    /** The number of rows among those that were read, which are all if so. */
    public static Count of(long number, boolean all) {
        return new Count(number, !all);
    }

    /** The bound of a number that is known to be at least this one. */
    public static Count atLeast(long number) {
        return new Count(number, true);
    }

    Count and(Count other) {
        return new Count(number + other.number, isMore || other.isMore);
    }

    /** The number if it is exact, else a round number that is exceeded: "over 1,200". */
    @Override
    public String toString() {
        if (!isMore) {
            return Frame.number(number);
        }
        long exceeded = number - 1;
        if (exceeded < 1) {
            return number + " or more";
        }
        long unit = 1;
        while (exceeded / unit >= DIGITS) {
            unit *= 10;
        }
        return "over " + Frame.number(exceeded / unit * unit);
    }

    /** The noun of the count without the number. Its plural must be regular. */
    public String noun(String what) {
        return isMore || number != 1 ? what + "s" : what;
    }

    /** The count with its noun, which must have a regular plural. */
    public String of(String what) {
        return this + " " + noun(what);
    }
}
