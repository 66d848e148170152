package io.mintmark;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Stream;

/** What a page, a message or a command's output contains. */
public final class TextAssertions {
    private TextAssertions() {}

    public static void assertShows(String text, String... parts) {
        assertAll(
                Stream.of(parts)
                        .map(part -> () -> assertTrue(text.contains(part), part + " in " + text)));
    }

    public static void assertLacks(String text, String... parts) {
        assertAll(
                Stream.of(parts)
                        .map(part -> () -> assertFalse(text.contains(part), part + " in " + text)));
    }
}
