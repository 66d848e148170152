package io.mintmark.provider.gcp;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Secret;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.Step;
import io.mintmark.provider.web.Step.Done;
import io.mintmark.provider.web.Step.Stopped;

/** Asks services of Google's in JSON. */
final class GoogleCalls {
    /**
     * Cloud Audit Logs keep it as {@code requestMetadata.requestAttributes.reason} ("System
     * parameters" of Google Cloud's APIs).
     */
    private static final String REASON = "X-Goog-Request-Reason";

    private final Calls calls;

    GoogleCalls(Calls calls) {
        this.calls = calls;
    }

    /**
     * Asks without saying who asks, which the token service insists on.
     *
     * @param shown the token in the question
     */
    Step<Reply> ask(
            Secret shown, Endpoint endpoint, String path, ObjectNode body, MintOrder order) {
        return ask(
                OutboundRequest.json(endpoint.below(path), body.toString(), shown),
                endpoint,
                order);
    }

    /** Sends a request that is authorized by a token. */
    Step<Reply> askWith(
            Secret bearer, Endpoint endpoint, String path, ObjectNode body, MintOrder order) {
        return ask(
                OutboundRequest.json(endpoint.below(path), body.toString(), bearer)
                        .authorized(bearer),
                endpoint,
                order);
    }

    private Step<Reply> ask(OutboundRequest question, Endpoint endpoint, MintOrder order) {
        OutboundRequest post = question.with(REASON, order.mintId());
        return calls.post(order, endpoint, () -> post).then(reply -> succeeded(reply, endpoint));
    }

    private static Step<Reply> succeeded(Reply reply, Endpoint endpoint) {
        if (reply.isSuccess()) {
            return new Done<>(reply);
        }
        GoogleError error = GoogleError.of(reply);
        return new Stopped<>(Calls.failed(error.meaning(), error.quote(), endpoint));
    }
}
