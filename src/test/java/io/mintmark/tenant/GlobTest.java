package io.mintmark.tenant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.Random;
import java.util.stream.Collectors;

final class GlobTest {
    private static final int ROUNDS = 200_000;
    private static final int LONGEST = 10;

    @ParameterizedTest
    @CsvSource({
        "repo:acme/*:ref:refs/heads/main, repo:acme/web:ref:refs/heads/main",
        "repo:acme/**, repo:acme/web:ref:refs/heads/main",
        "repo:acme/**, repo:acme/",
        "repo:acme/*, repo:acme/",
        "a***b, a:/b",
        "a****b, ab",
        "**, ''",
        "*, ''"
    })
    void stars_stand_for_any_text_and_for_none(String pattern, String text) {
        assertTrue(new Glob(pattern).matches(text));
    }

    @ParameterizedTest
    @CsvSource({
        "repo:acme/*, repo:acme/web:ref:refs/heads/main",
        "repo:acme/*, repo:acme/web/x",
        "repo:acme/*, repo:acme-evil/web",
        "repo:acme/web, repo:acme/web2",
        "repo:acme/web, REPO:acme/web",
        "a.c, abc",
        "a?c, abc",
        "[ab], a",
        "a*, ''"
    })
    void all_else_is_literal_and_one_star_stays_in_its_segment(String pattern, String text) {
        assertFalse(new Glob(pattern).matches(text));
    }

    @Test
    void agrees_with_the_rules_taken_literally() {
        Random random = new Random(7);
        for (int round = 0; round < ROUNDS; round++) {
            String pattern = any(random, "ab:/****");
            String text = any(random, "aab:/");
            assertEquals(
                    literally(pattern, text),
                    new Glob(pattern).matches(text),
                    () -> pattern + " on " + text);
        }
    }

    /** Each of these makes matchers that try and take back go quadratic, cubic or worse. */
    @ParameterizedTest
    @ValueSource(strings = {"**a*aaaab", "**aaaa*aaaab", "a*", "**a*", "***", "*"})
    void takes_no_longer_than_pattern_times_text(String part) {
        Glob glob = new Glob(part.repeat(500 / part.length()) + "b");
        String text = "a".repeat(16_000);
        assertTimeout(Duration.ofSeconds(2), () -> assertFalse(glob.matches(text)));
    }

    private static String any(Random random, String letters) {
        return random.ints(random.nextInt(LONGEST), 0, letters.length())
                .mapToObj(i -> letters.substring(i, i + 1))
                .collect(Collectors.joining());
    }

    private static boolean literally(String pattern, String text) {
        if (pattern.startsWith("**")) {
            return literally(pattern.substring(2), text)
                    || (!text.isEmpty() && literally(pattern, text.substring(1)));
        }
        if (pattern.startsWith("*")) {
            return literally(pattern.substring(1), text)
                    || (!text.isEmpty()
                            && ":/".indexOf(text.charAt(0)) < 0
                            && literally(pattern, text.substring(1)));
        }
        return pattern.isEmpty()
                ? text.isEmpty()
                : !text.isEmpty()
                        && pattern.charAt(0) == text.charAt(0)
                        && literally(pattern.substring(1), text.substring(1));
    }
}
