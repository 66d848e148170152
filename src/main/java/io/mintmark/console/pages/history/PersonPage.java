package io.mintmark.console.pages.history;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.TypedTime;
import io.mintmark.console.pages.frame.View;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What a login changed, in all that the viewer may see.
 *
 * @param changes the newest first, one more than are shown if there are more
 */
public record PersonPage(String login, TypedTime.Span span, List<Change> changes) {
    private static final int MOST = 200;

    /** The page at {@code /people/{login}}. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        String login = request.path().pathParameters().get("login");
        HistoryFilter filter = HistoryFilter.of(new Parameters(request));
        List<Change> changes = Change.by(connection, Optional.of(login), filter.span(), MOST + 1);
        return changes.isEmpty() && filter.span().isEmpty()
                ? View.absent("login with changes")
                : View.of(
                        "What " + login + " changed",
                        "history/person",
                        new PersonPage(login, filter.span(), changes));
    }

    List<Change> shown() {
        return changes.stream().limit(MOST).toList();
    }

    /** How many, by what was done. */
    String counts() {
        long reviews =
                shown().stream().filter(change -> change.table().equals("grant_review")).count();
        long approvals =
                shown().stream()
                        .filter(change ->
                                change.table().equals("access_decision")
                                        || change.differences().stream()
                                                .anyMatch(
                                                        one -> one.member().equals("approved_by")))
                        .count();
        String all = Frame.count(shown().size(), "change");
        return (changes.size() > MOST ? "The last " : "")
                + all
                + ", of which %s and %s"
                        .formatted(
                                Frame.count(reviews, "review"), Frame.count(approvals, "approval"));
    }
}
