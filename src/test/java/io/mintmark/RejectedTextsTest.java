package io.mintmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Sentences and messages that readers rejected are in no page, message or migration. */
class RejectedTextsTest {
    private static final Path LIST =
            Path.of("src", "test", "resources", "language", "rejected.txt");
    private static final Pattern SPACE = Pattern.compile("\\s+");
    private static final Pattern JOINED = Pattern.compile("\" \\+ \"");

    @Test
    void none_of_them_came_back() throws IOException {
        List<String> texts =
                Files.readAllLines(LIST).stream()
                        .filter(line -> !line.isBlank() && !line.startsWith("# "))
                        .toList();
        assertTrue(texts.size() > 30, texts::toString);
        Set<String> found = new TreeSet<>();
        for (Path file : files()) {
            String text = plain(Files.readString(file));
            texts.stream().filter(text::contains).forEach(it -> found.add(file + ": " + it));
        }
        assertEquals(Set.of(), found);
    }

    /** On one line, with Java's strings joined and SQL's apostrophes single. */
    private static String plain(String source) {
        String line = SPACE.matcher(source).replaceAll(" ");
        return JOINED.matcher(line).replaceAll("").replace("''", "'");
    }

    private static List<Path> files() throws IOException {
        try (Stream<Path> pages = Files.walk(Path.of("docs"));
                Stream<Path> sources = Files.walk(Path.of("src", "main"));
                Stream<Path> migrations = Files.walk(Path.of("db"))) {
            return Stream.of(pages, sources, migrations)
                    .flatMap(files -> files)
                    .filter(file -> file.toString().matches(".*\\.(md|java|sql|jte)"))
                    .sorted()
                    .toList();
        }
    }
}
