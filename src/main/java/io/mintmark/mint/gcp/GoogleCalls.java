package io.mintmark.mint.gcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.mint.Endpoint;
import io.mintmark.mint.MintOrder;
import io.mintmark.mint.web.Calls;
import io.mintmark.mint.web.Step;
import io.mintmark.mint.web.Step.Done;
import io.mintmark.mint.web.Step.Stopped;
import io.mintmark.outbound.Post;
import io.mintmark.outbound.Reply;
import io.mintmark.outbound.Secret;
import io.mintmark.verdict.MintRefusal.Reason;

import java.util.HashMap;
import java.util.Map;

/** Asks services of Google's in JSON and reads their answers. */
final class GoogleCalls {
    /**
     * Cloud Audit Logs keep it as {@code requestMetadata.requestAttributes.reason} ("System
     * parameters" of Google Cloud's APIs).
     */
    private static final String REASON = "X-Goog-Request-Reason";

    private static final int OK = 200;

    private final Calls calls;
    private final ObjectMapper json = new ObjectMapper();

    GoogleCalls(Calls calls) {
        this.calls = calls;
    }

    /**
     * Asks without saying who asks, which the token service insists on.
     *
     * @param shown the token in the question, which an answer might quote
     */
    Step<JsonNode> ask(
            Secret shown, Endpoint endpoint, String path, ObjectNode body, MintOrder order) {
        return ask(Map.of(), shown, endpoint, path, body, order);
    }

    /** Asks as whom the token belongs to. */
    Step<JsonNode> askWith(
            Secret bearer, Endpoint endpoint, String path, ObjectNode body, MintOrder order) {
        Secret authorization = new Secret("Bearer " + bearer.reveal());
        return ask(Map.of("Authorization", authorization), bearer, endpoint, path, body, order);
    }

    private Step<JsonNode> ask(
            Map<String, Secret> authorization,
            Secret shown,
            Endpoint endpoint,
            String path,
            ObjectNode body,
            MintOrder order) {
        Map<String, Secret> headers = new HashMap<>(authorization);
        headers.put(REASON, new Secret(order.mintId().toString()));
        Post post =
                new Post(
                        endpoint.below(path),
                        "application/json",
                        new Secret(body.toString()),
                        headers);
        return calls.post(endpoint, post, order.deadline())
                .then(reply -> read(reply, shown, endpoint));
    }

    private Step<JsonNode> read(Reply reply, Secret shown, Endpoint endpoint) {
        JsonNode answer = parsed(reply);
        if (reply.status() != OK) {
            GoogleError error = GoogleError.of(reply.status(), answer);
            return new Stopped<>(
                    Calls.failed(
                            error.meaning(),
                            error.quote().replace(shown.reveal(), "[token]"),
                            endpoint));
        }
        return answer.isObject()
                ? new Done<>(answer)
                : new Stopped<>(
                        Calls.failed(
                                Reason.PROVIDER_ERROR, "the answer isn't a JSON object", endpoint));
    }

    private JsonNode parsed(Reply reply) {
        try {
            return json.readTree(reply.body().reveal());
        } catch (JsonProcessingException e) {
            // what it says may quote the answer
            return MissingNode.getInstance();
        }
    }
}
