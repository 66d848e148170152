package io.mintmark.console;

import io.mintmark.Unchecked;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * As much of a browser as keeps cookies and follows redirects. It sends every cookie back, the
 * secure ones too, which Java's own store would keep for https.
 */
public final class CookieJar implements AutoCloseable {
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Map<String, String> cookies = new LinkedHashMap<>();
    private final List<URI> visited = new ArrayList<>();
    private int longestHeaders;

    /** Asks for one address, and goes nowhere else. */
    public HttpResponse<String> get(String address, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address)).GET();
        if (headers.length > 0) {
            request.headers(headers);
        }
        return send(request);
    }

    HttpResponse<String> post(String address, String... headers) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(address)).POST(BodyPublishers.noBody());
        if (headers.length > 0) {
            request.headers(headers);
        }
        return send(request);
    }

    /** Submits a form of a page, as browsers do. */
    HttpResponse<String> submit(String address, String form, String... headers) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(address))
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(form));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return send(request);
    }

    /** Goes on wherever it is sent. */
    public HttpResponse<String> open(String address) {
        HttpResponse<String> response = get(address);
        for (int hops = 0; response.statusCode() / 100 == 3 && hops < 10; hops++) {
            response = get(response.uri().resolve(location(response)).toString());
        }
        return response;
    }

    /** Where an answer sends a browser. */
    public static String location(HttpResponse<?> response) {
        return response.headers().firstValue("Location").orElseThrow();
    }

    /** The addresses that were asked for, in order. */
    List<URI> visited() {
        return List.copyOf(visited);
    }

    Map<String, String> cookies() {
        return cookies;
    }

    /** The value of one that is there. */
    String cookie(String name) {
        return Optional.ofNullable(cookies.get(name)).orElseThrow();
    }

    private HttpResponse<String> send(HttpRequest.Builder request) {
        if (!cookies.isEmpty()) {
            request.header(
                    "Cookie",
                    cookies.entrySet().stream()
                            .map(cookie -> cookie.getKey() + "=" + cookie.getValue())
                            .collect(Collectors.joining("; ")));
        }
        return Unchecked.call(() -> {
            HttpResponse<String> response = client.send(request.build(), BodyHandlers.ofString());
            visited.add(response.uri());
            longestHeaders = Math.max(longestHeaders, bytesOfHeaders(response));
            response.headers().allValues("Set-Cookie").forEach(this::keep);
            return response;
        });
    }

    private static int bytesOfHeaders(HttpResponse<?> response) {
        return response.headers().map().entrySet().stream()
                .flatMap(header ->
                        header.getValue().stream().map(value -> header.getKey() + ": " + value))
                .mapToInt(line -> line.length() + 2)
                .sum();
    }

    /** The headers of the answer that had most of them, in bytes. */
    int longestHeaders() {
        return longestHeaders;
    }

    private void keep(String cookie) {
        String[] pair = cookie.split(";", 2)[0].split("=", 2);
        if (cookie.contains("Max-Age=0") || cookie.contains("1 Jan 1970")) {
            cookies.remove(pair[0]);
        } else {
            cookies.put(pair[0], pair[1]);
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
