package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.http.request.RequestIds;
import io.mintmark.base.http.request.StandingHeaders;
import io.mintmark.base.verdict.LimitRefusal;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.Verdict;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.function.Function;

/** Writes answers; the only place that does. */
final class Answers {
    static final Header JSON =
            HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "application/json");
    static final Header NOT_STORED =
            HeaderValues.createCached(HeaderNames.CACHE_CONTROL, "no-store");
    static final Header NOT_SNIFFED =
            HeaderValues.createCached(HeaderNames.create("X-Content-Type-Options"), "nosniff");

    private static final int PIECE = 16 << 10;

    private final InstantSource clock;
    private final RequestListener listener;

    /**
     * @param listener learns of refusals
     */
    Answers(InstantSource clock, RequestListener listener) {
        this.clock = clock;
        this.listener = listener;
    }

    /**
     * What the use case decided, in JSON.
     *
     * @param body what a success looks like
     */
    <T> void send(
            ServerRequest request,
            ServerResponse response,
            Verdict<T> verdict,
            Function<T, ObjectNode> body,
            Function<Refusal, ErrorAnswer> error) {
        sendContent(request, response, verdict, body.andThen(Content::json), error);
    }

    /**
     * What the use case decided, in any format.
     *
     * @param content what a success looks like
     */
    <T> void sendContent(
            ServerRequest request,
            ServerResponse response,
            Verdict<T> verdict,
            Function<T, Content> content,
            Function<Refusal, ErrorAnswer> error) {
        switch (verdict) {
            case Verdict.Passed<T>(T value) -> sendPrivate(response, content.apply(value));
            case Verdict.Refused<T>(Refusal refusal) ->
                    refuse(request, response, refusal, error.apply(refusal));
        }
    }

    /** A refusal, which is counted, as the protocol says it. */
    void refuse(
            ServerRequest request, ServerResponse response, Refusal refusal, ErrorAnswer error) {
        listener.refused(refusal);
        if (refusal instanceof LimitRefusal limit) {
            StandingHeaders.add(request, response, RateLimits.headers(limit));
        }
        send(request, response, error);
    }

    /** A success that caches may store. */
    void send(ServerResponse response, JsonNode body) {
        send(response, 200, body);
    }

    /** A success that no cache may store, because it contains credentials or permissions. */
    private void sendPrivate(ServerResponse response, Content content) {
        response.header(NOT_STORED);
        send(response, content.type(), content.bytes());
    }

    /** A success whose JSON is written already. */
    void send(ServerResponse response, String json) {
        send(response, 200, json.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * A success whose JSON may be long. It is sent in pieces, so that a client that is slow to take
     * it doesn't keep a copy of the whole in memory.
     */
    void sendLong(ServerResponse response, byte[] json) {
        response.status(Status.OK_200);
        response.header(JSON);
        response.header(NOT_SNIFFED);
        response.contentLength(json.length);
        try (OutputStream out = response.outputStream()) {
            for (int at = 0; at < json.length; at += PIECE) {
                out.write(json, at, Math.min(PIECE, json.length - at));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A success that isn't JSON. */
    void send(ServerResponse response, Header contentType, byte[] content) {
        send(response, 200, contentType, content);
    }

    void send(ServerResponse response, int status, JsonNode body) {
        send(response, status, Json.write(body));
    }

    private static void send(ServerResponse response, int status, byte[] json) {
        send(response, status, JSON, json);
    }

    private static void send(
            ServerResponse response, int status, Header contentType, byte[] content) {
        response.status(Status.create(status));
        response.header(contentType);
        response.header(NOT_SNIFFED);
        response.send(content);
    }

    /** An error, in the words of the protocol that the request's path speaks. */
    void send(ServerRequest request, ServerResponse response, ErrorBody error) {
        send(request, response, Protocol.of(request.path().path()).answer(error));
    }

    /** An error. Headers that filters set may be gone by now, so they are set again. */
    void send(ServerRequest request, ServerResponse response, ErrorAnswer error) {
        String requestId = RequestIds.of(request);
        StandingHeaders.repeat(request, response);
        response.header(NOT_STORED);
        error.retryAfterSeconds()
                .ifPresent(wait ->
                        response.header(HeaderValues.create(HeaderNames.RETRY_AFTER, wait)));
        Content content = error.content(requestId, clock.instant());
        send(response, error.status(), content.type(), content.bytes());
    }
}
