package io.mintmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Regular expressions over text from outside. {@code patterns.csv} lists every class that uses
 * regular expressions, the text that they are matched with, and how long that can be; those over
 * text from outside are held to neither recurse nor backtrack much at that length. A new one is red
 * until it is listed.
 */
class PatternsTest {
    private static final Set<String> OF_PATTERN = Set.of("compile", "matches");
    private static final Set<String> OF_STRING =
            Set.of("matches", "replaceAll", "replaceFirst", "split");

    /** Of a connection's thread it is far more; a recursion of a few thousand calls needs this. */
    private static final long STACK = 256 * 1024;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** Of CPU, which other processes don't lengthen as they do the clock's. */
    private static final Duration LONG = Duration.ofMillis(50);

    private static final int TRIES = 3;

    /** In characters; what takes time by the square of it takes long. */
    private static final int LONGEST = 12_000;

    private static final String ALWAYS = "a1.\n";

    private static Map<String, Listed> listed = Map.of();
    private static Map<String, List<String>> used = Map.of();
    private static Set<String> searching = Set.of();

    /**
     * A class that uses regular expressions.
     *
     * @param uses how many calls
     * @param text who wrote what they are matched with: {@code own} for the operator, the program
     *     and its database
     * @param longest in characters; 0 for own text
     */
    private record Listed(String name, int uses, String text, int longest) {
        boolean isOutside() {
            return !text.equals("own");
        }
    }

    @BeforeAll
    static void read() throws IOException {
        try (InputStream in = PatternsTest.class.getResourceAsStream("/patterns.csv")) {
            listed =
                    new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8)
                            .lines()
                            .filter(line -> !line.startsWith("#"))
                            .map(line -> line.split(","))
                            .map(parts ->
                                    new Listed(
                                            parts[0],
                                            Integer.parseInt(parts[1]),
                                            parts[2],
                                            Integer.parseInt(parts[3])))
                            .collect(Collectors.toMap(Listed::name, it -> it));
        }
        List<JavaMethodCall> calls =
                ArchConfiguration.withThreadLocalScope(configuration -> {
                    // the names of libraries' classes are enough
                    configuration.setResolveMissingDependenciesFromClassPath(false);
                    return new ClassFileImporter()
                                    .withImportOption(new PackagesTest.WithoutTests())
                                    .importPackages("io.mintmark")
                                    .stream()
                                    .flatMap(type -> type.getMethodCallsFromSelf().stream())
                                    .toList();
                });
        used =
                calls.stream()
                        .filter(PatternsTest::isRegularExpression)
                        .collect(
                                Collectors.groupingBy(
                                        PatternsTest::caller,
                                        TreeMap::new,
                                        Collectors.mapping(
                                                JavaMethodCall::getName, Collectors.toList())));
        searching =
                calls.stream()
                        .filter(PatternsTest::isSearch)
                        .map(PatternsTest::caller)
                        .collect(Collectors.toSet());
    }

    /** Whether a pattern is looked for at every position of a text. */
    private static boolean isSearch(JavaMethodCall call) {
        JavaClass owner = call.getTargetOwner();
        return owner.isEquivalentTo(Pattern.class)
                ? !Set.of("compile", "matches", "matcher").contains(call.getName())
                : owner.isEquivalentTo(Matcher.class)
                        && !Set.of("matches", "group").contains(call.getName());
    }

    private static boolean isRegularExpression(JavaMethodCall call) {
        JavaClass owner = call.getTargetOwner();
        return owner.isEquivalentTo(Pattern.class)
                ? OF_PATTERN.contains(call.getName())
                : owner.isEquivalentTo(String.class) && OF_STRING.contains(call.getName());
    }

    /** The class of the file, without the package that all have. */
    private static String caller(JavaMethodCall call) {
        return call.getOriginOwner()
                .getName()
                .replaceFirst("\\$.*", "")
                .substring("io.mintmark.".length());
    }

    @Test
    void every_use_of_a_regular_expression_is_listed_with_the_text_and_its_length() {
        assertEquals(
                used.entrySet().stream()
                        .map(use -> use.getKey() + "," + use.getValue().size())
                        .collect(Collectors.joining("\n")),
                listed.values().stream()
                        .map(use -> use.name() + "," + use.uses())
                        .sorted()
                        .collect(Collectors.joining("\n")));
    }

    /** Otherwise the tests below wouldn't see it. {@code split} takes one character, no pattern. */
    @Test
    void patterns_over_text_from_outside_are_constants() {
        for (Listed use : listed.values()) {
            if (use.isOutside()) {
                List<String> calls = used.getOrDefault(use.name(), List.of());
                assertTrue(
                        Set.of("compile", "split").containsAll(calls), use.name() + ": " + calls);
                assertEquals(
                        calls.stream().filter("compile"::equals).count(),
                        fields(use).size(),
                        use.name());
            }
        }
    }

    private static List<Field> fields(Listed use) {
        return Stream.of(type(use).getDeclaredFields())
                .filter(field -> field.getType() == Pattern.class)
                .toList();
    }

    private static Class<?> type(Listed use) {
        try {
            return Class.forName("io.mintmark." + use.name());
        } catch (ClassNotFoundException e) {
            throw new LinkageError(use.name(), e);
        }
    }

    /** Those of a class, or of all constants of an enum. */
    private static List<Pattern> patterns(Listed use) {
        List<Pattern> patterns = new ArrayList<>();
        Class<?> type = type(use);
        Object[] holders = type.isEnum() ? type.getEnumConstants() : new Object[] {type};
        try {
            for (Field field : fields(use)) {
                field.setAccessible(true);
                for (Object holder : holders) {
                    patterns.add((Pattern) field.get(holder));
                }
            }
            return patterns;
        } catch (IllegalAccessException e) {
            throw new LinkageError(use.name(), e);
        }
    }

    @Test
    void patterns_over_text_from_outside_neither_recurse_nor_backtrack_much() {
        List<String> faults = new ArrayList<>();
        for (Listed use : listed.values()) {
            if (use.isOutside()) {
                for (Pattern pattern : patterns(use)) {
                    fault(pattern, searching.contains(use.name()), Math.min(use.longest(), LONGEST))
                            .ifPresent(fault -> faults.add(use.name() + ": " + fault));
                }
            }
        }
        assertEquals(List.of(), faults);
    }

    @Test
    void a_pattern_that_recurses_or_backtracks_is_found() {
        for (String bad :
                List.of("[A-Z]+(-[A-Z]+)* x", "(/([^~/]|~[01])*)+", "/+$", "(a|aa)+$", "\\s+,")) {
            assertFalse(fault(Pattern.compile(bad), true, LONGEST).isEmpty(), bad);
        }
        assertEquals(Optional.empty(), fault(Pattern.compile("[A-Z]{1,32}"), true, LONGEST));
    }

    /** What is wrong with a pattern at texts of this length. */
    private static Optional<String> fault(Pattern pattern, boolean searches, int length) {
        List<String> faults = new CopyOnWriteArrayList<>();
        Runnable trial =
                () ->
                        texts(pattern, length)
                                .flatMap(text -> fault(pattern, searches, text).stream())
                                .findFirst()
                                .ifPresent(faults::add);
        Thread thread = new Thread(null, trial, "patterns", STACK);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return faults.stream().findFirst();
    }

    private static Optional<String> fault(Pattern pattern, boolean searches, String text) {
        String start = text.substring(0, Math.min(text.length(), 20));
        Duration least = Duration.ofDays(1);
        Duration last = Duration.ZERO;
        for (int i = 0; i < TRIES && isLong(least) && !isFarTooLong(last); i++) {
            long begun = THREADS.getCurrentThreadCpuTime();
            try {
                boolean matches = pattern.matcher(text).matches();
                assertTrue(
                        matches || !searches || !pattern.matcher(text).replaceAll("!").isEmpty());
            } catch (StackOverflowError e) {
                return Optional.of("'%s' recurses at '%s…'".formatted(pattern, start));
            }
            last = Duration.ofNanos(THREADS.getCurrentThreadCpuTime() - begun);
            least = last.compareTo(least) < 0 ? last : least;
        }
        return isLong(least)
                ? Optional.of("'%s' takes %s at '%s…'".formatted(pattern, least, start))
                : Optional.empty();
    }

    private static boolean isLong(Duration taken) {
        return taken.compareTo(LONG) > 0;
    }

    /** However busy the machine is. */
    private static boolean isFarTooLong(Duration taken) {
        return taken.compareTo(LONG.multipliedBy(10)) > 0;
    }

    /** One or two characters again and again, with something at the end that doesn't fit. */
    private static Stream<String> texts(Pattern pattern, int length) {
        List<Pattern> parts = parts(pattern);
        Collection<String> pieces =
                (ALWAYS + pattern.pattern().replaceAll("[\\\\()^$*?{}|]", ""))
                        .chars()
                        .mapToObj(Character::toString)
                        .collect(
                                Collectors.toMap(
                                        piece -> matching(parts, piece),
                                        piece -> piece,
                                        (one, _) -> one,
                                        LinkedHashMap::new))
                        .values();
        return pieces.stream()
                .flatMap(one ->
                        pieces.stream()
                                .filter(other -> one.compareTo(other) <= 0)
                                .map(other -> one.equals(other) ? one : one + other))
                .flatMap(piece -> Stream.of("", "\0").map(end -> repeated(piece, length, end)));
    }

    /** The sets of characters and the single ones that a pattern is made of. */
    private static List<Pattern> parts(Pattern pattern) {
        return Pattern.compile("\\[(?:\\\\.|[^\\]\\\\])+\\]|\\\\[pP]\\{[^}]*\\}|\\\\.|[^\\[\\\\]")
                .matcher(pattern.pattern())
                .results()
                .map(MatchResult::group)
                .map(part -> part.length() > 1 || part.equals(".") ? part : Pattern.quote(part))
                .distinct()
                .map(part -> Pattern.compile(part, pattern.flags()))
                .toList();
    }

    /** Characters that the same parts match are the same to the pattern; one of them is enough. */
    private static List<Boolean> matching(List<Pattern> parts, String piece) {
        return parts.stream().map(part -> part.matcher(piece).matches()).toList();
    }

    private static String repeated(String piece, int length, String end) {
        return piece.repeat(Math.max(1, (length - end.length()) / piece.length())) + end;
    }
}
