package io.mintmark.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;

import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;

/** Writes answers; the only place that does. */
final class Answers {
    private static final Header JSON =
            HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "application/json");
    private static final Header NOT_STORED =
            HeaderValues.createCached(HeaderNames.CACHE_CONTROL, "no-store");
    private static final Header NOT_SNIFFED =
            HeaderValues.createCached(HeaderNames.create("X-Content-Type-Options"), "nosniff");

    private final InstantSource clock;

    Answers(InstantSource clock) {
        this.clock = clock;
    }

    /** A success that anybody may keep. */
    void send(ServerResponse response, JsonNode body) {
        send(response, 200, body);
    }

    /** A success that nobody may keep: it shows credentials, or what somebody may have. */
    void sendPrivate(ServerResponse response, JsonNode body) {
        response.header(NOT_STORED);
        send(response, 200, body);
    }

    /** A success whose JSON is written already. */
    void send(ServerResponse response, String json) {
        send(response, 200, json.getBytes(StandardCharsets.UTF_8));
    }

    void send(ServerResponse response, int status, JsonNode body) {
        send(response, status, Json.write(body));
    }

    private static void send(ServerResponse response, int status, byte[] json) {
        response.status(Status.create(status));
        response.header(JSON);
        response.header(NOT_SNIFFED);
        response.send(json);
    }

    /** An error. Headers that filters set may be gone by now, so they are set again. */
    void send(ServerRequest request, ServerResponse response, ErrorBody error) {
        String requestId = RequestIds.of(request);
        response.header(RequestIds.HEADER, requestId);
        response.header(NOT_STORED);
        ObjectNode body = Json.object();
        body.put("error", error.code());
        body.put("message", error.message());
        if (!error.details().isEmpty()) {
            body.set("details", error.details());
        }
        body.put("requestId", requestId);
        error.retryAfter()
                .ifPresent(wait -> {
                    long seconds = Math.max(1, wait.toSeconds());
                    response.header(HeaderValues.create(HeaderNames.RETRY_AFTER, seconds));
                    body.put("retryAfter", seconds);
                });
        body.put("timestamp", clock.instant().truncatedTo(ChronoUnit.MILLIS).toString());
        send(response, error.status(), body);
    }
}
