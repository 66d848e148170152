package io.mintmark.base.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

class RequestLineTest {
    private static Optional<RequestLine> read(String line) {
        return RequestLine.of(line.getBytes(StandardCharsets.ISO_8859_1), false);
    }

    private static String understood(String line) {
        return read(line)
                .map(it -> new String(it.inOriginForm(), StandardCharsets.ISO_8859_1))
                .orElse("");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1",
                "M-SEARCH /a HTTP/1.1",
                "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF / HTTP/1.1",
                "GET /a/b;c=d/%41~!$&'()*+,=:@ HTTP/1.1",
                "GET /health?x=a:b HTTP/1.1",
                "GET /?abc123-._~%41!$&'()*+,;=:@/? HTTP/1.1",
                "GET /? HTTP/1.1",
                "GET // HTTP/1.1",
                "OPTIONS * HTTP/1.1",
            })
    void a_line_of_rfc_9112_is_taken_as_it_is(String line) {
        assertEquals(line, understood(line));
        assertEquals(Optional.empty(), read(line).orElseThrow().target().authority());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ' ',
            value = {
                "http://localhost / localhost",
                "http://localhost/ / localhost",
                "HTTP://localhost:8080/health /health localhost:8080",
                "https://a.example/health?x=a:b /health?x=a:b a.example",
                "http://a.example?x=//b /?x=//b a.example",
                "http://a.example//b //b a.example",
                "http://[::1]:80/a /a [::1]:80",
                "http://127.0.0.1/http://b /http://b 127.0.0.1",
            })
    void a_target_in_absolute_form_is_split_into_authority_and_path(
            String target, String path, String authority) {
        String line = "GET %s HTTP/1.1".formatted(target);

        assertEquals("GET %s HTTP/1.1".formatted(path), understood(line));
        assertEquals(Optional.of(authority), read(line).orElseThrow().target().authority());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "GET",
                "GET ",
                "GET HTTP/1.1",
                "GET  HTTP/1.1",
                "GET /",
                "GET / HTTP/1.0",
                "GET / HTTP/1.1 ",
                "GET / http/1.1",
                "GET  / HTTP/1.1",
                "GET /a b HTTP/1.1",
                " GET / HTTP/1.1",
                "get / HTTP/1.1",
                "GeT / HTTP/1.1",
                "G3T / HTTP/1.1",
                "-GET / HTTP/1.1",
                "GET- / HTTP/1.1",
                "A--B / HTTP/1.1",
                "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1",
                "GET\t/ HTTP/1.1",
                "GET a HTTP/1.1",
                "GET localhost:80 HTTP/1.1",
                "CONNECT localhost:80 HTTP/1.1",
                "GET * HTTP/1.1",
                "OPTIONS ** HTTP/1.1",
                "GET /# HTTP/1.1",
                "GET /a#b HTTP/1.1",
                "GET /% HTTP/1.1",
                "GET /%4 HTTP/1.1",
                "GET /%4g HTTP/1.1",
                "GET /[ HTTP/1.1",
                "GET /\\ HTTP/1.1",
                "GET /\u00e9 HTTP/1.1",
                "GET /?% HTTP/1.1",
                "GET /?%zz HTTP/1.1",
                "GET /?[ HTTP/1.1",
                "GET /?\" HTTP/1.1",
                "GET /?| HTTP/1.1",
                "GET /?\t HTTP/1.1",
                "GET http: HTTP/1.1",
                "GET http:/a HTTP/1.1",
                "GET http:// HTTP/1.1",
                "GET http:///a HTTP/1.1",
                "GET http://:80/a HTTP/1.1",
                "GET http://a:/ HTTP/1.1",
                "GET http://a:b/ HTTP/1.1",
                "GET http://a:65536/ HTTP/1.1",
                "GET http://a:+80/ HTTP/1.1",
                "GET http://user@a/ HTTP/1.1",
                "GET http://user:secret@a/ HTTP/1.1",
                "GET http://[::1/ HTTP/1.1",
                "GET http://[::1]a/ HTTP/1.1",
                "GET http://[1.2.3.4]/ HTTP/1.1",
                "GET http://[:::]/ HTTP/1.1",
                "GET http://a#b HTTP/1.1",
                "GET http://a/%zz HTTP/1.1",
                "GET ftp://a/ HTTP/1.1",
                "GET ://a/ HTTP/1.1",
            })
    void any_other_line_is_refused(String line) {
        assertEquals(Optional.empty(), read(line));
    }

    @Test
    void what_the_server_takes_long_over_is_bounded() {
        String path = "/" + ";".repeat(RequestTarget.LONGEST_PATH - 1);
        String query = "/?" + "&".repeat(RequestTarget.MOST_PARAMETERS - 1);

        assertTrue(read("GET " + path + " HTTP/1.1").isPresent());
        assertTrue(read("GET " + path + "; HTTP/1.1").isEmpty());
        assertTrue(read("GET " + query + " HTTP/1.1").isPresent());
        assertTrue(read("GET " + query + "& HTTP/1.1").isEmpty());
    }

    @Test
    void a_port_with_its_own_check_of_queries_takes_more_in_them_and_nowhere_else() {
        for (String query : new String[] {"%", "[a]", "\"<a>\"", "a|b", "\\"}) {
            byte[] line = ("GET /?" + query + " HTTP/1.1").getBytes(StandardCharsets.ISO_8859_1);
            assertTrue(RequestLine.of(line, true).isPresent(), query);
        }
        for (String target : new String[] {"/[a]", "/%", "/?a#b", "/?a b", "/?\u00e9", "/?\t"}) {
            byte[] line = ("GET " + target + " HTTP/1.1").getBytes(StandardCharsets.ISO_8859_1);
            assertTrue(RequestLine.of(line, true).isEmpty(), target);
        }
    }
}
