package io.mintmark.console.pages;

import static io.mintmark.console.pages.View.absent;

import io.helidon.http.Method;
import io.helidon.http.NotFoundException;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.console.PageRoutes;
import io.mintmark.console.Viewer;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.console.pages.MintSearch.Wanted;
import io.mintmark.credential.CredentialType;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** The console's addresses. Each page is one read of the database with its viewer's eyes. */
public final class Pages implements PageRoutes {
    private static final String MINTS_TITLE = "Mints and refusals";

    private final ViewerDatabase database;
    private final Proof proof;
    private final InstantSource clock;
    private final Rendering rendering;
    private final List<Page> pages;
    private final Stylesheets stylesheets = new Stylesheets();

    private record Page(String path, Handler handler, boolean file) {
        Page(String path, Handler handler) {
            this(path, handler, false);
        }
    }

    /**
     * @param types the types of credentials that this release knows, by name
     */
    public Pages(
            ViewerDatabase database,
            Proof proof,
            Map<String, CredentialType> types,
            InstantSource clock) {
        this.database = database;
        this.proof = proof;
        this.clock = clock;
        this.rendering = new Rendering(database, proof, types, clock);
        this.pages = all();
    }

    @Override
    public void register(HttpRouting.Builder routing) {
        stylesheets.register(routing);
        pages.forEach(page -> opened(routing, page.path(), page.handler()));
        routing.post("/proof", this::verify)
                .post("/explain", this::explainForm)
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

    /** The first whose path matches an address shows it. */
    private List<Page> all() {
        return List.of(
                new Page("/", rendering.page(this::overview)),
                new Page("/mints", rendering.page(this::mints)),
                new Page("/mints/download", new Download(database, clock), true),
                new Page("/mints/{id}", rendering.page(this::mint)),
                new Page("/subjects", rendering.page(this::subject)),
                new Page("/keys/{tenant}/{key}", rendering.page(this::key)),
                new Page("/tenants", rendering.page(this::tenants)),
                new Page("/tenants/{tenant}", rendering.page(this::tenant)),
                new Page("/tenants/{tenant}/history", rendering.page(this::history)),
                new Page("/history", rendering.page(this::platformHistory)),
                new Page("/reviews", rendering.page(this::reviews)),
                new Page("/reviews/download", new ReviewsFile(database, clock), true),
                new Page("/explain", rendering.page(this::explain)),
                new Page("/proof", rendering.page(this::proof)),
                new Page(
                        "/proof/checkpoints",
                        new CheckpointsFile(database, rendering, clock),
                        true));
    }

    /** The port leaves the body of an answer to HEAD out. */
    static void opened(HttpRouting.Builder routing, String path, Handler page) {
        routing.get(path, page).route(Method.HEAD, path, page);
    }

    /** Public paths get here too, if the method is wrong or the page doesn't exist. */
    private void elsewhere(ServerRequest request, ServerResponse response) {
        if (request.context().get(Viewer.class).isEmpty()) {
            throw new NotFoundException("unknown page");
        }
        rendering.answer((_, _, _) -> View.nowhere(), request, response);
    }

    private View overview(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        return View.of(
                "Overview", "overview", OverviewPage.of(connection, proof.conclusive(), now));
    }

    /** An id that is one mint's alone leads to that mint's page. */
    private View mints(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Parameters parameters = new Parameters(request);
        TypedTime.Span span = TypedTime.Span.of(parameters);
        Wanted wanted = Wanted.of(parameters, span);
        if (span.fault().isPresent()) {
            return new View(400, MINTS_TITLE, "mints", MintsPage.unanswered(wanted, span, now));
        }
        Optional<UUID> id = wanted.any().flatMap(Parameters::uuid);
        if (id.isPresent()
                && !MintLine.of(connection, List.of(id.get().toString()), now).isEmpty()) {
            return View.elsewhere(Links.mint(id.get()));
        }
        MintsPage page = MintsPage.of(connection, wanted, span, parameters, now);
        return page.onlyMint()
                .map(line -> View.elsewhere(Links.mint(line.id())))
                .orElseGet(() -> View.of(MINTS_TITLE, "mints", page));
    }

    private View mint(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Optional<UUID> id = Parameters.uuid(request.path().pathParameters().get("id"));
        if (id.isEmpty()) {
            return absent("mint");
        }
        Optional<Mint> mint = Mint.of(connection, id.get().toString(), now);
        return mint.isEmpty()
                ? absent("mint")
                : View.of(
                        MintPage.title(mint.get()),
                        "mint",
                        MintPage.of(connection, mint.get(), now));
    }

    private View subject(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Optional<String> subject = new Parameters(request).text("q");
        return View.of("Subjects", "subject", SubjectPage.of(connection, subject, now));
    }

    private View key(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        String tenant = request.path().pathParameters().get("tenant");
        String name = request.path().pathParameters().get("key");
        TypedTime asked = new Parameters(request).typedTime("at", true);
        Optional<KeyPage> page = KeyPage.of(connection, tenant, name, asked, now);
        return page.isPresent()
                ? new View(asked.fault().isPresent() ? 400 : 200, "Key " + name, "key", page.get())
                : OtherKeys.of(connection, tenant, name)
                        .map(others -> View.absentKey(tenant, name, others))
                        .orElseGet(() -> absent("key"));
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
        Optional<TenantPage> page = TenantPage.of(connection, name, after);
        return page.isPresent()
                ? View.of("Tenant " + name, "tenant", page.get())
                : View.absent("tenant", Suggestions.ofTenant(connection, name));
    }

    private View reviews(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        return View.of(
                "Reviews",
                "reviews",
                ReviewsPage.of(connection, ReviewsPage.Wanted.of(new Parameters(request))));
    }

    private View history(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        String tenant = request.path().pathParameters().get("tenant");
        return history(connection, Optional.of(tenant), new Parameters(request), now);
    }

    /** The history of rows without tenant. A tenant has its own page, even after its deletion. */
    private View platformHistory(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Parameters parameters = new Parameters(request);
        Optional<String> tenant = parameters.text("tenant");
        return tenant.isPresent()
                ? View.elsewhere(Links.history(tenant))
                : history(connection, tenant, parameters, now);
    }

    private static View history(
            Connection connection, Optional<String> tenant, Parameters parameters, Instant now)
            throws SQLException {
        return HistoryPage.of(
                        connection,
                        tenant,
                        parameters.text("table"),
                        parameters.text("row"),
                        parameters.number("before").orElse(Long.MAX_VALUE),
                        now)
                .map(page -> View.of("History", "history", page))
                .orElseGet(() -> absent("history"));
    }

    private View explain(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        return explain(connection, new Parameters(request), now);
    }

    private static View explain(Connection connection, Parameters parameters, Instant now)
            throws SQLException {
        return View.of(
                "Explain a decision", "explain", ExplainPage.of(connection, parameters, now));
    }

    /**
     * Redirects valid input to an address that can be shared. Invalid input may be a token and gets
     * none.
     */
    private void explainForm(ServerRequest request, ServerResponse response) {
        Parameters form = Parameters.ofForm(request);
        rendering.answer(
                (connection, _, now) -> {
                    Optional<String> address = ExplainForm.address(form);
                    return address.isPresent()
                            ? View.elsewhere(address.get())
                            : explain(connection, form, now);
                },
                request,
                response);
    }

    private View proof(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        return OverviewPage.seesAll(connection)
                ? View.of(
                        "Proof",
                        "proof",
                        ProofPage.of(connection, proof, new Parameters(request).number("before")))
                : View.onlyForAll();
    }

    /** The button of the page. */
    private void verify(ServerRequest request, ServerResponse response) {
        Viewer viewer = Rendering.viewer(request);
        Optional<Long> rows =
                database.read(
                        viewer,
                        connection ->
                                OverviewPage.seesAll(connection)
                                        ? Optional.of(ProofPage.expected(connection, proof.last()))
                                        : Optional.empty());
        if (rows.isEmpty()) {
            rendering.answer((_, _, _) -> View.onlyForAll(), request, response);
            return;
        }
        proof.begin(viewer, rows.get());
        Rendering.redirect(response, "/proof");
    }
}
