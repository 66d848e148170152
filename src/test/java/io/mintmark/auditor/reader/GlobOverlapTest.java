package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.tenant.Glob;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

class GlobOverlapTest {
    @AutoClose private final TestDatabase database = TestDatabase.migrated();

    private static boolean overlap(String one, String other) {
        return GlobOverlap.exists(new Glob(one), new Glob(other));
    }

    @ParameterizedTest
    @CsvSource({
        "lead:*, lead:bot*",
        "lead:*bot, lead:b*",
        "repo:**:main, repo:acme/*:*",
        "a**z, **:m/**"
    })
    void some_string_matches_both(String one, String other) {
        assertTrue(overlap(one, other));
        assertTrue(overlap(other, one));
    }

    @ParameterizedTest
    @CsvSource({
        "lead:*, dev:*",
        "lead:*bot, lead:*x",
        "lead:*, lead:a/*",
        "repo:*:main, repo:a/b:*",
        "a*, b**"
    })
    void no_string_matches_both(String one, String other) {
        assertFalse(overlap(one, other));
        assertFalse(overlap(other, one));
    }

    /** Of all patterns of up to three of these characters, with each other. */
    @Test
    void the_database_says_the_same() {
        List<String> patterns = new ArrayList<>(List.of(""));
        for (int shorter = 0; patterns.getLast().length() < 3; shorter++) {
            String start = patterns.get(shorter);
            Stream.of("a", ":", "*").map(start::concat).forEach(patterns::add);
        }
        List<String> pairs =
                patterns.stream()
                        .flatMap(one -> patterns.stream().map(other -> one + " " + other))
                        .toList();
        List<String> overlapping =
                pairs.stream()
                        .filter(pair -> overlap(pair.split(" ", 2)[0], pair.split(" ", 2)[1]))
                        .toList();
        assertEquals(
                overlapping,
                database.column(
                        """
                        SELECT pair FROM unnest(ARRAY['%s']) WITH ORDINALITY AS p (pair, place)
                         WHERE internal.globs_overlap(split_part(pair, ' ', 1), split_part(pair, ' ', 2)) ORDER BY place
                        """
                                .formatted(String.join("', '", pairs))));
    }
}
