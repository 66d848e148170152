package io.mintmark.base.config;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The forms that settings have. */
final class Formats {
    /**
     * Names that PostgreSQL accepts without quotes, because role names become part of migrations.
     */
    private static final Pattern ROLE = Pattern.compile("[a-z_][a-z0-9_]{0,62}");

    private static final Pattern DIGITS = Pattern.compile("[0-9]{1,9}");

    /** The characters that OAuth allows in ids and scopes (RFC 6749 appendix A), blanks apart. */
    private static final Pattern PRINTED = Pattern.compile("[\\x21-\\x7e]+");

    private static final Pattern PRINTED_WORDS =
            Pattern.compile("[\\x21-\\x7e]+( [\\x21-\\x7e]+)*");

    static final Format<Integer> PORT = wholeNumber(0, 65_535);
    static final Format<Boolean> BOOLEAN =
            words(Map.of("true", Boolean.TRUE, "false", Boolean.FALSE));
    static final Format<String> ROLE_NAME =
            text("a role name of lower-case letters, digits and _", ROLE.asMatchPredicate());
    static final Format<String> USER_NAME = text("a login name", text -> !text.isBlank());
    static final Format<String> WORD = text("a string without spaces", PRINTED.asMatchPredicate());
    static final Format<String> WORDS =
            text("words with single spaces between them", PRINTED_WORDS.asMatchPredicate());
    static final Format<InetAddress> BIND_ADDRESS =
            Format.of("an IP address of this machine, or localhost", Formats::bindAddress);
    static final Format<Cidr> NETWORK =
            Format.of("an IP address or a network such as 10.0.0.0/8", Cidr::parse);
    static final Format<Path> FILE =
            path("a file that the broker can read", p -> Files.isRegularFile(p) && readable(p));
    static final Format<Path> DIRECTORY =
            path("a directory that the broker can read", p -> Files.isDirectory(p) && readable(p));

    private Formats() {}

    static Format<Integer> wholeNumber(int least, int most) {
        return Format.of(
                "a whole number, %d to %d".formatted(least, most),
                text -> within(least, most, Integer.valueOf(require(text, DIGITS))));
    }

    static Format<Duration> duration(Duration least, Duration most) {
        return Format.of(
                "an ISO 8601 duration such as PT10S, from %s to %s".formatted(least, most),
                text -> within(least, most, duration(text)));
    }

    static Format<Duration> wholeSeconds(Duration least, Duration most) {
        return Format.of(
                "an ISO 8601 duration in whole seconds such as PT10S, from %s to %s"
                        .formatted(least, most),
                text -> within(least, most, wholeSeconds(duration(text))));
    }

    /** One of the constants, in lower case and with hyphens. */
    static <E extends Enum<E>> Format<E> oneOf(Class<E> type) {
        return words(
                Arrays.stream(type.getEnumConstants())
                        .collect(Collectors.toMap(Formats::word, Function.identity())));
    }

    static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** One of the words, with its meaning. */
    static <T> Format<T> words(Map<String, T> meanings) {
        String expected = meanings.keySet().stream().sorted().collect(Collectors.joining(" or "));
        return Format.of(
                expected,
                text -> {
                    T meaning = meanings.get(text);
                    if (meaning == null) {
                        throw new IllegalArgumentException("none of " + expected);
                    }
                    return meaning;
                });
    }

    private static Format<String> text(String expected, Predicate<String> rule) {
        return Format.of(expected, text -> require(text, expected, rule));
    }

    private static Format<Path> path(String expected, Predicate<Path> rule) {
        return Format.of(expected, text -> require(Path.of(text), expected, rule));
    }

    private static boolean readable(Path path) {
        return Files.isReadable(path);
    }

    private static InetAddress bindAddress(String text) {
        return text.equals("localhost") ? InetAddress.getLoopbackAddress() : Cidr.address(text);
    }

    private static Duration duration(String text) {
        try {
            return Duration.parse(text);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException("not a duration", e);
        }
    }

    private static Duration wholeSeconds(Duration duration) {
        return require(duration, "whole seconds", d -> d.equals(d.truncatedTo(ChronoUnit.SECONDS)));
    }

    private static String require(String text, Pattern pattern) {
        return require(text, pattern.pattern(), pattern.asMatchPredicate());
    }

    private static <T> T require(T value, String expected, Predicate<T> rule) {
        if (!rule.test(value)) {
            throw new IllegalArgumentException("not " + expected);
        }
        return value;
    }

    private static <T extends Comparable<T>> T within(T least, T most, T value) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException("not from %s to %s".formatted(least, most));
        }
        return value;
    }
}
