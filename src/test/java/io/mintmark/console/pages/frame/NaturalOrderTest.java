package io.mintmark.console.pages.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.util.List;

class NaturalOrderTest {
    @Test
    void numbers_in_names_sort_by_their_value() {
        assertEquals(
                List.of(
                        "", "a", "key", "key-2", "key-09", "key-9", "key-10", "key-10a", "key-b",
                        "z9", "z10"),
                List.of(
                                "key-10", "z10", "key-9", "key-b", "key-09", "a", "key-10a", "z9",
                                "key-2", "", "key")
                        .stream()
                        .sorted(NaturalOrder.NAMES)
                        .toList());
    }
}
