package io.mintmark.console.pages.requests;

import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.console.SessionToken;
import io.mintmark.console.Viewer;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.Rendering;
import io.mintmark.console.pages.requests.BrokerRoutes.Outcome;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.Optional;

/**
 * The form by which a viewer requests access. The request goes to the broker with the viewer's own
 * token: the console has no right to make one.
 */
public final class AskRoutes {
    private static final Logger log = LoggerFactory.getLogger(AskRoutes.class);

    private final Rendering rendering;
    private final Optional<BrokerRoutes> broker;

    /**
     * @param broker where requests are sent; none if the page shows a command instead
     */
    public AskRoutes(Rendering rendering, Optional<BrokerRoutes> broker) {
        this.rendering = rendering;
        this.broker = broker;
    }

    /** The page at {@code /requests/new}. */
    public void show(ServerRequest request, ServerResponse response) {
        rendering.answer(
                (connection, asked, _) ->
                        AskPage.view(
                                connection,
                                broker.isPresent(),
                                AskPage.Form.of(new Parameters(asked)),
                                Optional.empty()),
                request,
                response);
    }

    /** The form. A request that was made leads to its page. */
    public void ask(ServerRequest request, ServerResponse response) {
        Viewer viewer = Rendering.viewer(request);
        AskPage.Form form = AskPage.Form.of(Parameters.ofForm(request));
        switch (outcome(request, form)) {
            case Outcome.Done(String made) -> {
                log.info("{} asked for access: request {}", viewer.name(), made);
                Rendering.redirect(response, Links.request(made));
            }
            case Outcome.Failed failed -> {
                log.info("{} could not ask for access: {}", viewer.name(), failed.sentence());
                rendering.answer(
                        (connection, _, _) ->
                                AskPage.view(
                                        connection,
                                        broker.isPresent(),
                                        form.ofAllKeys(),
                                        Optional.of(failed)),
                        request,
                        response);
            }
        }
    }

    private Outcome outcome(ServerRequest request, AskPage.Form form) {
        String key = RequestRoutes.required(form.key(), "The form names no key.");
        Duration access =
                Duration.ofMinutes(
                        RequestRoutes.required(
                                form.minutes(), "The form does not say for how many minutes."));
        Optional<SessionToken> session = request.context().get(SessionToken.class);
        return broker.isEmpty() || session.isEmpty()
                ? Outcome.Failed.withoutBroker()
                : broker.get().ask(session.get().idToken(), key, form.reason().orElse(""), access);
    }
}
