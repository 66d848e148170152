package io.mintmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A name says which class is meant without its package, in tests as in what they test. */
class SimpleNamesTest {
    private static final String CLASS = ".class";

    @Test
    void no_two_classes_share_a_simple_name() throws IOException, URISyntaxException {
        Map<String, List<Path>> files = new TreeMap<>();
        for (Class<?> one : List.of(Main.class, SimpleNamesTest.class)) {
            Path classes = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
            try (Stream<Path> all = Files.walk(classes)) {
                all.filter(SimpleNamesTest::isTopLevelClass)
                        .forEach(file ->
                                files.computeIfAbsent(
                                                file.getFileName().toString(),
                                                _ -> new ArrayList<>())
                                        .add(classes.relativize(file)));
            }
        }
        assertTrue(files.containsKey("SimpleNamesTest" + CLASS) && files.size() > 1_000);
        files.values().removeIf(homes -> homes.size() == 1);

        assertEquals(Map.of(), files);
    }

    private static boolean isTopLevelClass(Path file) {
        String name = file.getFileName().toString();
        return name.endsWith(CLASS) && !name.contains("$") && !name.equals("package-info" + CLASS);
    }
}
