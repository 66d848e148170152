package io.mintmark.provider.sts;

import com.sun.net.httpserver.HttpExchange;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A call as it came in.
 *
 * @param path as it was sent
 * @param authorization the header
 * @param parameters of the form
 */
public record StsCall(String path, Optional<String> authorization, Map<String, String> parameters) {

    static StsCall read(HttpExchange exchange) throws IOException, StsRefusal {
        String type =
                Optional.ofNullable(exchange.getRequestHeaders().getFirst("Content-Type"))
                        .orElse("");
        if (!exchange.getRequestMethod().equals("POST")
                || !type.startsWith("application/x-www-form-urlencoded")) {
            throw new StsRefusal(404, "InvalidAction", "only forms are read here");
        }
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        Map<String, String> parameters = new LinkedHashMap<>();
        Arrays.stream(body.split("&"))
                .map(pair -> pair.split("=", 2))
                .forEach(pair -> parameters.put(pair[0], decode(pair[1])));
        return new StsCall(
                exchange.getRequestURI().getRawPath(),
                Optional.ofNullable(exchange.getRequestHeaders().getFirst("Authorization")),
                parameters);
    }

    /** A parameter, if it was given. */
    public Optional<String> parameter(String name) {
        return Optional.ofNullable(parameters.get(name));
    }

    /** A parameter that must be there. */
    String required(String name) throws StsRefusal {
        return parameter(name)
                .filter(value -> !value.isEmpty())
                .orElseThrow(() ->
                        StsRefusal.validation(
                                "1 validation error detected: Value null at '%s' failed to satisfy constraint: Member must not be null"
                                        .formatted(name)));
    }

    private static String decode(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
