package io.mintmark.audit.log;

import io.mintmark.Unchecked;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The statements that the program's classes keep as constants, to find those that a measurement
 * didn't run.
 */
final class ProgramStatements {
    private static final Path CLASSES = Path.of("target/classes");
    private static final Pattern STATEMENT =
            Pattern.compile("\\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\\s.*", Pattern.DOTALL);

    /** As the program, JDBC and PostgreSQL write a value, in this order. */
    private static final Pattern VALUE =
            Pattern.compile(
                    "'(?:[^']|'')*'|\\$\\d+|\\?|(?<!:):[a-z_]+|\\b(?:true|false|null)\\b|(?<![\\w\"])\\d+(?:\\.\\d+)?\\b",
                    Pattern.CASE_INSENSITIVE);

    private ProgramStatements() {}

    /** Each statement by its class and the constant's name; a template's gaps are {@code %s}. */
    static SortedMap<String, String> all() throws IOException {
        SortedMap<String, String> all = new TreeMap<>();
        try (Stream<Path> files = Files.walk(CLASSES.resolve("io"))) {
            files.map(CLASSES::relativize)
                    .map(Path::toString)
                    .filter(file -> file.endsWith(".class"))
                    .map(file -> file.replace(".class", "").replace('/', '.'))
                    .forEach(name -> addOf(name, all));
        }
        return all;
    }

    private static void addOf(String name, SortedMap<String, String> all) {
        Class<?> type =
                Unchecked.call(
                        () -> Class.forName(name, false, ProgramStatements.class.getClassLoader()));
        Arrays.stream(type.getDeclaredFields())
                .filter(field -> field.getType() == String.class)
                .filter(field -> Modifier.isStatic(field.getModifiers()))
                .forEach(field -> {
                    String value = value(field);
                    if (STATEMENT.matcher(value).matches()) {
                        all.put(type.getName() + '.' + field.getName(), value);
                    }
                });
    }

    private static String value(Field field) {
        field.setAccessible(true);
        return String.valueOf(Unchecked.call(() -> field.get(null)));
    }

    /** Whether one of the statements that PostgreSQL counted is the constant, or is made of it. */
    static boolean isAmong(String constant, Collection<String> counted) {
        String pattern =
                Stream.of(
                                normal(constant.replaceAll("%(\\d\\$)?[sd]", "\u0001"))
                                        .split("\u0001", -1))
                        .map(Pattern::quote)
                        .reduce((one, other) -> one + ".*" + other)
                        .orElseThrow();
        Pattern wanted = Pattern.compile(".*" + pattern + ".*", Pattern.DOTALL);
        return counted.stream()
                .map(ProgramStatements::normal)
                .anyMatch(it -> wanted.matcher(it).matches());
    }

    private static String normal(String statement) {
        String uncommented = statement.replaceAll("/\\*.*?\\*/", "");
        Matcher values = VALUE.matcher(uncommented);
        return values.replaceAll("?")
                .replaceAll("(\\?\\s*,\\s*)+\\?", "?")
                .replaceAll("\\s+", " ")
                .strip();
    }
}
