package io.mintmark.console.pages.frame;

import java.util.List;

/**
 * A list whose first rows are shown at once, so that a phone doesn't have to scroll past all of
 * them to the next section.
 *
 * @param others the rows that a click shows
 */
public record Folded<T>(List<T> first, List<T> others) {

    /**
     * The fold of a list.
     *
     * @param most how many rows are shown at once
     */
    public static <T> Folded<T> of(List<T> rows, int most) {
        int shown = Math.min(most, rows.size());
        return new Folded<>(rows.subList(0, shown), rows.subList(shown, rows.size()));
    }

    public int size() {
        return first.size() + others.size();
    }

    public boolean isEmpty() {
        return first.isEmpty();
    }

    public boolean hasOthers() {
        return !others.isEmpty();
    }
}
