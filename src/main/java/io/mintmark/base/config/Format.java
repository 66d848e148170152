package io.mintmark.base.config;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The syntax of a setting and its conversion.
 *
 * @param expected completes the sentence "NAME must be …"
 * @param shown whether error messages may quote an invalid text; false if it could contain a secret
 * @param reading converts a valid text, and throws {@link IllegalArgumentException} for any other
 */
record Format<T>(String expected, boolean shown, Function<String, T> reading) {
    private static final int LONGEST_ECHO = 120;

    static <T> Format<T> of(String expected, Function<String, T> reading) {
        return new Format<>(expected, true, reading);
    }

    /** A form whose texts are never repeated. */
    static <T> Format<T> hidden(String expected, Function<String, T> reading) {
        return new Format<>(expected, false, reading);
    }

    /** A list of such texts, separated by commas. An error names the invalid entry. */
    Format<List<T>> list() {
        return new Format<>(
                "a list, separated by commas, of: " + expected,
                shown,
                text -> parts(text).map(this::entry).toList());
    }

    /** Describes the form in more words: {@code more} is added to {@code expected}. */
    Format<T> hint(String more) {
        return new Format<>(expected + more, shown, reading);
    }

    /**
     * Reads a value.
     *
     * @throws InvalidSettings if the text is invalid
     */
    T read(String name, String text) {
        try {
            return reading.apply(text);
        } catch (WrongEntry e) {
            throw complaint(name, e.entry);
        } catch (IllegalArgumentException e) {
            throw complaint(name, text);
        }
    }

    private T entry(String text) {
        try {
            return reading.apply(text);
        } catch (IllegalArgumentException e) {
            throw new WrongEntry(text, e);
        }
    }

    private InvalidSettings complaint(String name, String text) {
        return new InvalidSettings("%s must be %s%s".formatted(name, expected, instead(text)));
    }

    private String instead(String text) {
        return shown ? ", not '" + echo(text) + "'" : "";
    }

    private static Stream<String> parts(String text) {
        return Stream.of(text.split(",", -1)).map(String::strip);
    }

    /** Quotes any text in one line. */
    static String echo(String text) {
        String line = text.replaceAll("\\P{Print}", "?");
        return line.length() <= LONGEST_ECHO ? line : line.substring(0, LONGEST_ECHO) + "…";
    }

    /** An entry of a list is invalid. */
    private static final class WrongEntry extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        private final String entry;

        private WrongEntry(String entry, IllegalArgumentException cause) {
            super(cause);
            this.entry = entry;
        }
    }
}
