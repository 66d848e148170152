package io.mintmark.provider.gcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;

/**
 * A call as it came in.
 *
 * @param reason the header that Google's audit logs keep
 */
public record GoogleCall(
        String path, Optional<String> authorization, Optional<String> reason, JsonNode body) {

    static GoogleCall read(HttpExchange exchange) throws IOException, GoogleRefusal {
        String type = header(exchange, "Content-Type").orElse("");
        if (!exchange.getRequestMethod().equals("POST") || !type.startsWith("application/json")) {
            throw GoogleRefusal.rpc(404, "NOT_FOUND", "Method not found.");
        }
        return new GoogleCall(
                exchange.getRequestURI().toString(),
                header(exchange, "Authorization"),
                header(exchange, "X-Goog-Request-Reason"),
                json(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
    }

    /** A field, empty if it isn't there. */
    public String text(String name) {
        return body.path(name).asText();
    }

    /** Google's JSON has no room for fields that it doesn't know. */
    void hasOnly(Set<String> names) throws GoogleRefusal {
        for (var field : body.properties()) {
            if (!names.contains(field.getKey())) {
                throw GoogleRefusal.invalid(
                        "Invalid JSON payload received. Unknown name \"%s\": Cannot find field."
                                .formatted(field.getKey()));
            }
        }
    }

    private static Optional<String> header(HttpExchange exchange, String name) {
        return Optional.ofNullable(exchange.getRequestHeaders().getFirst(name));
    }

    private static JsonNode json(String text) throws GoogleRefusal {
        try {
            return new ObjectMapper().readTree(text);
        } catch (JsonProcessingException e) {
            throw GoogleRefusal.invalid("Invalid JSON payload received.");
        }
    }
}
