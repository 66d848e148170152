package io.mintmark.console.pages.requests;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Secret;

import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/**
 * The broker's routes for requests of access, called with the token of the viewer's session. The
 * broker decides who the viewer is and what they may do; the console only passes on the choice.
 */
public final class BrokerRoutes {
    private static final Duration TIMEOUT = Duration.ofSeconds(8);
    private static final int UNAUTHORIZED = 401;
    private static final int SERVER_ERROR = 500;

    private final URI broker;
    private final GuardedHttp http;

    /**
     * @param broker its URL; no trailing slash
     */
    public BrokerRoutes(URI broker, GuardedHttp http) {
        this.broker = broker;
        this.http = http;
    }

    /** A viewer's decision. */
    enum Choice {
        APPROVE,
        REFUSE,
        WITHDRAW;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The broker's response to a decision. */
    sealed interface Outcome {
        /** The broker did it. */
        record Done() implements Outcome {}

        /**
         * The broker didn't do it, or didn't say that it did.
         *
         * @param status for the page
         * @param sentence what the broker says, for people
         * @param advice what to do about it
         */
        record Failed(int status, String sentence, String advice) implements Outcome {}
    }

    /**
     * Passes a choice on.
     *
     * @param note of up to 1,000 characters; may be empty
     * @param revisions of the rows that the viewer was shown
     */
    Outcome send(
            Secret idToken,
            UUID request,
            Choice choice,
            String note,
            Optional<JsonNode> revisions) {
        String one = broker + "/access-requests/" + request;
        OutboundRequest wanted =
                switch (choice) {
                    case APPROVE, REFUSE ->
                            OutboundRequest.json(
                                    one + "/decision", body(choice, note, revisions), idToken);
                    case WITHDRAW -> OutboundRequest.deletion(one);
                };
        try {
            Reply reply = http.post(wanted.authorized(idToken), TIMEOUT);
            return reply.isSuccess() ? new Outcome.Done() : failed(reply);
        } catch (OutboundFailure e) {
            return new Outcome.Failed(
                    502,
                    "The broker could not be asked: %s.".formatted(e.getMessage()),
                    "This page shows the state of the request now. Try again if it is still"
                            + " pending, or use a command below.");
        }
    }

    private static String body(Choice choice, String note, Optional<JsonNode> revisions) {
        ObjectNode body =
                JsonNodeFactory.instance
                        .objectNode()
                        .put("verdict", choice.word())
                        .put("note", note);
        revisions.ifPresent(shown -> body.set("revisions", shown));
        return body.toString();
    }

    private static Outcome.Failed failed(Reply reply) {
        String words =
                reply.answer()
                        .words("message")
                        .orElse("It answered with status %d.".formatted(reply.status()));
        if (reply.status() == UNAUTHORIZED) {
            return new Outcome.Failed(
                    403,
                    "The broker does not accept the token of your session: " + words,
                    "Log out and in again. If that changes nothing, use a command below, and tell a"
                            + " platform admin.");
        }
        return reply.status() >= SERVER_ERROR
                ? new Outcome.Failed(502, "The broker failed: " + words, "Try again in a moment.")
                : new Outcome.Failed(
                        reply.status(),
                        words,
                        "Nothing was changed. This page shows the state of the request now.");
    }
}
