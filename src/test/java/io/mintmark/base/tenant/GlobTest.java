package io.mintmark.base.tenant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

final class GlobTest {
    private static final int ROUNDS = 200_000;
    private static final int LONG_ROUNDS = 50_000;
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

    @Test
    void agrees_with_the_rules_on_long_texts_of_few_letters() {
        Random random = new Random(11);
        for (int round = 0; round < LONG_ROUNDS; round++) {
            String pattern = allowed(random);
            String text = hit(random, pattern);
            assertEquals(
                    stateByState(pattern, text),
                    new Glob(pattern).matches(text),
                    () -> pattern + " on " + text);
        }
    }

    @ParameterizedTest
    @CsvSource({"a, 512", "*a, 8", "**a, 8", "é, 512", "😀, 512"})
    void the_longest_pattern_and_the_most_stars_are_allowed(String part, int times) {
        String pattern = part.repeat(times);
        assertEquals(pattern, new Glob(pattern).pattern());
    }

    @ParameterizedTest
    @ValueSource(strings = {"*a*a*a*a*a*a*a*a*", "**a**a**a**a**a**a**a**a**", "*****************"})
    void nine_stars_are_refused(String pattern) {
        assertThrows(IllegalArgumentException.class, () -> new Glob(pattern));
    }

    @Test
    void more_than_512_characters_are_refused() {
        String pattern = "a".repeat(513);
        assertThrows(IllegalArgumentException.class, () -> new Glob(pattern));
    }

    /** Each of these makes matchers that try and take back go quadratic, cubic or worse. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "**a*aaaa*a",
                "a**aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab**",
                "a**:::::::::::::::::::::::::*::::::::::::::::::x**",
                "**a*a*a*a*a*a*a*b",
                "**a**a**a**a**a**a**ab**b",
                "*a*a*a*a*a*a*a*b"
            })
    void takes_no_more_steps_than_stars_times_text(String pattern) {
        Glob glob = new Glob(pattern);
        String text = "a:".repeat(8_000);
        assertTrue(glob.steps(text) <= pattern.length() + 8L * text.length());
        assertTimeout(Duration.ofSeconds(5), () -> assertFalse(glob.matches(text)));
    }

    @Test
    void a_text_that_ends_or_begins_otherwise_costs_no_walk() {
        String text = "b".repeat(1_000);
        assertTrue(new Glob("a**b").steps(text) < 10);
        assertTrue(new Glob("b**a").steps(text) < 10);
    }

    /** A pattern within the bounds. */
    private static String allowed(Random random) {
        return random.ints(random.nextInt(9), 0, 10)
                .mapToObj(i -> i < 3 ? "*" : i < 5 ? "**" : any(random, "aab:"))
                .collect(Collectors.joining());
    }

    /** A text that the pattern matches, but for a letter now and then. */
    private static String hit(Random random, String pattern) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < pattern.length(); at++) {
            boolean star = pattern.charAt(at) == '*';
            boolean deep = star && pattern.startsWith("**", at);
            text.append(star ? any(random, deep ? "aab:/" : "aab") : pattern.substring(at, at + 1));
        }
        if (!text.isEmpty() && random.nextBoolean()) {
            int at = random.nextInt(text.length());
            text.replace(at, at + 1, any(random, "ab:"));
        }
        return text.toString();
    }

    /** All places in the pattern that the text so far leads to, side by side. */
    private static boolean stateByState(String pattern, String text) {
        Set<Integer> reached = behindStars(pattern, Set.of(0));
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            Set<Integer> next = new HashSet<>();
            for (int at : reached) {
                boolean star = at < pattern.length() && pattern.charAt(at) == '*';
                if (star && (pattern.startsWith("**", at) || ":/".indexOf(c) < 0)) {
                    next.add(at);
                } else if (!star && at < pattern.length() && pattern.charAt(at) == c) {
                    next.add(at + 1);
                }
            }
            reached = behindStars(pattern, next);
        }
        return reached.contains(pattern.length());
    }

    private static Set<Integer> behindStars(String pattern, Set<Integer> places) {
        Set<Integer> all = new HashSet<>(places);
        for (int at = 0; at < pattern.length(); at++) {
            if (all.contains(at) && pattern.charAt(at) == '*') {
                all.add(pattern.startsWith("**", at) ? at + 2 : at + 1);
            }
        }
        return all;
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
