package io.mintmark.console.pages.activity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CountTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    0     | false | 0
                    3392  | false | 3,392
                    0     | true  | 0 or more
                    1     | true  | 1 or more
                    2     | true  | over 1
                    20    | true  | over 19
                    100   | true  | over 99
                    1999  | true  | over 1,900
                    12345 | true  | over 12,000
                    """)
    void a_number_is_exact_or_a_bound_that_is_exceeded(long number, boolean more, String shown) {
        assertEquals(shown, new Count(number, more).toString());
    }

    @ParameterizedTest
    @CsvSource({"1, false, 1 mint", "2, false, 2 mints", "2, true, over 1 mints"})
    void it_has_its_noun(long number, boolean more, String shown) {
        assertEquals(shown, new Count(number, more).of("mint"));
    }
}
