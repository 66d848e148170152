package io.mintmark.console.pages.week;

import io.mintmark.console.pages.frame.Links;

import java.time.Instant;
import java.util.Optional;

/**
 * A grant, a decision or a denial of the week.
 *
 * @param address of what has the details
 * @param did what happened, up to the person
 * @param by who did it; empty if nobody did
 * @param why the reason in somebody's words
 */
record WeekLine(
        Instant at,
        String address,
        String subject,
        Optional<String> actor,
        String key,
        String did,
        Optional<String> by,
        Optional<String> why) {

    /** The longest text of each kind, in characters: a sheet of paper has room for so many rows. */
    private static final int NAME = 60;

    private static final int KEY = 36;
    private static final int WORDS = 56;

    String shownSubject() {
        return middleCut(subject, NAME);
    }

    Optional<String> shownActor() {
        return actor.map(name -> middleCut(name, NAME));
    }

    String shownKey() {
        return middleCut(key, KEY);
    }

    Optional<String> shownBy() {
        return by.map(names -> cut(names, NAME));
    }

    Optional<String> shownWhy() {
        return why.map(words -> cut(words, WORDS));
    }

    String subjectAddress() {
        return Links.subject(subject);
    }

    /** The text without its middle, because the ends of names differ most. */
    private static String middleCut(String text, int most) {
        int[] points = text.codePoints().toArray();
        int end = most / 2 - 1;
        return points.length <= most
                ? text
                : new String(points, 0, end) + "…" + new String(points, points.length - end, end);
    }

    private static String cut(String text, int most) {
        int[] points = text.codePoints().toArray();
        return points.length <= most ? text : new String(points, 0, most - 1) + "…";
    }
}
