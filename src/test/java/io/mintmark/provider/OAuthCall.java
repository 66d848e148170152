package io.mintmark.provider;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A request that a token endpoint was sent. */
public record OAuthCall(
        String path, Map<String, List<String>> headers, Map<String, String> parameters) {
    private static final TypeReference<Map<String, String>> TEXTS = new TypeReference<>() {};

    /**
     * Refuses what RFC 6749 section 3.2 forbids: not POST, not a form, a parameter twice.
     *
     * @param json whether it must be a JSON object of texts instead of a form
     */
    static OAuthCall read(HttpExchange exchange, boolean json) throws IOException, OAuthRefusal {
        byte[] body = exchange.getRequestBody().readAllBytes();
        if (!exchange.getRequestMethod().equals("POST")) {
            throw OAuthRefusal.invalid("only POST");
        }
        String mediaType = json ? "application/json" : "application/x-www-form-urlencoded";
        if (!mediaType.equals(exchange.getRequestHeaders().getFirst("Content-Type"))) {
            throw OAuthRefusal.invalid("only " + mediaType);
        }
        if (exchange.getRequestURI().getRawQuery() != null) {
            throw OAuthRefusal.invalid("parameters in the query");
        }
        return new OAuthCall(
                exchange.getRequestURI().getRawPath(),
                Map.copyOf(exchange.getRequestHeaders()),
                json
                        ? new ObjectMapper().readValue(body, TEXTS)
                        : parameters(new String(body, StandardCharsets.US_ASCII)));
    }

    private static Map<String, String> parameters(String body) throws OAuthRefusal {
        Map<String, String> parameters = new LinkedHashMap<>();
        for (String pair : body.split("&", -1)) {
            int equals = pair.indexOf('=');
            if (equals < 1 || equals == pair.length() - 1) {
                throw OAuthRefusal.invalid("a parameter without a name or a value");
            }
            String name = decoded(pair.substring(0, equals));
            if (parameters.put(name, decoded(pair.substring(equals + 1))) != null) {
                throw OAuthRefusal.invalid("the parameter %s twice".formatted(name));
            }
        }
        return parameters;
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    public Optional<String> parameter(String name) {
        return Optional.ofNullable(parameters.get(name));
    }

    /** A parameter that must be there. */
    public String required(String name) throws OAuthRefusal {
        return parameter(name).orElseThrow(() -> OAuthRefusal.invalid(name + " is missing"));
    }

    /** The only header of that name, if there is one. */
    public Optional<String> header(String name) {
        return headers.entrySet().stream()
                .filter(header -> header.getKey().equalsIgnoreCase(name))
                .map(header -> String.join(", ", header.getValue()))
                .findFirst();
    }
}
