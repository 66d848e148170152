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
import java.util.List;
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
        /** Withdraws a request of the viewer's own. */
        WITHDRAW,
        /** Ends the access of another person's request. */
        END;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        private String verdict() {
            return this == END ? WITHDRAW.word() : word();
        }
    }

    /** The broker's response to a decision, or to a request for access. */
    sealed interface Outcome {
        /** The broker did it. */
        record Done(String request) implements Outcome {}

        /**
         * The broker didn't do it, or didn't say that it did.
         *
         * @param status for the page
         * @param sentence what the broker says, for people
         * @param advice what to do about it
         * @param needsLogin whether it works after another login
         */
        record Failed(int status, String sentence, String advice, boolean needsLogin)
                implements Outcome {
            Failed(int status, String sentence, String advice) {
                this(status, sentence, advice, false);
            }

            /** The console has no broker to ask. */
            static Failed withoutBroker() {
                return new Failed(
                        409,
                        "This console does not know the broker's URL, so it can't send anything to the broker.",
                        "Use a command below, or ask an operator to set BROKER_URL for the console.");
            }
        }
    }

    /**
     * Requests access to a key. A lost answer does no harm: the broker makes the same request once.
     *
     * @param reason as the viewer wrote it
     */
    Outcome ask(Secret idToken, String key, String reason, Duration access) {
        ObjectNode body =
                JsonNodeFactory.instance
                        .objectNode()
                        .put("reason", reason)
                        .put("seconds", access.toSeconds());
        body.putArray("keys").add(key);
        OutboundRequest wanted =
                OutboundRequest.json(broker + "/access-requests", body.toString(), idToken);
        try {
            Reply reply = http.post(wanted.authorized(idToken), TIMEOUT);
            return reply.isSuccess()
                    ? made(reply.answer().listed("requests", "id"))
                    : failed(reply, "Nothing was requested. Correct the form, and send it again.");
        } catch (OutboundFailure e) {
            return unanswered(
                    e,
                    "Send the form again. If the broker has the request already, it does not make a second one.");
        }
    }

    private static Outcome made(List<String> requests) {
        return requests.size() == 1
                ? new Outcome.Done(requests.getFirst())
                : new Outcome.Failed(
                        502,
                        "The broker did not say which request it made.",
                        "Your requests are listed under Requests.");
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
                    case APPROVE, REFUSE, END ->
                            OutboundRequest.json(
                                    one + "/decision", body(choice, note, revisions), idToken);
                    case WITHDRAW -> OutboundRequest.deletion(one);
                };
        try {
            Reply reply = http.post(wanted.authorized(idToken), TIMEOUT);
            return reply.isSuccess()
                    ? new Outcome.Done(request.toString())
                    : failed(
                            reply,
                            "Nothing was changed. This page shows the state of the request now.");
        } catch (OutboundFailure e) {
            return unanswered(
                    e,
                    "This page shows the state of the request now. Try again if it is still"
                            + " pending, or use a command below.");
        }
    }

    private static Outcome.Failed unanswered(OutboundFailure failure, String advice) {
        return new Outcome.Failed(
                502, "The broker could not be asked: %s.".formatted(failure.getMessage()), advice);
    }

    private static String body(Choice choice, String note, Optional<JsonNode> revisions) {
        ObjectNode body =
                JsonNodeFactory.instance
                        .objectNode()
                        .put("verdict", choice.verdict())
                        .put("note", note);
        revisions.ifPresent(shown -> body.set("revisions", shown));
        return body.toString();
    }

    private static Outcome.Failed failed(Reply reply, String advice) {
        String words =
                reply.answer()
                        .words("message")
                        .orElse("The broker answered with status %d.".formatted(reply.status()));
        if (reply.status() == UNAUTHORIZED) {
            return new Outcome.Failed(
                    403,
                    "The broker does not accept the token of your session: " + words,
                    "Log out and in again. If that changes nothing, use a command below, and tell a"
                            + " platform admin.");
        }
        if (reply.answer().words("details", "reason").equals(Optional.of("token_not_fresh"))) {
            return new Outcome.Failed(reply.status(), words, "Nothing was decided yet.", true);
        }
        return reply.status() >= SERVER_ERROR
                ? new Outcome.Failed(502, "The broker failed: " + words, "Try again in a moment.")
                : new Outcome.Failed(reply.status(), words, advice);
    }
}
