package io.mintmark.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.verdict.LimitRefusal;
import io.mintmark.verdict.Refusal;
import io.mintmark.verdict.Verdict;

import java.util.function.Function;

/** Answers with what the use case decided. */
final class VerdictAnswers {
    private final Answers answers;
    private final RequestListener listener;

    VerdictAnswers(Answers answers, RequestListener listener) {
        this.answers = answers;
        this.listener = listener;
    }

    /**
     * Answers in JSON.
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
     * Answers in any format.
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
            case Verdict.Passed<T>(T value) -> answers.sendPrivate(response, content.apply(value));
            case Verdict.Refused<T>(Refusal refusal) -> {
                listener.refused(refusal);
                if (refusal instanceof LimitRefusal limit) {
                    StandingHeaders.add(request, response, RateLimits.headers(limit));
                }
                answers.send(request, response, error.apply(refusal));
            }
        }
    }
}
