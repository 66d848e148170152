package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;

/**
 * Requests that the document describes, and such as are a little off: one seed gives one sequence,
 * apart from the tokens in it.
 */
final class RandomRequests {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String[] ODD = {
        "",
        " ",
        "a",
        "0",
        "-1",
        "null",
        "true",
        "%00",
        "%zz",
        "%2e%2e",
        "..",
        "//",
        ";",
        "?",
        "#",
        "\\",
        "\"",
        "'",
        "<b>",
        "{",
        "[",
        "\u0000",
        "\r",
        "\n",
        "\t",
        "\u007f",
        "\u00ff",
        "\u00e4",
        "*",
        "api",
        "deploy",
        "1e999",
        "\\ud800",
        "\\u0000",
        "99999999999999999999"
    };
    private static final String[] METHODS = {
        "GET",
        "POST",
        "OPTIONS",
        "HEAD",
        "PUT",
        "DELETE",
        "PATCH",
        "TRACE",
        "CONNECT",
        "get",
        "BREW",
        "G\u00c4T",
        ""
    };
    private static final String[] HEADERS = {
        "Accept",
        "Accept-Encoding",
        "Authorization",
        "Connection",
        "Content-Encoding",
        "Content-Length",
        "Content-Type",
        "Cookie",
        "Expect",
        "Forwarded",
        "Host",
        "If-None-Match",
        "Range",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
        "User-Agent",
        "X-Forwarded-For",
        "X-HTTP-Method-Override",
        "HTTP2-Settings"
    };
    private static final String[] VALUES = {
        "gzip",
        "chunked",
        "close",
        "keep-alive",
        "Upgrade",
        "h2c",
        "websocket",
        "100-continue",
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=x",
        "text/plain",
        "*/*",
        "Bearer",
        "Bearer  ",
        "Basic YTpi",
        "bytes=0-1",
        "127.0.0.1",
        "AAMAAABkAARAAAAAAAIAAAAA",
        "5"
    };

    private final InterfaceDocument document;
    private final RandomGenerator random;
    private final List<String> lines;

    RandomRequests(InterfaceDocument document, RandomGenerator random) {
        this.document = document;
        this.random = random;
        this.lines =
                document.places().stream()
                        .map(InterfaceDocument.Place::name)
                        .filter(name -> name.contains(" "))
                        .toList();
    }

    /**
     * A request.
     *
     * @param line method and target
     * @param text all of it
     */
    record RandomRequest(String line, String text) {
        boolean isHead() {
            return line.startsWith("HEAD ");
        }
    }

    /** The next one. It is whole: whoever gets it needn't wait for more. */
    RandomRequest next(String token) {
        String line = line(token);
        StringBuilder head = new StringBuilder(line);
        head.append(rarely() ? " HTTP/" + one(ODD) : " HTTP/1.1").append("\r\n");
        if (!rarely()) {
            head.append("Host: localhost\r\n");
        }
        if (random.nextInt(3) > 0) {
            head.append("Authorization: Bearer ").append(rarely() ? garble(token) : token);
            head.append("\r\n");
        }
        for (String header : documentedHeaders()) {
            head.append(header).append("\r\n");
        }
        while (random.nextInt(4) == 0) {
            head.append(rarely() ? garble(one(HEADERS)) : one(HEADERS)).append(": ");
            head.append(random.nextBoolean() ? one(VALUES) : garble(one(VALUES))).append("\r\n");
        }
        String body = body(line, token);
        if (!body.isEmpty()) {
            head.append("Content-Type: application/json\r\n");
            head.append("Content-Length: ").append(body.length()).append("\r\n");
        }
        return new RandomRequest(line, head + "\r\n" + body);
    }

    private String line(String token) {
        String[] parts = one(lines).split(" ", -1);
        String method = random.nextInt(5) == 0 ? one(METHODS) : parts[0];
        String path = parts[1].replace("{tenant}", rarely() ? one(ODD) : "acme");
        if (rarely()) {
            path = garble(path);
        }
        if (random.nextInt(4) == 0) {
            path += "?" + (random.nextBoolean() ? "token=" + token : garble("token=a&b=c"));
        }
        return method + " " + path;
    }

    private List<String> documentedHeaders() {
        List<String> headers = new ArrayList<>();
        JsonNode parameters = document.at("/components/parameters");
        for (JsonNode parameter : parameters) {
            if (parameter.path("in").asText().equals("header") && random.nextInt(3) == 0) {
                String value = parameter.path("example").asText();
                headers.add(
                        parameter.path("name").asText()
                                + ": "
                                + (rarely() ? garble(value) : value));
            }
        }
        return headers;
    }

    private String body(String line, String token) {
        boolean expected = line.toLowerCase(Locale.ROOT).startsWith("post");
        if (random.nextInt(10) == 0 ? expected : !expected) {
            return "";
        }
        JsonNode schema = document.at("/components/schemas/MintRequest");
        String body = value(schema, 0).toString().replace("TOKEN", token);
        return rarely() ? garble(body) : body;
    }

    /** Mostly what a schema says. */
    private JsonNode value(JsonNode schema, int depth) {
        JsonNode known = document.resolved(schema);
        if (random.nextInt(12) == 0) {
            return anything(depth);
        }
        return switch (known.path("type").asText()) {
            case "object" -> object(known, depth);
            case "array" -> array(known, depth);
            case "string" ->
                    known.path("format").asText().equals("jwt")
                            ? JSON.getNodeFactory().textNode("TOKEN")
                            : name();
            default -> anything(depth);
        };
    }

    private ObjectNode object(JsonNode schema, int depth) {
        ObjectNode object = JSON.createObjectNode();
        schema.path("properties")
                .properties()
                .forEach(member -> {
                    if (!rarely()) {
                        object.set(member.getKey(), value(member.getValue(), depth + 1));
                    }
                });
        if (rarely()) {
            object.set(one(ODD), anything(depth));
        }
        return object;
    }

    private ArrayNode array(JsonNode schema, int depth) {
        ArrayNode array = JSON.createArrayNode();
        int size = random.nextInt(rarely() ? 20 : 3);
        for (int i = 0; i < size; i++) {
            array.add(value(schema.path("items"), depth + 1));
        }
        return array;
    }

    private JsonNode name() {
        String[] names = {"api", "deploy", "spare", "nothing"};
        return JSON.getNodeFactory().textNode(one(names));
    }

    private JsonNode anything(int depth) {
        return switch (random.nextInt(depth > 40 ? 4 : 6)) {
            case 0 -> JSON.nullNode();
            case 1 -> JSON.getNodeFactory().booleanNode(random.nextBoolean());
            case 2 -> JSON.getNodeFactory().numberNode(random.nextLong());
            case 3 -> JSON.getNodeFactory().textNode(one(ODD));
            case 4 -> JSON.createArrayNode().add(anything(depth + 1));
            default -> JSON.createObjectNode().set(one(ODD), anything(depth + 1));
        };
    }

    /** The same with something cut out, put in, or said again and again. */
    private String garble(String text) {
        int from = random.nextInt(text.length() + 1);
        int to = from + random.nextInt(text.length() - from + 1);
        String middle =
                switch (random.nextInt(4)) {
                    case 0 -> "";
                    case 1 -> one(ODD);
                    case 2 -> text.substring(from, to).repeat(1 + random.nextInt(50));
                    default -> Character.toString(random.nextInt(256)) + text.substring(from, to);
                };
        return text.substring(0, from) + middle + text.substring(to);
    }

    private boolean rarely() {
        return random.nextInt(8) == 0;
    }

    private String one(String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private String one(List<String> choices) {
        return choices.get(random.nextInt(choices.size()));
    }
}
