package io.mintmark.audit.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What people read has nothing in it that they can't see. */
class VisibleTextTest {
    /** Default_Ignorable_Code_Point of Unicode's {@code DerivedCoreProperties.txt}. */
    private static final String IGNORABLE =
            """
            00AD 034F 061C 115F..1160 17B4..17B5 180B..180F 200B..200F 202A..202E 2060..206F 3164
            FE00..FE0F FEFF FFA0 FFF0..FFF8 1BCA0..1BCA3 1D173..1D17A E0000..E0FFF
            """;

    private static final List<int[]> IGNORABLE_RANGES =
            Stream.of(IGNORABLE.strip().split("\\s+"))
                    .map(range -> range.split("\\.\\."))
                    .map(ends ->
                            new int[] {
                                Integer.parseInt(ends[0], 16),
                                Integer.parseInt(ends[ends.length - 1], 16)
                            })
                    .toList();

    private static final IntPredicate SPACE_OR_NOTHING = property("[\\p{IsWhite_Space}\\p{C}]");

    /**
     * By their names; what fills a gap or a line can be seen, and so can the picture of a blank.
     */
    private static boolean isBlank(int point) {
        String name = Character.getName(point);
        return name != null
                && (name.matches("(HALFWIDTH )?(HANGUL|KHITAN).* FILLER")
                        || (name.contains("BLANK") && point != 0x2422)
                        || name.contains("NULL NOTEHEAD")
                        || name.contains("OBJECT REPLACEMENT"));
    }

    private static IntPredicate property(String pattern) {
        var matches = Pattern.compile(pattern).asMatchPredicate();
        return point -> matches.test(Character.toString(point));
    }

    private static boolean isInvisible(int point) {
        return point != ' '
                && (SPACE_OR_NOTHING.test(point)
                        || isBlank(point)
                        || IGNORABLE_RANGES.stream()
                                .anyMatch(range -> range[0] <= point && point <= range[1]));
    }

    @Test
    void of_all_characters_those_without_a_shape_are_hidden_and_those_of_every_script_are_not() {
        List<String> wrong =
                IntStream.rangeClosed(0, Character.MAX_CODE_POINT)
                        .filter(point -> VisibleText.isHidden(point) != isInvisible(point))
                        .mapToObj("U+%04X"::formatted)
                        .toList();

        assertEquals(List.of(), wrong);
    }

    @Test
    void what_cannot_be_seen_is_shown_by_its_number() {
        assertEquals(
                "a⟨U+202E⟩b⟨U+200B⟩⟨U+00A0⟩⟨U+000A⟩⟨U+0000⟩",
                VisibleText.of("a\u202Eb\u200B\u00A0\n\0"));
        assertEquals("ci:web:main⟨U+3164⟩", VisibleText.of("ci:web:main\u3164"));
        assertEquals("⟨U+E0041⟩⟨U+D800⟩", VisibleText.of("\uDB40\uDC41\uD800"));
        assertEquals("喵é 😀 עברית ไทย", VisibleText.of("喵é 😀 עברית ไทย"));
    }

    @Test
    void a_text_that_spells_a_number_is_not_shown_like_the_character() {
        assertEquals("a⟨U+27E8⟩U+200B⟩", VisibleText.of("a⟨U+200B⟩"));
        assertEquals("⟨U+27E8⟩\n⟩", VisibleText.inLines("⟨\n⟩"));
    }

    @Test
    void lines_may_end_where_text_has_several() {
        assertEquals("a\nb⟨U+000D⟩", VisibleText.inLines("a\nb\r"));
    }
}
