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
import io.mintmark.console.pages.statements.Statements;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * What waits for the viewer, what the viewer asked, and what else is open.
 *
 * @param decides whether the broker accepts the token of the viewer's session as an approver's, so
 *     that the page has buttons
 * @param failure why a decision wasn't made about a request that the viewer may not see
 * @param waiting those that the viewer may decide
 * @param asked by the viewer, the newest first
 * @param pending others
 * @param open break glasses without sign-off
 * @param listed those of the address's tenant or key
 * @param acceptance what lets viewers decide here, if they can't
 */
record RequestsPage(
        boolean decides,
        boolean hasBroker,
        Optional<BrokerRoutes.Outcome.Failed> failure,
        List<AccessRequestLine> waiting,
        List<AccessRequestLine> asked,
        List<AccessRequestLine> pending,
        List<AccessRequestLine> open,
        Optional<Listed> listed,
        Optional<Statements.Statement> acceptance) {

    private static final String TITLE = "Requests for access";
    private static final int MOST = 100;
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

    Folded<AccessRequestLine> foldedWaiting() {
        return Folded.of(waiting, UNFOLDED);
    }

    Folded<AccessRequestLine> foldedAsked() {
        return Folded.of(asked, UNFOLDED_OF_OTHERS);
    }

    Folded<AccessRequestLine> foldedPending() {
        return Folded.of(pending, UNFOLDED_OF_OTHERS);
    }

    Folded<AccessRequestLine> foldedOpen() {
        return Folded.of(open, UNFOLDED_OF_OTHERS);
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
                                    AccessRequestLine.of(connection, tenant.get(), key, MOST + 1)));
        }
        return view(connection, Rendering.viewer(request), hasBroker, Optional.empty(), listed);
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
        View view = view(connection, viewer, true, Optional.of(failure), Optional.empty());
        return new View(failure.status(), view.title(), view.template(), view.model());
    }

    private static View view(
            Connection connection,
            Viewer viewer,
            boolean hasBroker,
            Optional<BrokerRoutes.Outcome.Failed> failure,
            Optional<Listed> listed)
            throws SQLException {
        List<AccessRequestLine> parts = AccessRequestLine.takingPart(connection);
        boolean accepted = accepts(connection);
        return View.of(
                TITLE,
                "requests/requests",
                new RequestsPage(
                        hasBroker && accepted,
                        hasBroker,
                        failure,
                        parts.stream().filter(AccessRequestLine::waits).toList(),
                        parts.stream().filter(line -> !line.waits()).toList(),
                        AccessRequestLine.pending(connection, MOST),
                        AccessRequestLine.open(connection, MOST),
                        listed,
                        acceptance(viewer).filter(_ -> hasBroker && !accepted)));
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
                        Statements.acceptConsole(claims.path("iss").textValue(), first.textValue()))
                : Optional.empty();
    }
}
