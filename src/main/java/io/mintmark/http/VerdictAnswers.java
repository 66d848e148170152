package io.mintmark.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
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
     * @param body what a success looks like
     * @param error what a refusal looks like
     */
    <T> void send(
            ServerRequest request,
            ServerResponse response,
            Verdict<T> verdict,
            Function<T, ObjectNode> body,
            Function<Refusal, ErrorAnswer> error) {
        switch (verdict) {
            case Verdict.Passed<T>(T value) -> answers.sendPrivate(response, body.apply(value));
            case Verdict.Refused<T>(Refusal refusal) -> {
                listener.refused(refusal);
                answers.send(request, response, error.apply(refusal));
            }
        }
    }
}
