package io.mintmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Sentences and messages that readers rejected are in no page, message, client or migration. */
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
        List<Path> files = new ArrayList<>(List.of(Path.of("README.md")));
        for (String folder : List.of("docs", "src/main", "src/clients", "db", "k8s")) {
            try (Stream<Path> below = Files.walk(Path.of(folder))) {
                below.filter(Files::isRegularFile)
                        .filter(file -> !file.toString().matches(".*\\.(png|pem|jar)"))
                        .sorted()
                        .forEach(files::add);
            }
        }
        return files;
    }
}
