package io.mintmark.console.pages.frame;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Status;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.http.request.RequestIds;
import io.mintmark.base.sql.QuestionFailed;
import io.mintmark.console.Viewer;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.console.verification.Alarm;
import io.mintmark.console.verification.Proof;

import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads a page's data with its viewer's permissions, and renders it. */
public final class Rendering {
    private static final Header HTML =
            HeaderValues.create(HeaderNames.CONTENT_TYPE, "text/html; charset=utf-8");

    private final ViewerDatabase database;
    private final Proof proof;
    private final Map<String, CredentialType> types;
    private final List<URI> otherCells;
    private final InstantSource clock;
    private final Templates templates = new Templates();

    /** Reads the content of a page from the database. */
    public interface Page {
        View view(Connection connection, ServerRequest request, Instant now) throws SQLException;
    }

    /** A page, and what all pages show of the database. */
    private record Seen(View view, boolean all, Optional<Alarm> alarm) {}

    /**
     * Answers with what a database holds.
     *
     * @param proof the verification whose failure all pages show
     * @param types the types of credentials that this release knows, by name
     * @param otherCells the URLs of the consoles of other cells
     */
    public Rendering(
            ViewerDatabase database,
            Proof proof,
            Map<String, CredentialType> types,
            List<URI> otherCells,
            InstantSource clock) {
        this.database = database;
        this.proof = proof;
        this.types = types;
        this.otherCells = List.copyOf(otherCells);
        this.clock = clock;
    }

    /** The handler of a page's path. */
    public Handler page(Page page) {
        return (request, response) -> answer(page, request, response);
    }

    /** Answers a request with a page, or with the redirection that the page asks for. */
    public void answer(Page page, ServerRequest request, ServerResponse response) {
        Instant now = clock.instant();
        Viewer viewer = viewer(request);
        Seen seen = database.read(viewer, connection -> seen(page, connection, request, now));
        if (seen.view().model() instanceof View.Elsewhere elsewhere) {
            redirect(response, elsewhere.address());
            return;
        }
        response.status(Status.create(seen.view().status()))
                .header(HTML)
                .send(templates.page(frame(seen, viewer, request, now), seen.view()));
    }

    /** Redirects to another page, which the browser then requests with GET. */
    public static void redirect(ServerResponse response, String address) {
        response.status(Status.SEE_OTHER_303).header(HeaderNames.LOCATION, address).send();
    }

    private Seen seen(Page page, Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        boolean all = Visibility.seesAll(connection);
        Optional<Alarm> alarm = Alarm.of(connection, proof.conclusive());
        if (request.path().path().indexOf('\0') >= 0) {
            return new Seen(View.nowhere(), all, alarm);
        }
        try {
            return new Seen(page.view(connection, request, now), all, alarm);
        } catch (Parameters.Unusable | QuestionFailed e) {
            String sentence = String.valueOf(e.getMessage());
            return new Seen(
                    View.wrong(sentence, "Correct the URL or the form, or go back."), all, alarm);
        }
    }

    private Frame frame(Seen seen, Viewer viewer, ServerRequest request, Instant now) {
        String[] parts = request.path().path().split("/", 3);
        return new Frame(
                seen.view().title(),
                parts.length > 1 ? parts[1] : "",
                Optional.of(viewer.name()),
                seen.all(),
                now,
                RequestIds.of(request),
                seen.alarm(),
                types,
                otherCells);
    }

    /** The viewer; an exception without one, so that nothing is shown. */
    public static Viewer viewer(ServerRequest request) {
        return request.context()
                .get(Viewer.class)
                .orElseThrow(
                        () -> new IllegalStateException("the request has no logged-in viewer"));
    }
}
