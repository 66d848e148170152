package io.mintmark.console.pages;

import io.helidon.http.Method;
import io.helidon.http.NotFoundException;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.credential.CredentialType;
import io.mintmark.console.PageRoutes;
import io.mintmark.console.Viewer;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.console.pages.explain.ExplainForm;
import io.mintmark.console.pages.explain.ExplainPage;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.Rendering;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.history.HistoryPage;
import io.mintmark.console.pages.history.PersonPage;
import io.mintmark.console.pages.keys.KeyPage;
import io.mintmark.console.pages.mint.MintPage;
import io.mintmark.console.pages.mints.Download;
import io.mintmark.console.pages.mints.MintsPage;
import io.mintmark.console.pages.overview.OverviewPage;
import io.mintmark.console.pages.proof.CheckpointsFile;
import io.mintmark.console.pages.proof.ProofPage;
import io.mintmark.console.pages.proof.ReceiptDownload;
import io.mintmark.console.pages.proof.VerifyButton;
import io.mintmark.console.pages.requests.AskRoutes;
import io.mintmark.console.pages.requests.BrokerRoutes;
import io.mintmark.console.pages.requests.RequestRoutes;
import io.mintmark.console.pages.reviews.ReviewsFile;
import io.mintmark.console.pages.reviews.ReviewsPage;
import io.mintmark.console.pages.subjects.SubjectPage;
import io.mintmark.console.pages.tenants.TenantPage;
import io.mintmark.console.pages.tenants.TenantsPage;
import io.mintmark.console.pages.week.WeekPage;
import io.mintmark.console.verification.Proof;

import java.net.URI;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The console's addresses. Each page is one read of the database with its viewer's eyes. */
public final class Pages implements PageRoutes {
    private final Rendering rendering;
    private final List<Page> pages;
    private final VerifyButton verify;
    private final RequestRoutes requests;
    private final AskRoutes asking;
    private final Stylesheets stylesheets = new Stylesheets();

    private record Page(String path, Handler handler, boolean file) {
        Page(String path, Handler handler) {
            this(path, handler, false);
        }
    }

    /**
     * @param types the types of credentials that this release knows, by name
     * @param broker where decisions on requests for access are sent
     * @param otherCells the URLs of the consoles of other cells
     */
    public Pages(
            ViewerDatabase database,
            Proof proof,
            Map<String, CredentialType> types,
            Optional<BrokerRoutes> broker,
            List<URI> otherCells,
            InstantSource clock) {
        this.rendering = new Rendering(database, proof, types, otherCells, clock);
        this.requests = new RequestRoutes(rendering, broker);
        this.asking = new AskRoutes(rendering, broker);
        this.pages = all(database, rendering, proof, requests, asking, clock);
        this.verify = new VerifyButton(database, rendering, proof);
    }

    @Override
    public void register(HttpRouting.Builder routing) {
        stylesheets.handlers().forEach((path, file) -> opened(routing, path, file));
        pages.forEach(page -> opened(routing, page.path(), page.handler()));
        routing.post("/proof", verify)
                .post("/explain", this::explainForm)
                .post("/requests", requests::decide)
                .post("/requests/new", asking::ask)
                .any(this::elsewhere);
    }

    @Override
    public Set<String> paths() {
        return pages.stream().map(Page::path).collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public Set<String> files() {
        return pages.stream()
                .filter(Page::file)
                .map(Page::path)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** All pages. The first whose path matches an address shows it. */
    private static List<Page> all(
            ViewerDatabase database,
            Rendering rendering,
            Proof proof,
            RequestRoutes requests,
            AskRoutes asking,
            InstantSource clock) {
        return List.of(
                new Page(
                        "/",
                        rendering.page((connection, request, now) ->
                                OverviewPage.view(connection, request, proof.conclusive(), now))),
                new Page("/mints", rendering.page(MintsPage::view)),
                new Page("/mints/download", new Download(database, clock), true),
                new Page("/mints/{id}", rendering.page(MintPage::view)),
                new Page("/subjects", rendering.page(SubjectPage::view)),
                new Page("/keys/{tenant}/{key}", rendering.page(KeyPage::view)),
                new Page("/tenants", rendering.page(TenantsPage::view)),
                new Page("/tenants/{tenant}", rendering.page(TenantPage::view)),
                new Page("/tenants/{tenant}/history", rendering.page(HistoryPage::view)),
                new Page("/tenants/{tenant}/week", rendering.page(WeekPage::view)),
                new Page("/history", rendering.page(HistoryPage::ofPlatform)),
                new Page("/people/{+login}", rendering.page(PersonPage::view)),
                new Page("/reviews", rendering.page(ReviewsPage::view)),
                new Page("/reviews/download", new ReviewsFile(database, clock), true),
                new Page("/requests", requests::show),
                new Page("/requests/new", asking::show),
                new Page("/requests/{id}", requests::showOne),
                new Page("/explain", rendering.page(ExplainPage::view)),
                new Page(
                        "/proof",
                        rendering.page((connection, request, _) ->
                                ProofPage.view(connection, request, proof))),
                new Page(
                        "/proof/checkpoints",
                        new CheckpointsFile(database, rendering, clock),
                        true),
                new Page("/proof/receipt", new ReceiptDownload(database, rendering, proof), true));
    }

    /** Adds routes for GET and HEAD. The port omits the body of a response to HEAD. */
    private static void opened(HttpRouting.Builder routing, String path, Handler page) {
        routing.get(path, page).route(Method.HEAD, path, page);
    }

    /** Public paths get here too, if the method is wrong or the page doesn't exist. */
    private void elsewhere(ServerRequest request, ServerResponse response) {
        if (request.context().get(Viewer.class).isEmpty()) {
            throw new NotFoundException("unknown page");
        }
        rendering.answer((_, _, _) -> View.nowhere(), request, response);
    }

    private void explainForm(ServerRequest request, ServerResponse response) {
        Parameters form = Parameters.ofForm(request);
        rendering.answer(
                (connection, _, now) -> ExplainForm.view(connection, form, now), request, response);
    }
}
