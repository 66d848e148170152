package io.mintmark.console.pages;

import static io.mintmark.console.pages.View.absent;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Status;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.console.PageRoutes;
import io.mintmark.console.ReadingFailed;
import io.mintmark.console.Viewer;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.console.pages.MintSearch.Wanted;
import io.mintmark.postgres.QuestionFailed;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The console's addresses. Each page is one read of the database with its viewer's eyes. */
public final class Pages implements PageRoutes {
    private static final Logger log = LoggerFactory.getLogger(Pages.class);

    private static final Header HTML =
            HeaderValues.create(HeaderNames.CONTENT_TYPE, "text/html; charset=utf-8");

    private static final int MINTS = 50;

    private final ViewerDatabase database;
    private final Proof proof;
    private final InstantSource clock;
    private final Templates templates = new Templates();
    private final Stylesheets stylesheets = new Stylesheets();

    /** What a page shows, of what is in the database. */
    private interface Page {
        View view(Connection connection, ServerRequest request, Instant now) throws SQLException;
    }

    public Pages(ViewerDatabase database, Proof proof, InstantSource clock) {
        this.database = database;
        this.proof = proof;
        this.clock = clock;
    }

    @Override
    public void register(HttpRouting.Builder routing) {
        stylesheets.register(routing);
        routing.get("/", page(this::overview))
                .get("/mints", this::mints)
                .get("/mints/download", new Download(database, clock))
                .get("/mints/{id}", page(this::mint))
                .get("/subjects", page(this::subject))
                .get("/keys/{tenant}/{key}", page(this::key))
                .get("/tenants", page(this::tenants))
                .get("/tenants/{tenant}", page(this::tenant))
                .get("/tenants/{tenant}/history", page(this::history))
                .get("/explain", page(this::explain))
                .get("/proof", page(this::proof))
                .post("/proof", this::verify)
                .any(page((_, _, _) -> absent("page")));
    }

    private View overview(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        return View.of("Overview", "overview", OverviewPage.of(connection, now));
    }

    /** A mint's id leads to the mint itself. */
    private void mints(ServerRequest request, ServerResponse response) {
        Optional<UUID> id =
                request.query()
                        .first("q")
                        .asOptional()
                        .map(String::strip)
                        .flatMap(Parameters::uuid);
        boolean known =
                id.isPresent()
                        && database.read(
                                viewer(request),
                                connection ->
                                        !MintLine.of(
                                                        connection,
                                                        List.of(id.get().toString()),
                                                        clock.instant())
                                                .isEmpty());
        if (known) {
            redirect(response, Links.mint(id.orElseThrow()));
        } else {
            answer(this::found, request, response);
        }
    }

    private View found(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Wanted wanted = Wanted.of(new Parameters(request));
        return View.of(
                "Mints and refusals",
                "mints",
                new MintsPage(wanted, MintSearch.find(connection, wanted, MINTS, now)));
    }

    private View mint(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Optional<UUID> id = Parameters.uuid(request.path().pathParameters().get("id"));
        if (id.isEmpty()) {
            return absent("mint");
        }
        return Mint.of(connection, id.get().toString(), now)
                .map(mint -> View.of(MintPage.title(mint), "mint", MintPage.of(mint)))
                .orElseGet(() -> absent("mint"));
    }

    private View subject(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Optional<String> subject = new Parameters(request).text("q");
        return View.of("Subjects", "subject", SubjectPage.of(connection, subject, now));
    }

    private View key(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        KeyPage page =
                KeyPage.of(
                        connection,
                        request.path().pathParameters().get("tenant"),
                        request.path().pathParameters().get("key"),
                        new Parameters(request).time("at", true).filter(at -> at.isBefore(now)),
                        now);
        return page.isThere() ? View.of("Key " + page.name(), "key", page) : absent("key");
    }

    private View tenants(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Parameters parameters = new Parameters(request);
        return View.of(
                "Tenants",
                "tenants",
                TenantsPage.of(connection, parameters.text("q"), parameters.text("after")));
    }

    private View tenant(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        String name = request.path().pathParameters().get("tenant");
        long after = new Parameters(request).number("after").orElse(0L);
        return TenantPage.of(connection, name, after)
                .map(page -> View.of("Tenant " + name, "tenant", page))
                .orElseGet(() -> absent("tenant"));
    }

    private View history(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        HistoryPage page =
                HistoryPage.of(
                        connection,
                        request.path().pathParameters().get("tenant"),
                        new Parameters(request));
        return page.changes().isEmpty() ? absent("history") : View.of("History", "history", page);
    }

    private View explain(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        return View.of(
                "Explain a decision",
                "explain",
                ExplainPage.of(connection, new Parameters(request), now));
    }

    private View proof(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        return OverviewPage.seesAll(connection)
                ? View.of("Proof", "proof", ProofPage.of(connection, proof))
                : OnlyForAll.VIEW;
    }

    /** What isn't one tenant's. */
    private static final class OnlyForAll {
        private static final View VIEW =
                new View(
                        403,
                        "Not for you",
                        "message",
                        new View.Message(
                                "The proof is of the whole log, so only who sees all tenants sees it.",
                                "Ask an auditor, or verify an export: mintmark audit verify --export."));
    }

    /** The button of the page. */
    private void verify(ServerRequest request, ServerResponse response) {
        Viewer viewer = viewer(request);
        Optional<Long> rows =
                database.read(
                        viewer,
                        connection ->
                                OverviewPage.seesAll(connection)
                                        ? Optional.of(ProofPage.rows(connection))
                                        : Optional.empty());
        rows.ifPresent(expected -> proof.begin(viewer, expected));
        redirect(response, "/proof");
    }

    private static void redirect(ServerResponse response, String address) {
        response.status(Status.SEE_OTHER_303).header(HeaderNames.LOCATION, address).send();
    }

    private Handler page(Page page) {
        return (request, response) -> answer(page, request, response);
    }

    private void answer(Page page, ServerRequest request, ServerResponse response) {
        Instant now = clock.instant();
        Viewer viewer = viewer(request);
        View view = view(page, viewer, request, now);
        log.info("{} looked at {}", viewer.name(), view.title());
        response.status(Status.create(view.status()))
                .header(HTML)
                .send(templates.page(frame(view, viewer, request, now), view));
    }

    private View view(Page page, Viewer viewer, ServerRequest request, Instant now) {
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
                Optional.ofNullable(MDC.get("requestId")).orElse(""));
    }

    /** Without one nothing is shown. */
    private static Viewer viewer(ServerRequest request) {
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
