package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.http.connection.AnswerHold;
import io.mintmark.base.http.request.ClientAddresses;
import io.mintmark.base.http.request.RequestIds;
import io.mintmark.base.http.request.StandingHeaders;
import io.mintmark.base.limit.Network;
import io.mintmark.base.verdict.ApprovalRefusal;
import io.mintmark.base.verdict.LimitRefusal;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.Verdict;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Function;

/** Writes answers; the only place that does. */
final class Answers {
    static final Header JSON =
            HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "application/json");
    static final Header NOT_STORED =
            HeaderValues.createCached(HeaderNames.CACHE_CONTROL, "no-store");
    static final Header NOT_SNIFFED =
            HeaderValues.createCached(HeaderNames.create("X-Content-Type-Options"), "nosniff");

    private static final Duration SOON = Duration.ofSeconds(1);

    private final InstantSource clock;
    private final RequestListener listener;
    private final ClientAddresses addresses;
    private final ErrorPage page;

    /**
     * @param listener learns of refusals
     * @param addresses for which long answers count
     * @param page to which errors link
     */
    Answers(
            InstantSource clock,
            RequestListener listener,
            ClientAddresses addresses,
            ErrorPage page) {
        this.clock = clock;
        this.listener = listener;
        this.addresses = addresses;
        this.page = page;
    }

    /**
     * Credentials, or why there are none, in JSON.
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
     * The result of what is done by now, so that it is sent however many answers wait for their
     * clients.
     *
     * @param status of a success
     * @param body what a success looks like
     */
    <T> void sendDone(
            ServerRequest request,
            ServerResponse response,
            int status,
            Verdict<T> verdict,
            Function<T, ObjectNode> body,
            Function<Refusal, ErrorAnswer> error) {
        switch (verdict) {
            case Verdict.Passed<T>(T value) -> {
                response.header(NOT_STORED);
                sendAnyway(request, response, status, Content.json(body.apply(value)));
            }
            case Verdict.Refused<T>(Refusal refusal) ->
                    refuse(request, response, refusal, error.apply(refusal));
        }
    }

    /**
     * Credentials, or why there are none, in any format. They are on record by now, so they are
     * sent however many answers wait for their clients.
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
            case Verdict.Passed<T>(T value) -> {
                response.header(NOT_STORED);
                sendAnyway(request, response, 200, content.apply(value));
            }
            case Verdict.Refused<T>(Refusal refusal) ->
                    refuse(request, response, refusal, error.apply(refusal));
        }
    }

    private void sendAnyway(
            ServerRequest request, ServerResponse response, int status, Content content) {
        if (length(content) <= AnswerHold.LEAST) {
            write(response, status, content);
            return;
        }
        try (AnswerHold _ = AnswerHold.anyway(client(request), length(content))) {
            write(response, status, content);
        }
    }

    /**
     * What a token's owner may see, which may be long.
     *
     * @param body what a success looks like
     */
    <T> void sendPrivate(
            ServerRequest request,
            ServerResponse response,
            Verdict<T> verdict,
            Function<T, ObjectNode> body,
            Function<Refusal, ErrorAnswer> error) {
        switch (verdict) {
            case Verdict.Passed<T>(T value) -> {
                response.header(NOT_STORED);
                send(request, response, 200, Content.json(body.apply(value)));
            }
            case Verdict.Refused<T>(Refusal refusal) ->
                    refuse(request, response, refusal, error.apply(refusal));
        }
    }

    /** Sends a refusal in the protocol's form, and counts it. */
    void refuse(
            ServerRequest request, ServerResponse response, Refusal refusal, ErrorAnswer error) {
        listener.refused(refusal);
        LoggedCause.note(refusal);
        switch (refusal) {
            case LimitRefusal limit ->
                    StandingHeaders.add(request, response, RateLimits.headers(limit));
            case ApprovalRefusal.TooMany bound ->
                    StandingHeaders.add(request, response, RateLimits.headers(bound));
            default -> {
                // no limit
            }
        }
        send(request, response, error);
    }

    /** Sends a success that caches may store. */
    void send(ServerRequest request, ServerResponse response, JsonNode body) {
        send(request, response, 200, body);
    }

    void send(ServerRequest request, ServerResponse response, int status, JsonNode body) {
        send(request, response, status, Content.json(body));
    }

    /** Sends a success whose JSON is already written. */
    void send(ServerRequest request, ServerResponse response, String json) {
        send(request, response, 200, new Content(JSON, json.getBytes(StandardCharsets.UTF_8)));
    }

    private void send(ServerRequest request, ServerResponse response, int status, Content content) {
        if (length(content) <= AnswerHold.LEAST) {
            write(response, status, content);
            return;
        }
        Optional<AnswerHold> hold = AnswerHold.of(client(request), length(content));
        if (hold.isEmpty()) {
            send(request, response, tooManyUnread());
            return;
        }
        try (AnswerHold _ = hold.get()) {
            write(response, status, content);
        }
    }

    /**
     * A success that anybody may ask for, and that is in memory once for all who do: a client that
     * is slow to take it holds no more than a piece.
     */
    void sendShared(ServerRequest request, ServerResponse response, Content document) {
        Optional<AnswerHold> hold = AnswerHold.ofShared(client(request), document.bytes());
        if (hold.isEmpty()) {
            send(request, response, tooManyUnread());
            return;
        }
        try (AnswerHold _ = hold.get()) {
            writePieces(response, 200, document);
        }
    }

    private Network client(ServerRequest request) {
        return addresses.of(request).network();
    }

    private static long length(Content content) {
        return content.bytes().length;
    }

    private static ErrorBody tooManyUnread() {
        return new ErrorBody(
                503,
                "SERVICE_UNAVAILABLE",
                "Too many responses are waiting for slow clients to read them; try again in a second.",
                Json.object(),
                Optional.of(SOON));
    }

    private static void write(ServerResponse response, int status, Content content) {
        if (length(content) > AnswerHold.LEAST) {
            writePieces(response, status, content);
            return;
        }
        response.status(Status.create(status));
        response.header(content.type());
        response.header(NOT_SNIFFED);
        response.send(content.bytes());
    }

    /** The server copies what it is given, so it isn't given all of it at once. */
    private static void writePieces(ServerResponse response, int status, Content content) {
        byte[] bytes = content.bytes();
        response.status(Status.create(status));
        response.header(content.type());
        response.header(NOT_SNIFFED);
        response.contentLength(bytes.length);
        try (OutputStream out = response.outputStream()) {
            for (int at = 0; at < bytes.length; at += AnswerHold.PIECE) {
                out.write(bytes, at, Math.min(AnswerHold.PIECE, bytes.length - at));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** An error, in the words of the protocol that the request's path speaks. */
    void send(ServerRequest request, ServerResponse response, ErrorBody error) {
        LoggedCause.note(error);
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
        sendAnyway(
                request, response, error.status(), error.content(requestId, clock.instant(), page));
    }
}
