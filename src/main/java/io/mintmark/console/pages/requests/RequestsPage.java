package io.mintmark.console.pages.requests;

import com.fasterxml.jackson.databind.JsonNode;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.json.StrictJson;
import io.mintmark.base.sql.Query;
import io.mintmark.console.Viewer;
import io.mintmark.console.pages.frame.Folded;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.Rendering;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.statements.RequestStatements;
import io.mintmark.console.pages.statements.Statements;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Requests for access: what waits for the viewer, what is open, what was decided, who broke the
 * glass; or those of a tenant or key.
 *
 * @param decides whether the broker accepts the token of the viewer's session as an approver's, so
 *     that the page has buttons
 * @param failure why a decision wasn't made about a request that the viewer may not see
 * @param tabs the lists, and how many requests each has that somebody must do something about
 * @param lines of the list
 * @param asked by the viewer, the newest first, beside what waits for them
 * @param older the page of older ones
 * @param listed those of the address's tenant or key
 * @param acceptance what lets viewers decide here, if they can't
 */
record RequestsPage(
        boolean decides,
        boolean hasBroker,
        Optional<BrokerRoutes.Outcome.Failed> failure,
        RequestTab tab,
        List<RequestTab.Link> tabs,
        List<AccessRequestLine> lines,
        List<AccessRequestLine> asked,
        Optional<String> older,
        Optional<Listed> listed,
        Optional<Statements.Statement> acceptance) {

    private static final String TITLE = "Requests for access";
    private static final int MOST = 100;
    private static final int DECIDED_ON_A_PAGE = 50;
    private static final int UNFOLDED = 10;
    private static final int UNFOLDED_OF_OTHERS = 4;
    private static final int LONGEST_CLAIMS = 1 << 16;
    private static final String ACCEPTED = "SELECT n.of_idp FROM internal.names_of_viewer() AS n";

    /** The requests of a tenant, or of one of its keys. */
    record Listed(String tenant, Optional<String> key, List<AccessRequestLine> lines) {
        boolean hasMore() {
            return lines.size() > MOST;
        }

        List<AccessRequestLine> shown() {
            return lines.stream().limit(MOST).toList();
        }

        Folded<AccessRequestLine> folded() {
            return Folded.of(shown(), UNFOLDED);
        }
    }

    boolean isOf(String list) {
        return tab.name().equals(list);
    }

    Folded<AccessRequestLine> folded() {
        return Folded.of(lines, UNFOLDED);
    }

    Folded<AccessRequestLine> foldedAsked() {
        return Folded.of(asked, UNFOLDED_OF_OTHERS);
    }

    /** Whether the list is longer than the page. */
    boolean isCut() {
        return tab != RequestTab.DECIDED && lines.size() >= MOST;
    }

    static View view(Connection connection, ServerRequest request, boolean hasBroker)
            throws SQLException {
        Parameters parameters = new Parameters(request);
        Optional<UUID> id = parameters.id("id");
        if (id.isPresent()) {
            return one(connection, id.get(), hasBroker);
        }
        Optional<String> tenant = parameters.text("tenant");
        Optional<Listed> listed = Optional.empty();
        if (tenant.isPresent()) {
            Optional<String> key = parameters.text("key");
            listed =
                    Optional.of(
                            new Listed(
                                    tenant.get(),
                                    key,
                                    AccessRequestQueries.of(
                                            connection, tenant.get(), key, MOST + 1)));
        }
        return view(
                connection,
                Rendering.viewer(request),
                hasBroker,
                Optional.empty(),
                new Asked(RequestTab.of(parameters), parameters.id("before"), listed));
    }

    /** The page of one request. */
    static View one(Connection connection, UUID id, boolean hasBroker) throws SQLException {
        return RequestPage.view(connection, id, hasBroker, Optional.empty())
                .orElseGet(() -> View.absent("request for access"));
    }

    /** The page after a decision that wasn't made. */
    static View failed(
            Connection connection, Viewer viewer, BrokerRoutes.Outcome.Failed failure, UUID id)
            throws SQLException {
        Optional<View> one = RequestPage.view(connection, id, true, Optional.of(failure));
        if (one.isPresent()) {
            return one.get();
        }
        View view =
                view(
                        connection,
                        viewer,
                        true,
                        Optional.of(failure),
                        new Asked(RequestTab.WAITING, Optional.empty(), Optional.empty()));
        return new View(failure.status(), view.title(), view.template(), view.model());
    }

    /** The parameters of the page's URL. */
    private record Asked(RequestTab tab, Optional<UUID> before, Optional<Listed> listed) {}

    private static View view(
            Connection connection,
            Viewer viewer,
            boolean hasBroker,
            Optional<BrokerRoutes.Outcome.Failed> failure,
            Asked page)
            throws SQLException {
        boolean accepted = accepts(connection);
        Optional<RequestTab> tab = Optional.of(page.tab()).filter(_ -> page.listed().isEmpty());
        List<AccessRequestLine> found =
                tab.isPresent() ? lines(connection, tab.get(), page.before()) : List.of();
        boolean more = page.tab() == RequestTab.DECIDED && found.size() > DECIDED_ON_A_PAGE;
        List<AccessRequestLine> lines = more ? found.subList(0, DECIDED_ON_A_PAGE) : found;
        return View.of(
                TITLE,
                "requests/requests",
                new RequestsPage(
                        hasBroker && accepted,
                        hasBroker,
                        failure,
                        page.tab(),
                        RequestTab.links(connection, tab),
                        lines,
                        tab.equals(Optional.of(RequestTab.WAITING))
                                ? AccessRequestQueries.asked(connection)
                                : List.of(),
                        more
                                ? Optional.of(
                                        page.tab().address() + "&before=" + lines.getLast().id())
                                : Optional.empty(),
                        page.listed(),
                        acceptance(viewer).filter(_ -> hasBroker && !accepted)));
    }

    private static List<AccessRequestLine> lines(
            Connection connection, RequestTab tab, Optional<UUID> before) throws SQLException {
        return switch (tab) {
            case WAITING -> AccessRequestQueries.waiting(connection, MOST);
            case OPEN -> AccessRequestQueries.pending(connection, MOST);
            case DECIDED -> AccessRequestQueries.decided(connection, before, DECIDED_ON_A_PAGE + 1);
            case WITHDRAWABLE -> AccessRequestQueries.withdrawable(connection);
            case BREAK_GLASS -> AccessRequestQueries.breakGlasses(connection, MOST);
        };
    }

    /** Whether the broker accepts the token of the viewer's session as an approver's. */
    static boolean accepts(Connection connection) throws SQLException {
        return Query.of(ACCEPTED).first(connection, row -> row.getString(1)).isPresent();
    }

    /** The row that would make the broker accept the viewer's token, as far as its claims say. */
    private static Optional<Statements.Statement> acceptance(Viewer viewer) {
        JsonNode claims =
                StrictJson.value(viewer.claims().getBytes(StandardCharsets.UTF_8), LONGEST_CLAIMS)
                        .orElseThrow();
        JsonNode audience = claims.path("aud");
        JsonNode first = audience.isArray() ? audience.path(0) : audience;
        return claims.path("iss").isTextual() && first.isTextual()
                ? Optional.of(
                        RequestStatements.acceptConsole(
                                claims.path("iss").textValue(), first.textValue()))
                : Optional.empty();
    }
}
