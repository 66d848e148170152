package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
        "lead:*, lead:bot*, true",
        "lead:*bot, lead:b*, true",
        "repo:**:main, repo:acme/*:*, true",
        "a**z, **:m/**, true",
        "lead:*, dev:*, false",
        "lead:*bot, lead:*x, false",
        "lead:*, lead:a/*, false",
        "repo:*:main, repo:a/b:*, false",
        "a*, b**, false"
    })
    void globs_overlap_if_some_string_matches_both(String one, String other, boolean expected) {
        assertEquals(expected, overlap(one, other));
        assertEquals(expected, overlap(other, one));
    }

    /**
     * Each pattern of up to three characters out of {@code a}, {@code :} and {@code *}, with each.
     */
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
