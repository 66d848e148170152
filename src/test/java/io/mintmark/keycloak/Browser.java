package io.mintmark.keycloak;

import io.mintmark.Unchecked;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * As much of a browser as fills in forms. It sends every cookie back: Keycloak marks them as secure
 * on loopback addresses too, and Java's own cookie store would keep those for https.
 */
final class Browser implements AutoCloseable {
    private static final Pattern ACTION = Pattern.compile("<form[^>]*\\baction=\"([^\"]+)\"");
    private static final Pattern HIDDEN =
            Pattern.compile(
                    "<input[^>]*type=\"hidden\"[^>]*name=\"([^\"]+)\"[^>]*value=\"([^\"]*)\"");

    private final HttpClient client = HttpClient.newHttpClient();
    private final Map<String, String> cookies = new LinkedHashMap<>();
    private URI address = URI.create("about:blank");
    private String page = "";

    /** Opens an address, and goes where it leads. */
    Browser open(URI there) {
        return go(HttpRequest.newBuilder(there).GET(), there);
    }

    /** Sends the page's form with these fields besides the hidden ones. */
    Browser submit(Map<String, String> fields) {
        Matcher action = ACTION.matcher(page);
        if (!action.find()) {
            throw new AssertionError("no form on " + address + ": " + page);
        }
        Map<String, String> all = new LinkedHashMap<>();
        HIDDEN.matcher(page).results().forEach(field -> all.put(field.group(1), field.group(2)));
        all.putAll(fields);
        URI there = address.resolve(action.group(1).replace("&amp;", "&"));
        String form =
                all.entrySet().stream()
                        .map(field -> encoded(field.getKey()) + "=" + encoded(field.getValue()))
                        .collect(Collectors.joining("&"));
        return go(
                HttpRequest.newBuilder(there)
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(form)),
                there);
    }

    String page() {
        return page;
    }

    private Browser go(HttpRequest.Builder request, URI there) {
        HttpResponse<String> response = send(request);
        response.headers()
                .allValues("Set-Cookie")
                .forEach(cookie -> {
                    String[] pair = cookie.split(";", 2)[0].split("=", 2);
                    cookies.put(pair[0], pair[1]);
                });
        address = there;
        page = response.body();
        return response.headers()
                .firstValue("Location")
                .map(next -> open(there.resolve(next)))
                .orElse(this);
    }

    private HttpResponse<String> send(HttpRequest.Builder request) {
        if (!cookies.isEmpty()) {
            request.header(
                    "Cookie",
                    cookies.entrySet().stream()
                            .map(cookie -> cookie.getKey() + "=" + cookie.getValue())
                            .collect(Collectors.joining("; ")));
        }
        return Unchecked.call(() -> client.send(request.build(), BodyHandlers.ofString()));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        client.close();
    }
}
