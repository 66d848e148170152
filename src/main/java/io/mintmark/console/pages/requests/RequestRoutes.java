package io.mintmark.console.pages.requests;

import com.fasterxml.jackson.databind.JsonNode;

import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.json.StrictJson;
import io.mintmark.console.SessionToken;
import io.mintmark.console.Viewer;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.Rendering;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.requests.BrokerRoutes.Choice;
import io.mintmark.console.pages.requests.BrokerRoutes.Outcome;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/**
 * The page of requests and its forms. A form's choice goes to the broker with the viewer's own
 * token: the console has no right to decide.
 */
public final class RequestRoutes {
    private static final Logger log = LoggerFactory.getLogger(RequestRoutes.class);

    private static final int LONGEST_REVISIONS = 200;

    private final Rendering rendering;
    private final Optional<BrokerRoutes> broker;

    /**
     * @param broker where choices are sent; none if the page shows commands instead
     */
    public RequestRoutes(Rendering rendering, Optional<BrokerRoutes> broker) {
        this.rendering = rendering;
        this.broker = broker;
    }

    /** The page at {@code /requests}. */
    public void show(ServerRequest request, ServerResponse response) {
        rendering.answer(
                (connection, asked, _) -> RequestsPage.view(connection, asked, broker.isPresent()),
                request,
                response);
    }

    /** The page at {@code /requests/{id}}. */
    public void showOne(ServerRequest request, ServerResponse response) {
        Optional<UUID> id = Parameters.uuid(request.path().pathParameters().get("id"));
        rendering.answer(
                (connection, _, _) ->
                        id.isPresent()
                                ? RequestsPage.one(connection, id.get(), broker.isPresent())
                                : View.absent("request for access"),
                request,
                response);
    }

    /** A form of the page. After a choice that was made it leads to the request. */
    public void decide(ServerRequest request, ServerResponse response) {
        Viewer viewer = Rendering.viewer(request);
        Parameters form = Parameters.ofForm(request);
        UUID id = required(form.id("id"), "The form names no request.");
        Choice choice = choice(form.text("verdict"));
        Optional<JsonNode> shown = form.text("revisions").map(RequestRoutes::revisions);
        switch (outcome(request, id, choice, form.text("note").orElse(""), shown)) {
            case Outcome.Done(String made) -> {
                log.info("{} chose {} for request {}", viewer.name(), choice.word(), id);
                Rendering.redirect(response, Links.request(made));
            }
            case Outcome.Failed failed -> {
                log.info(
                        "{} could not {} request {}: {}",
                        viewer.name(),
                        choice.word(),
                        id,
                        failed.sentence());
                rendering.answer(
                        (connection, _, _) -> RequestsPage.failed(connection, viewer, failed, id),
                        request,
                        response);
            }
        }
    }

    private Outcome outcome(
            ServerRequest request, UUID id, Choice choice, String note, Optional<JsonNode> shown) {
        Optional<SessionToken> session = request.context().get(SessionToken.class);
        if (broker.isEmpty() || session.isEmpty()) {
            return Outcome.Failed.withoutBroker();
        }
        return broker.get().send(session.get().idToken(), id, choice, note, shown);
    }

    private static JsonNode revisions(String shown) {
        return required(
                StrictJson.value(shown.getBytes(StandardCharsets.UTF_8), LONGEST_REVISIONS),
                "The form's revisions are not JSON.");
    }

    private static Choice choice(Optional<String> word) {
        String chosen = required(word, "The form has no verdict.");
        for (Choice choice : Choice.values()) {
            if (choice.word().equals(chosen.toLowerCase(Locale.ROOT))) {
                return choice;
            }
        }
        throw new Parameters.Unusable("The verdict must be approve, refuse, withdraw or end.");
    }

    static <T> T required(Optional<T> value, String otherwise) {
        return value.orElseThrow(() -> new Parameters.Unusable(otherwise));
    }
}
