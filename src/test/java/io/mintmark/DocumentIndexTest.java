package io.mintmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Whoever looks for a page, a recipe or a route finds it without knowing its name. */
class DocumentIndexTest {
    private static final Path DOCS = Path.of("docs");
    private static final Path INDEX = DOCS.resolve("README.md");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s#]+)");
    private static final Pattern NUMBERED =
            Pattern.compile("(?m)^#{2,3} (\\d+)(?:\\.(\\d+))?\\.? ");
    private static final Pattern KIND =
            Pattern.compile(
                    "\\*(Tutorial|How-to|Reference|Explanation|Decision|Index) · [a-z, ]+( · \\d+ min( each)?)?\\.?\\*");
    private static final Pattern SPACE = Pattern.compile("\\s+");
    private static final Set<String> METHODS = Set.of("get", "post", "delete");

    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.walk(DOCS)) {
            return files.filter(file -> file.toString().endsWith(".md")).sorted().toList();
        }
    }

    private static Set<Path> linked(Path page) throws IOException {
        return LINK.matcher(Files.readString(page))
                .results()
                .map(found -> page.resolveSibling(found.group(1)).normalize())
                .collect(Collectors.toSet());
    }

    /** By docs/README.md, or by the README.md of its folder, which docs/README.md names. */
    @Test
    void an_index_names_each_page() throws IOException {
        Set<Path> found = new TreeSet<>(linked(INDEX));
        for (Path page : List.copyOf(found)) {
            if (page.startsWith(DOCS) && page.endsWith("README.md")) {
                linked(page).stream()
                        .filter(other -> other.startsWith(page.resolveSibling("")))
                        .forEach(found::add);
            }
        }
        assertEquals(
                List.of(),
                pages().stream()
                        .filter(page -> !page.equals(INDEX) && !found.contains(page))
                        .toList());
    }

    @Test
    void each_page_says_of_which_kind_it_is_and_for_whom() throws IOException {
        Set<Path> missing = new TreeSet<>();
        for (Path page : pages()) {
            String first =
                    Files.readString(page)
                            .lines()
                            .skip(1)
                            .filter(line -> !line.isBlank())
                            .findFirst()
                            .orElse("");
            if (!page.equals(INDEX) && !KIND.matcher(first).lookingAt()) {
                missing.add(page);
            }
        }
        assertEquals(Set.of(), missing);
    }

    @Test
    void a_page_links_to_each_recipe() throws IOException {
        Set<Path> found = new TreeSet<>();
        for (Path page : pages()) {
            found.addAll(linked(page));
        }
        try (Stream<Path> recipes = Files.list(Path.of("db", "recipes"))) {
            assertEquals(
                    List.of(), recipes.sorted().filter(file -> !found.contains(file)).toList());
        }
    }

    @Test
    void the_http_api_lists_every_route() throws IOException {
        String page =
                SPACE.matcher(Files.readString(DOCS.resolve("reference/http-api.md")))
                        .replaceAll(" ");
        Map<String, Map<String, Map<String, Object>>> document =
                new Yaml().load(Files.readString(DOCS.resolve("openapi.yaml")));
        Map<String, Map<String, Object>> paths = document.getOrDefault("paths", Map.of());
        Set<String> missing = new TreeSet<>();
        paths.forEach((path, item) ->
                item.keySet().stream()
                        .filter(METHODS::contains)
                        .map(method -> method.toUpperCase(Locale.ROOT) + " " + path)
                        .filter(route -> !page.contains("`" + route + "`"))
                        .forEach(missing::add));
        assertTrue(paths.size() > 10, paths.keySet()::toString);
        assertEquals(Set.of(), missing);
    }

    /** A gap reads as lost text. */
    @Test
    void the_sections_of_the_http_api_have_no_gaps() throws IOException {
        int section = 0;
        int part = 0;
        for (MatchResult heading :
                NUMBERED.matcher(Files.readString(DOCS.resolve("reference/http-api.md")))
                        .results()
                        .toList()) {
            if (heading.group(2) == null) {
                section++;
                part = 0;
            } else {
                part++;
                assertEquals(String.valueOf(part), heading.group(2), heading.group());
            }
            assertEquals(String.valueOf(section), heading.group(1), heading.group());
        }
        assertEquals(9, section);
    }
}
