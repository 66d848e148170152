package io.mintmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the pages say of the code and of each other is so. */
class DocumentsTest {
    private static final Path TOP = Path.of("");
    private static final int COLUMNS = 100;

    /** Longer ones can't be broken. */
    private static final Pattern LONG_CODE = Pattern.compile("`[^`]{50,}`\\S*");

    private static final Pattern FENCED = Pattern.compile("(?ms)^ *```.*?^ *```$");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern ANCHOR = Pattern.compile("<a id=\"([^\"]+)\"></a>");
    private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
    private static final Pattern FILE =
            Pattern.compile("(src|db|docs|k8s|\\.ci)/[\\w./-]*\\w|[\\w/]+\\.java");
    private static final Pattern CLASS = Pattern.compile("([A-Z][a-z0-9]+){2,}");
    private static final Pattern ARROW = Pattern.compile("(?m)^ +(\\w+) --> (\\w+)$");
    private static final Pattern PARTICIPANT =
            Pattern.compile("(?m)^ +participant (\\w+) as (.+)$");
    private static final Pattern CALL = Pattern.compile("(?m)^ +(\\w+)->>(\\w+):");

    private static final Pattern CITED =
            Pattern.compile("HTTP API\\s+(?:\\*\\s+)?section\\s+(?:\\*\\s+)?([\\d.]*\\d)");

    private static final Pattern NUMBERED = Pattern.compile("(?m)^#{2,3} ([\\d.]*\\d)\\.? ");

    private static final Pattern INSERTED_ISSUER =
            Pattern.compile("INSERT INTO broker\\.identity_provider \\(([^)]*)\\)");

    /** A comment on when to choose false. */
    private static final Pattern LISTED = Pattern.compile("(?s)-- listed: .{0,200}?false");

    /** Classes of Helidon's and of AWS's that pages talk about. */
    private static final Set<String> OF_LIBRARIES =
            Set.of(
                    "CredentialsEndpointProvider",
                    "DefaultAzureCredential",
                    "ErrorHandlers",
                    "Http1Connection",
                    "Http1HeadersParser",
                    "Http1Prologue",
                    "Http1ServerRequestWithEntity",
                    "InterruptableTask",
                    "ManagedIdentityCredential",
                    "UriPath");

    private static Map<Path, String> pages() throws IOException {
        Map<Path, String> pages = new HashMap<>();
        pages.put(Path.of("README.md"), Files.readString(TOP.resolve("README.md")));
        for (String folder : List.of("docs", "k8s")) {
            try (Stream<Path> files = Files.walk(Path.of(folder))) {
                for (Path file : files.filter(it -> it.toString().endsWith(".md")).toList()) {
                    pages.put(file, Files.readString(file));
                }
            }
        }
        return pages;
    }

    private static Stream<String> groups(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(found -> found.group(1));
    }

    @Test
    void lines_of_prose_have_at_most_a_hundred_columns() throws IOException {
        Set<String> tooLong = new TreeSet<>();
        pages().forEach((page, text) ->
                FENCED.matcher(text)
                        .replaceAll("")
                        .lines()
                        .filter(DocumentsTest::isProse)
                        .filter(line -> LONG_CODE.matcher(line).replaceAll("").length() > COLUMNS)
                        .forEach(line -> tooLong.add(page + ": " + line)));
        assertEquals(Set.of(), tooLong);
    }

    private static boolean isProse(String line) {
        return !line.startsWith("|") && !line.startsWith("    ");
    }

    @Test
    void links_lead_to_pages_and_headings_that_there_are() throws IOException {
        Map<Path, String> pages = pages();
        Set<String> broken = new TreeSet<>();
        pages.forEach((page, text) ->
                groups(LINK, FENCED.matcher(text).replaceAll(""))
                        .filter(link -> !link.contains("://"))
                        .filter(link -> !leadsSomewhere(page, link, pages))
                        .forEach(link -> broken.add(page + ": " + link)));
        assertEquals(Set.of(), broken);
    }

    private static boolean leadsSomewhere(Path page, String link, Map<Path, String> pages) {
        int hash = link.indexOf('#');
        String file = hash < 0 ? link : link.substring(0, hash);
        Path target = file.isEmpty() ? page : page.resolveSibling(file).normalize();
        if (hash < 0 || !pages.containsKey(target)) {
            return Files.exists(target);
        }
        return headings(pages.getOrDefault(target, "")).contains(link.substring(hash + 1));
    }

    /** As GitHub makes them, and those that a page sets itself. */
    private static Set<String> headings(String text) {
        return Stream.concat(
                        groups(ANCHOR, text),
                        text.lines()
                                .filter(line -> line.startsWith("#"))
                                .map(line ->
                                        line.replaceFirst("^#+ +", "").toLowerCase(Locale.ROOT))
                                .map(heading ->
                                        heading.replaceAll("[^\\p{L}\\p{N} _-]", "")
                                                .replace(' ', '-')))
                .collect(Collectors.toSet());
    }

    @Test
    void files_that_are_named_exist() throws IOException {
        Set<String> missing = new TreeSet<>();
        pages().forEach((page, text) ->
                groups(CODE, FENCED.matcher(text).replaceAll(""))
                        .filter(code -> FILE.matcher(code).matches())
                        .filter(code -> !exists(code))
                        .forEach(code -> missing.add(page + ": " + code)));
        assertEquals(Set.of(), missing);
    }

    private static boolean exists(String file) {
        return Stream.of("", "src/main/java/io/mintmark/", "src/test/java/io/mintmark/")
                .anyMatch(folder -> Files.exists(Path.of(folder + file)));
    }

    /** Third parties' names are in our sources too, as strings that are sent or expected. */
    @Test
    void classes_that_are_named_are_in_the_sources() throws IOException {
        Set<String> words = wordsOfTheSources();
        Set<String> unknown = new TreeSet<>();
        pages().forEach((page, text) ->
                groups(CODE, FENCED.matcher(text).replaceAll(""))
                        .filter(code -> CLASS.matcher(code).matches())
                        .filter(code -> !words.contains(code))
                        .filter(code -> !text.contains("public final class " + code))
                        .filter(code -> !OF_LIBRARIES.contains(code))
                        .forEach(code -> unknown.add(page + ": " + code)));
        assertEquals(Set.of(), unknown);
    }

    private static Set<String> wordsOfTheSources() throws IOException {
        return files("src", "db")
                .flatMap(file -> CLASS.matcher(text(file)).results().map(MatchResult::group))
                .collect(Collectors.toUnmodifiableSet());
    }

    private static Stream<Path> files(String... folders) throws IOException {
        List<Path> files = new ArrayList<>();
        for (String folder : folders) {
            try (Stream<Path> found = Files.walk(Path.of(folder))) {
                found.filter(Files::isRegularFile).forEach(files::add);
            }
        }
        return files.stream();
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(file.toString(), e);
        }
    }

    @Test
    void sections_of_the_http_api_that_comments_cite_are_on_its_page() throws IOException {
        Set<String> cited =
                files("src/main/java")
                        .flatMap(file -> groups(CITED, text(file)))
                        .collect(Collectors.toCollection(TreeSet::new));
        Set<String> numbered =
                groups(NUMBERED, Files.readString(Path.of("docs/reference/http-api.md")))
                        .collect(Collectors.toUnmodifiableSet());
        assertFalse(cited.isEmpty());
        cited.removeAll(numbered);
        assertEquals(Set.of(), cited);
    }

    /** Every part may use {@code base}, which is drawn without arrows. */
    @Test
    void the_drawn_parts_are_what_the_build_allows() throws IOException {
        Map<String, Set<String>> drawn = new TreeMap<>();
        PackagesTest.PARTS.keySet().forEach(part -> drawn.put(part, new TreeSet<>()));
        Matcher arrows = ARROW.matcher(Files.readString(Path.of("docs/internals/architecture.md")));
        while (arrows.find()) {
            drawn.computeIfAbsent(arrows.group(1), _ -> new TreeSet<>()).add(arrows.group(2));
        }
        Map<String, Set<String>> allowed = new TreeMap<>();
        PackagesTest.PARTS.forEach((part, others) -> allowed.put(part, new TreeSet<>(others)));
        allowed.values().forEach(others -> others.remove("base"));

        assertEquals(allowed, drawn);
    }

    /** Each package is listed without {@code io.mintmark}; pages and types of providers are one. */
    @Test
    void every_package_is_on_the_page_about_the_architecture() throws IOException {
        String page = Files.readString(Path.of("docs/internals/architecture.md"));
        Path root = Path.of("src/main/java/io/mintmark");
        Set<String> missing = new TreeSet<>();
        try (Stream<Path> files = Files.walk(root)) {
            files.filter(file -> file.endsWith("package-info.java"))
                    .map(file ->
                            root.relativize(Objects.requireNonNull(file.getParent()))
                                    .toString()
                                    .replace('/', '.'))
                    .filter(name -> !name.startsWith("console.pages."))
                    .filter(name -> !name.startsWith("provider.") || name.endsWith("identity"))
                    .filter(name -> !page.contains("`" + name + "`"))
                    .forEach(missing::add);
        }
        assertEquals(Set.of(), missing);
    }

    @Test
    void on_the_path_of_a_request_packages_call_only_those_that_they_may_use() throws IOException {
        String page = Files.readString(Path.of("docs/internals/architecture.md"));
        Map<String, String> participants =
                PARTICIPANT
                        .matcher(page)
                        .results()
                        .collect(Collectors.toMap(it -> it.group(1), it -> it.group(2)));
        Set<String> forbidden = new TreeSet<>();
        int calls = 0;
        Matcher call = CALL.matcher(page);
        while (call.find()) {
            calls++;
            String from = participants.getOrDefault(call.group(1), "");
            String to = participants.getOrDefault(call.group(2), "");
            if (isPackage(from) && isPackage(to) && !PackagesTest.mayUse(from, to)) {
                forbidden.add(from + " -> " + to);
            }
        }
        assertFalse(calls == 0);
        assertEquals(Set.of(), forbidden);
    }

    private static boolean isPackage(String participant) {
        return PackagesTest.PARTS.containsKey(participant.replaceFirst("[.].*", ""));
    }

    /** Whether a stranger may see a row is a choice, not a default. */
    @Test
    void every_statement_that_adds_an_identity_provider_says_whether_it_is_listed()
            throws IOException {
        int found = 0;
        for (String folder : List.of("docs", "db/recipes")) {
            try (Stream<Path> files = Files.walk(Path.of(folder))) {
                for (Path file : files.filter(DocumentsTest::isText).toList()) {
                    String text = Files.readString(file);
                    for (MatchResult insert : INSERTED_ISSUER.matcher(text).results().toList()) {
                        found++;
                        assertTrue(insert.group(1).contains("listed"), file::toString);
                        assertTrue(LISTED.matcher(text).find(), file::toString);
                    }
                }
            }
        }
        assertTrue(found > 2, "no statement was found");
    }

    private static boolean isText(Path file) {
        return file.toString().endsWith(".md") || file.toString().endsWith(".sql");
    }
}
