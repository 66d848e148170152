package io.mintmark.console;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.audit.text.VisibleText;
import io.mintmark.base.http.request.RequestIds;
import io.mintmark.base.http.request.StandingHeaders;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A message outside of any page: a user isn't logged in, has no access, or something failed. All
 * text is escaped.
 *
 * @param title what happened, in a few words
 * @param sentence the same, in one sentence
 * @param advice what to do about it
 * @param facts names and values, such as the user's claims
 * @param statement SQL to copy; blank for none
 * @param link where to continue, with its text; optional
 * @param pages the navigation of pages; none where the user may not be logged in
 */
record Notice(
        int status,
        String title,
        String sentence,
        String advice,
        Map<String, String> facts,
        String statement,
        List<Link> link,
        List<Link> pages) {
    private static final List<Link> PAGES =
            List.of(
                    new Link("Overview", "/"),
                    new Link("Mints", "/mints"),
                    new Link("Subjects", "/subjects"),
                    new Link("Tenants", "/tenants"),
                    new Link("Reviews", "/reviews"),
                    new Link("Requests", "/requests"),
                    new Link("Explain", "/explain"));

    private static final Header HTML =
            HeaderValues.create(HeaderNames.CONTENT_TYPE, "text/html; charset=utf-8");

    private static final Header SOON = HeaderValues.create(HeaderNames.RETRY_AFTER, "5");

    record Link(String text, String address) {}

    static Notice of(int status, String title, String sentence, String advice) {
        return new Notice(status, title, sentence, advice, Map.of(), "", List.of(), List.of());
    }

    Notice withLink(String text, String address) {
        return new Notice(
                status,
                title,
                sentence,
                advice,
                facts,
                statement,
                List.of(new Link(text, address)),
                pages);
    }

    /** Adds the navigation to the page. */
    Notice withPages() {
        return new Notice(status, title, sentence, advice, facts, statement, link, PAGES);
    }

    /** The response headers; with {@code Retry-After} if the failure is temporary. */
    List<Header> headers() {
        return status == Status.SERVICE_UNAVAILABLE_503.code()
                ? List.of(HTML, SOON)
                : List.of(HTML);
    }

    void send(ServerRequest request, ServerResponse response) {
        StandingHeaders.repeat(request, response);
        headers().forEach(response::header);
        response.status(Status.create(status))
                .send(html(RequestIds.of(request)).getBytes(StandardCharsets.UTF_8));
    }

    String html(String requestId) {
        List<String> parts = new ArrayList<>();
        parts.add(
                """
                <!doctype html>
                <html lang="en"><head><meta charset="utf-8"><title>%1$s · Mintmark</title>
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="color-scheme" content="light dark">
                <link rel="stylesheet" href="/style/pico.css">
                <link rel="stylesheet" href="/style/console.css">
                <link rel="icon" href="/style/mark.svg" type="image/svg+xml"></head>
                <body>%4$s<main><h1>%1$s</h1><p>%2$s</p><p>%3$s</p>
                """
                        .formatted(escaped(title), escaped(sentence), escaped(advice), header()));
        if (!facts.isEmpty()) {
            parts.add("<table><thead><tr><th>Claim</th><th>Value</th></tr></thead><tbody>");
            facts.forEach((name, value) ->
                    parts.add(
                            "<tr><td><code>%s</code></td><td><code>%s</code></td></tr>\n"
                                    .formatted(escaped(name), escaped(value))));
            parts.add("</tbody></table>");
        }
        if (!statement.isEmpty()) {
            parts.add("<pre tabindex=\"0\"><code>%s</code></pre>".formatted(escaped(statement)));
        }
        for (Link next : link) {
            parts.add(
                    "<p><a href=\"%s\">%s</a></p>"
                            .formatted(escaped(next.address()), escaped(next.text())));
        }
        parts.add(
                "<footer><small>Request <code>%s</code></small></footer></main></body></html>\n"
                        .formatted(escaped(requestId)));
        return String.join("", parts);
    }

    private String header() {
        String navigation =
                pages.isEmpty()
                        ? ""
                        : pages.stream()
                                .map(page ->
                                        "<a href=\"%s\">%s</a>"
                                                .formatted(page.address(), page.text()))
                                .collect(
                                        Collectors.joining(
                                                "\n", "<nav aria-label=\"Pages\">", "</nav>"));
        return """
        <header><a class="brand" href="/"><img src="/style/mark.svg" alt="" width="28" height="28"> Mintmark</a>
        %s</header>
        """
                .formatted(navigation);
    }

    /**
     * Escapes a text for content and quoted attributes. An invisible character is shown as its
     * number.
     */
    static String escaped(String text) {
        StringBuilder html = new StringBuilder(text.length());
        VisibleText.inLines(text)
                .codePoints()
                .forEach(point -> {
                    switch (point) {
                        case '&' -> html.append("&amp;");
                        case '<' -> html.append("&lt;");
                        case '>' -> html.append("&gt;");
                        case '"' -> html.append("&quot;");
                        case '\'' -> html.append("&#39;");
                        default -> html.appendCodePoint(point);
                    }
                });
        return html.toString();
    }
}
