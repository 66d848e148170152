package io.mintmark.console.pages;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Status;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.console.ReadingFailed;
import io.mintmark.console.Viewer;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.http.RequestIds;
import io.mintmark.postgres.QuestionFailed;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/** Reads what a page shows with its viewer's eyes, and answers with it, or with why it can't. */
final class Rendering {
    private static final Logger log = LoggerFactory.getLogger(Rendering.class);

    private static final Header HTML =
            HeaderValues.create(HeaderNames.CONTENT_TYPE, "text/html; charset=utf-8");

    private final ViewerDatabase database;
    private final InstantSource clock;
    private final Templates templates = new Templates();

    /** What a page shows, of what is in the database. */
    interface Page {
        View view(Connection connection, ServerRequest request, Instant now) throws SQLException;
    }

    Rendering(ViewerDatabase database, InstantSource clock) {
        this.database = database;
        this.clock = clock;
    }

    Handler page(Page page) {
        return (request, response) -> answer(page, request, response);
    }

    void answer(Page page, ServerRequest request, ServerResponse response) {
        Instant now = clock.instant();
        Viewer viewer = viewer(request);
        View view = view(page, viewer, request, now);
        response.status(Status.create(view.status()))
                .header(HTML)
                .send(templates.page(frame(view, viewer, request, now), view));
    }

    private View view(Page page, Viewer viewer, ServerRequest request, Instant now) {
        if (request.path().path().indexOf('\0') >= 0) {
            return View.absent("page");
        }
        try {
            return database.read(viewer, connection -> page.view(connection, request, now));
        } catch (Parameters.Unusable | QuestionFailed e) {
            return View.wrong(String.valueOf(e.getMessage()), "Change the address, or go back.");
        } catch (ReadingFailed e) {
            log.warn("A page wasn't answered", e);
            return Failures.of(e.why());
        } catch (RuntimeException e) {
            log.error("A page failed", e);
            return Failures.FAILED;
        }
    }

    private static Frame frame(View view, Viewer viewer, ServerRequest request, Instant now) {
        String[] parts = request.path().path().split("/", 3);
        return new Frame(
                view.title(),
                parts.length > 1 ? parts[1] : "",
                Optional.of(viewer.name()),
                now,
                RequestIds.of(request));
    }

    /** Without one nothing is shown. */
    static Viewer viewer(ServerRequest request) {
        return request.context()
                .get(Viewer.class)
                .orElseThrow(() -> new IllegalStateException("a page was asked for by nobody"));
    }

    /** What is told when the database didn't answer. */
    private static final class Failures {
        private static final View FAILED =
                view(500, "This page failed.", "The log says why, at the request id below.");

        private static View of(ReadingFailed.Why why) {
            return switch (why) {
                case BUSY -> view(503, "The database can't answer now.", "Try again in a moment.");
                case TOO_SLOW ->
                        view(
                                503,
                                "This took longer than a page may take.",
                                "Narrow it: name a tenant, a key, or a shorter time.");
                case FAILED -> FAILED;
            };
        }

        private static View view(int status, String sentence, String advice) {
            return new View(
                    status, "Something went wrong", "message", new View.Message(sentence, advice));
        }
    }
}
