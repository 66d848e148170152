package io.mintmark.console.pages.requests;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.approvals.RuleLine;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.keys.KeyFacts;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A request for access: what was asked, who decided, and what came of it.
 *
 * @param decides whether the page has buttons
 * @param failure why a decision wasn't made
 * @param key what it gives; none if the key no longer exists
 * @param rule by which it was made; none if the rule no longer exists
 * @param credentials that outlive access which ended early
 */
record RequestPage(
        AccessRequestLine line,
        boolean decides,
        Optional<BrokerRoutes.Outcome.Failed> failure,
        Optional<KeyFacts> key,
        Optional<RuleLine> rule,
        List<RequestEvent> timeline,
        GrantUse use,
        List<LeftCredential> credentials) {

    /**
     * The mints under the grant of the request.
     *
     * @param mints how many, up to one more than are counted
     * @param latest their ids, the newest first
     */
    record GrantUse(long mints, List<String> latest) {
        static final int COUNTED = 1_000;
        private static final int SHOWN = 5;
        private static final GrantUse NONE = new GrantUse(0, List.of());

        private static final String NUMBER =
                """
                SELECT u.uses FROM internal.uses_of_grants(ARRAY[cast(? AS bigint)], cast(? AS timestamptz), ?) AS u
                """;
        private static final String LATEST =
                """
                SELECT e.mint_id FROM audit.event AS e
                 WHERE e.grant_id = ? AND e.step = 1 ORDER BY e.mint_id DESC LIMIT ?
                """;

        private static GrantUse of(Connection connection, AccessRequestLine line)
                throws SQLException {
            if (line.grant().isEmpty()) {
                return NONE;
            }
            long grant = line.grant().get();
            return new GrantUse(
                    Query.of(NUMBER, grant, line.requestedAt(), COUNTED + 1)
                            .first(connection, row -> row.getLong(1))
                            .orElse(0L),
                    Query.of(LATEST, grant, SHOWN).list(connection, row -> row.getString(1)));
        }

        String number() {
            return mints > COUNTED ? "Over 1,000" : Long.toString(mints);
        }
    }

    /** The page at {@code /requests/{id}}; none if the viewer may not see the request. */
    static Optional<View> view(
            Connection connection,
            UUID id,
            boolean hasBroker,
            Optional<BrokerRoutes.Outcome.Failed> failure)
            throws SQLException {
        Optional<AccessRequestLine> line = AccessRequestQueries.one(connection, id);
        if (line.isEmpty()) {
            return Optional.empty();
        }
        AccessRequestLine one = line.get();
        View view =
                View.of(
                        "Request of %s for %s".formatted(one.subject(), one.key()),
                        "requests/request",
                        new RequestPage(
                                one,
                                hasBroker && RequestsPage.accepts(connection),
                                failure,
                                KeyFacts.of(connection, one.tenant(), one.key()),
                                RuleLine.ofRequest(connection, one.id()),
                                RequestEvent.all(connection, one),
                                GrantUse.of(connection, one),
                                LeftCredential.of(connection, one)));
        return Optional.of(
                failure.isPresent()
                        ? new View(
                                failure.get().status(), view.title(), view.template(), view.model())
                        : view);
    }
}
