package io.mintmark.console.pages.requests;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.View;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * A request for access that the viewer is about to make.
 *
 * @param asks whether the broker accepts the token of the viewer's session, so that there is a form
 * @param keys that rules let the viewer request, up to one more than are listed
 * @param failure why the request was not made
 */
record AskPage(
        boolean asks,
        boolean hasBroker,
        List<RequestableKey> keys,
        Form form,
        Optional<BrokerRoutes.Outcome.Failed> failure) {

    static final int MOST = 100;

    private static final String KEYS =
            """
            SELECT r.key, r.description, r.shortest, r.longest, r.approvals, r.hints
              FROM internal.requestable_by_viewer(?, ?) AS r
            """;

    /**
     * The fields of the form as the viewer has filled them in.
     *
     * @param only whether the page lists this key alone, as a link to it asks
     */
    record Form(
            Optional<String> key, Optional<Long> minutes, Optional<String> reason, boolean only) {
        private static final long HOUR = 60;
        private static final long LONGEST = 43_200;

        static Form of(Parameters parameters) {
            Optional<Long> minutes = parameters.number("minutes");
            if (minutes.filter(number -> number > LONGEST).isPresent()) {
                throw new Parameters.Unusable("Access lasts at most 43,200 minutes (30 days).");
            }
            Optional<String> key = parameters.text("key");
            return new Form(key, minutes, parameters.text("reason"), key.isPresent());
        }

        /** Returns this choice, with all keys to choose from. */
        Form ofAllKeys() {
            return new Form(key, minutes, reason, false);
        }

        long shownMinutes() {
            return minutes.orElse(HOUR);
        }
    }

    /**
     * A key that the viewer may request.
     *
     * @param shortest the seconds of the shortest access
     * @param longest the seconds of the longest access
     * @param approvals the fewest that it needs
     * @param hints what a reason must be like; empty for any
     */
    record RequestableKey(
            String name,
            Optional<String> description,
            long shortest,
            long longest,
            int approvals,
            List<String> hints) {
        private static RequestableKey of(ResultSet row) throws SQLException {
            return new RequestableKey(
                    row.getString("key"),
                    Query.text(row, "description"),
                    row.getLong("shortest"),
                    row.getLong("longest"),
                    row.getInt("approvals"),
                    Query.texts(row, "hints"));
        }

        /** The duration of the access and the approvals that it needs, in words. */
        String terms() {
            return "%s to %s, needs %s"
                    .formatted(
                            Frame.seconds(shortest),
                            Frame.seconds(longest),
                            Frame.count(approvals, "approval"));
        }
    }

    List<RequestableKey> shown() {
        return keys.stream().limit(MOST).toList();
    }

    boolean isCut() {
        return keys.size() > MOST;
    }

    /** Whether a key is chosen: as the viewer did, or because there is no other. */
    boolean isChosen(RequestableKey key) {
        return keys.size() == 1 || form.key().filter(key.name()::equals).isPresent();
    }

    static View view(
            Connection connection,
            boolean hasBroker,
            Form form,
            Optional<BrokerRoutes.Outcome.Failed> failure)
            throws SQLException {
        boolean asks = hasBroker && RequestsPage.accepts(connection);
        String only = form.key().filter(_ -> form.only()).orElse(null);
        View view =
                View.of(
                        "Request access",
                        "requests/ask",
                        new AskPage(
                                asks,
                                hasBroker,
                                asks
                                        ? Query.of(KEYS, only, MOST + 1)
                                                .list(connection, RequestableKey::of)
                                        : List.of(),
                                form,
                                failure));
        return failure.isPresent()
                ? new View(failure.get().status(), view.title(), view.template(), view.model())
                : view;
    }
}
