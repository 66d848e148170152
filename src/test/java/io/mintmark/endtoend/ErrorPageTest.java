package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Errors link to their row of docs/errors.md, and each of them has one. */
class ErrorPageTest {
    private static final String PAGE = "https://git.example.com/mintmark/docs/errors.md";

    /** Of an error's reason or code; the others have a hyphen or a digit. */
    private static final Pattern ANCHOR = Pattern.compile("<a id=\"([a-z_]+)\"></a>");

    private static final Pattern ROW_WITHOUT_ANCHOR =
            Pattern.compile("(?m)^\\| (?!you see|the message has|<a id=\"[a-z0-9_-]+\"></a>).*");
    private static final Pattern WORD = Pattern.compile("[a-z][a-z0-9_]*");
    private static final Pattern TEXT =
            Pattern.compile("(?m)^\\| <a id=\"[^\"]+\"></a>(\\*.+?\\*) \\|");
    private static final Pattern SAID = Pattern.compile("\\*([^*]+)\\*");

    private static TestDatabase database;
    private static RunningBroker broker;

    @BeforeAll
    static void start() {
        database = TestDatabase.migrated();
        broker = RunningBroker.on(database, Map.of("BROKER_ERROR_PAGE", PAGE));
    }

    @AfterAll
    static void stop() {
        broker.close();
        database.close();
    }

    private static String page() throws IOException {
        return Files.readString(Path.of("docs", "errors.md"));
    }

    private static Set<String> anchors() throws IOException {
        return ANCHOR.matcher(page())
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void an_error_links_to_its_reason_or_else_to_its_code() {
        assertEquals(
                PAGE + "#no_token_provided", broker.post("{\"keys\": [\"k\"]}").at("/doc_url"));
        assertEquals(PAGE + "#malformed_jwt", broker.mint("x", "k").at("/doc_url"));
        assertEquals(PAGE + "#invalid_request", broker.post("{}").at("/doc_url"));
    }

    @Test
    void an_oauth_client_gets_its_own_field() throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request =
                    HttpRequest.newBuilder(broker.url().resolve("/oauth2/token"))
                            .header("Content-Type", "application/x-www-form-urlencoded")
                            .POST(BodyPublishers.ofString("grant_type=x"))
                            .build();
            String body = client.send(request, BodyHandlers.ofString()).body();
            assertTrue(body.contains("\"error_uri\":\"" + PAGE + "#"), body);
            assertFalse(body.contains("doc_url"), body);
        }
    }

    @Test
    void what_never_reaches_a_route_links_too() throws IOException {
        URI url = broker.url();
        try (Socket socket = new Socket(url.getHost(), url.getPort())) {
            socket.getOutputStream()
                    .write("GET / HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            String answer =
                    new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(answer.contains("\"doc_url\":\"" + PAGE + "#invalid_request\""), answer);
        }
    }

    @Test
    void without_the_setting_errors_link_nowhere() {
        try (RunningBroker plain = RunningBroker.on(database)) {
            assertTrue(plain.mint("x", "k").body().path("doc_url").isMissingNode());
        }
    }

    /** Of every reason that openapi.yaml names, and of every error that it shows. */
    @Test
    void each_error_has_a_row_and_each_row_an_error() throws IOException {
        Set<String> needed = new TreeSet<>();
        errors().forEach(error -> needed.add(anchor(error)));
        reasons(document(), needed);
        // the mint's code, which always has a reason beside it
        needed.add("credential_mint_failed");
        Set<String> rows = anchors();
        assertEquals(needed, rows);
    }

    @Test
    void each_row_can_be_linked_to() throws IOException {
        assertEquals(
                List.of(),
                ROW_WITHOUT_ANCHOR.matcher(page()).results().map(MatchResult::group).toList());
    }

    /** Quoted parts of messages of 503 are those of messages that there are. */
    @Test
    void each_temporary_failure_is_on_the_page() throws IOException {
        String page = page();
        String later = page.substring(page.indexOf("\n## 503"), page.indexOf("\n## 400"));
        List<String> parts =
                TEXT.matcher(later)
                        .results()
                        .flatMap(row -> SAID.matcher(row.group(1)).results())
                        .flatMap(said -> List.of(said.group(1).split("…")).stream())
                        .map(String::strip)
                        .toList();
        Set<String> missing = new TreeSet<>();
        errors().stream()
                .filter(error -> "SERVICE_UNAVAILABLE".equals(error.get("error")))
                .map(error -> String.valueOf(error.get("message")))
                .filter(message -> parts.stream().noneMatch(message::contains))
                .forEach(missing::add);
        assertTrue(parts.size() > 10, parts::toString);
        assertEquals(Set.of(), missing);
    }

    /** Quoted parts of all messages of the broker, which are in its code or in its functions. */
    @Test
    void each_quoted_message_is_in_the_source() throws IOException {
        String page = page();
        String rows = page.substring(page.indexOf("\n## 401"), page.indexOf("\n## The client's"));
        String messages = messages();
        List<String> quoted =
                rows.lines()
                        .filter(line -> line.startsWith("| "))
                        .map(line -> line.split("\\|", -1)[1])
                        .flatMap(seen -> SAID.matcher(seen).results())
                        .flatMap(said -> List.of(said.group(1).split("…")).stream())
                        .map(String::strip)
                        .toList();
        assertTrue(quoted.size() > 60, quoted::toString);
        assertEquals(List.of(), quoted.stream().filter(part -> !messages.contains(part)).toList());
    }

    /** Java's literals, joined, and SQL's. */
    private static String messages() throws IOException {
        StringBuilder all = new StringBuilder();
        for (Path folder : List.of(Path.of("src", "main", "java"), Path.of("db", "migration"))) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                    all.append(
                            Files.readString(file)
                                    .replaceAll("\"\\s*\\+\\s*\"", "")
                                    .replace("\\\"", "\"")
                                    .replace("''", "'"));
                }
            }
        }
        return all.toString();
    }

    private static String anchor(Map<?, ?> error) {
        Object details = error.get("details");
        String reason = details instanceof Map<?, ?> map ? String.valueOf(map.get("reason")) : "";
        return !reason.equals("null") && WORD.matcher(reason).matches()
                ? reason
                : String.valueOf(error.get("error")).toLowerCase(Locale.ROOT);
    }

    /** The example bodies with a code of the interface. */
    private static List<Map<?, ?>> errors() throws IOException {
        List<Map<?, ?>> found = new ArrayList<>();
        collect(document(), found);
        assertTrue(found.size() > 50, () -> found.size() + " examples");
        return found;
    }

    private static Object document() throws IOException {
        return new Yaml().load(Files.readString(Path.of("docs", "openapi.yaml")));
    }

    /** The values that schemas allow for a property {@code reason}. */
    private static void reasons(Object node, Set<String> found) {
        switch (node) {
            case Map<?, ?> map -> {
                if (map.get("reason") instanceof Map<?, ?> schema) {
                    if (schema.get("enum") instanceof List<?> words) {
                        words.forEach(word -> found.add(String.valueOf(word)));
                    } else if (schema.get("const") instanceof String word) {
                        found.add(word);
                    }
                }
                map.values().forEach(value -> reasons(value, found));
            }
            case List<?> list -> list.forEach(value -> reasons(value, found));
            case null, default -> {
                // a leaf
            }
        }
    }

    private static void collect(Object node, List<Map<?, ?>> found) {
        switch (node) {
            case Map<?, ?> map -> {
                if (map.get("error") instanceof String code
                        && code.equals(code.toUpperCase(Locale.ROOT))
                        && map.containsKey("requestId")) {
                    found.add(map);
                }
                map.values().forEach(value -> collect(value, found));
            }
            case List<?> list -> list.forEach(value -> collect(value, found));
            case null, default -> {
                // a leaf
            }
        }
    }
}
