package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Every path has one spelling; what the server would take for it too is no path. */
class PathSpellingsTest {
    private static final String ORIGIN = "https://app.example";

    @AutoClose private static World world;

    @BeforeAll
    static void start() {
        world =
                new World(
                        Map.of(
                                "CORS_ALLOWED_ORIGINS", ORIGIN,
                                "RATE_LIMIT_ENABLED", "true",
                                "RATE_LIMIT_REQUESTS", "100000",
                                "RATE_LIMIT_BURST", "100000"));
    }

    /** All there are, with the method that each has. */
    private static Stream<Map.Entry<String, String>> paths() {
        return Stream.of(Routes.METHODS, Routes.METHODS_OF_PROTOCOLS)
                .flatMap(paths -> paths.entrySet().stream())
                .map(path ->
                        Map.entry(
                                path.getKey()
                                        .replace("{tenant}", "acme")
                                        .replace("{provider}", "tls")
                                        .replace("{key}", "api")
                                        .replace("{id}", "7c9e6679-7425-40de-944b-e07fc1f90ae7"),
                                path.getValue().replaceAll(",.*", "")));
    }

    private static List<String> spellings(String path) {
        return Stream.of(segments(path), escapes(path), foreign(path))
                .flatMap(List::stream)
                .toList();
    }

    /** Empty, dotted and with parameters; a slash too many or too few. */
    private static List<String> segments(String path) {
        int second = path.indexOf('/', 1);
        String head = path.substring(0, second < 0 ? path.length() : second);
        String tail = path.substring(head.length());
        return List.of(
                "/" + path,
                "//" + path,
                path.substring(1),
                path + "/",
                path + "//",
                head + "/" + tail + "/",
                path + ";x=y",
                path + ";",
                head + ";x" + tail + ";",
                "/;x" + path,
                "/." + path,
                path + "/.",
                head + "/." + tail + "/.",
                "/x/.." + path,
                "/.." + path,
                path + "/x/..",
                path + "/..",
                path + "/..;" + path);
    }

    private static List<String> escapes(String path) {
        String first = Integer.toHexString(path.charAt(1));
        String rest = path.substring(2);
        int end = path.length() - 1;
        String last = path.substring(0, end) + "%" + Integer.toHexString(path.charAt(end));
        return List.of(
                "/%2e" + path,
                "/x/%2e%2e" + path,
                "/x/%2E." + path,
                "/%2f" + path,
                "%2f" + path.substring(1),
                "/%" + first + rest,
                "/%25" + first + rest,
                "/%c1%" + first + rest,
                last,
                path + "%",
                path + "%zz",
                path + "%00",
                path + "%20",
                path + "%09",
                path + "%0d%0aX:y",
                path + "%3f",
                path + "%23",
                path + "%3bx",
                path + "%2f");
    }

    private static List<String> foreign(String path) {
        return List.of(
                "http:" + path,
                "ftp://localhost" + path,
                "http://user@localhost" + path,
                "x" + path,
                path + "#x",
                path + "+",
                path + "*",
                path + ",",
                path + ":",
                path + "@",
                path + "~",
                path + "\\",
                "/\\" + path.substring(1),
                path.replace("/", "\\"),
                path + "\u00e9",
                path + "\u0001",
                path + "\t",
                path.toUpperCase(Locale.ROOT));
    }

    private static RawAnswer send(String method, String target) throws IOException {
        try (RawClient client = new RawClient(world.broker().url().getPort())) {
            client.trySending(
                    "%s %s HTTP/1.1\r\nHost: localhost\r\nOrigin: %s\r\nAuthorization: Bearer %s\r\nContent-Length: 0\r\n\r\n"
                            .formatted(method, target, ORIGIN, world.token()));
            return client.answer();
        }
    }

    /** How many denials of paths that are none have been counted. */
    private static long strays() {
        URI metrics =
                URI.create(
                        "http://localhost:%d/observe/metrics"
                                .formatted(world.broker().adminPort()));
        return world.broker()
                .send(HttpRequest.newBuilder(metrics).header("Accept", "text/plain").GET())
                .response()
                .body()
                .lines()
                .filter(line -> line.startsWith("mintmark_requests_total{route=\"none\""))
                .filter(line -> line.contains("status=\"404\"") || line.contains("status=\"403\""))
                .mapToLong(line ->
                        (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    @Test
    void whatever_isnt_spelt_as_the_interface_spells_it_is_no_path_and_is_counted_as_none()
            throws IOException {
        long before = strays();
        long unknown = 0;
        for (Map.Entry<String, String> path : paths().toList()) {
            for (String spelling : spellings(path.getKey())) {
                if (spelling.equals(StsRoute.PATH_OF_SDKS)) {
                    continue;
                }
                RawAnswer answer = send(path.getValue(), spelling);
                assertTrue(isError(answer), spelling);
                assertFalse(answer.header("x-request-id").isEmpty(), spelling);
                if (isUnknown(path.getKey(), answer.status())) {
                    assertFalse(answer.header("x-ratelimit-limit").isEmpty(), spelling);
                    unknown++;
                } else {
                    assertEquals(400, answer.status(), spelling);
                }
            }
        }
        long after = before + unknown;
        Eventually.holds(() -> strays() == after);
    }

    private static boolean isError(RawAnswer answer) throws IOException {
        return answer.header("content-type").equals("text/xml")
                ? answer.body().startsWith("<ErrorResponse ")
                : answer.json().hasNonNull("error");
    }

    /** S3 tools take 404 for theirs. */
    private static boolean isUnknown(String path, int status) {
        return status == 404 || (status == 403 && path.startsWith(AwsSdkRoute.PREFIX));
    }

    /** RFC 9112 section 3.2.2. */
    @Test
    void a_path_behind_a_scheme_and_a_host_is_that_path() throws IOException {
        for (Map.Entry<String, String> path : paths().toList()) {
            for (String host : List.of("http://localhost", "HTTPS://other.example:8443")) {
                assertEquals(
                        send(path.getValue(), path.getKey()).status(),
                        send(path.getValue(), host + path.getKey()).status(),
                        host + path.getKey());
            }
        }
        assertEquals(404, send("GET", "http://localhost").status());
        assertEquals(404, send("GET", "http://localhost//health").status());
        assertEquals(200, send("GET", "http://localhost/health?x=a:b").status());
    }

    @Test
    void a_mint_at_such_a_path_mints_nothing() throws IOException {
        String body = "{\"keys\":[\"api\"]}";
        for (String spelling : List.of("//credentials/mint", "/credentials/%6dint")) {
            try (RawClient client = new RawClient(world.broker().url().getPort())) {
                client.send(
                        "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                                .formatted(spelling, world.token(), body.length(), body));
                assertEquals(404, client.answer().status(), spelling);
            }
        }
        assertEquals(List.of(), world.audited("true"));
    }

    @Test
    void the_paths_themselves_are_served_whatever_their_query() throws IOException {
        for (Map.Entry<String, String> path : paths().toList()) {
            for (String query : List.of("", "?", "?a=//b/../%2e;c")) {
                RawAnswer answer = send(path.getValue(), path.getKey() + query);
                assertFalse(
                        List.of(400, 404).contains(answer.status())
                                && !path.getKey().startsWith("/sdk/")
                                && !path.getKey().startsWith("/sign/")
                                && !path.getKey().startsWith("/access-requests/")
                                && !path.getKey().endsWith("/oauth-protected-resource")
                                && !path.getKey().endsWith("rl"),
                        path + query);
            }
        }
    }
}
