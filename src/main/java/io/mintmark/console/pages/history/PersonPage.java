package io.mintmark.console.pages.history;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.console.pages.activity.Period;
import io.mintmark.console.pages.frame.Folded;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.TypedTime;
import io.mintmark.console.pages.frame.View;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a person or program changed and decided, in all that the viewer may see.
 *
 * @param login or a subject
 * @param identities that are joined to it
 * @param changes the newest first, one more than are shown if there are more
 * @param today in UTC
 */
public record PersonPage(
        String login,
        Identities identities,
        TypedTime.Span span,
        List<Change> changes,
        LocalDate today) {
    private static final int MOST = 200;
    private static final int MONTHS = 6;
    private static final int UNFOLDED = 40;

    private static final DateTimeFormatter MONTH =
            DateTimeFormatter.ofPattern("MMM uuuu", Locale.ENGLISH);

    /** The page at {@code /people/{login}}. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        String login = request.path().pathParameters().get("login");
        HistoryFilter filter = HistoryFilter.of(new Parameters(request));
        List<Change> changes = Change.by(connection, Optional.of(login), filter.span(), MOST + 1);
        Identities identities = Identities.of(connection, login);
        return changes.isEmpty() && identities.isEmpty() && filter.span().isEmpty()
                ? View.absent("login with changes")
                : View.of(
                        "What " + login + " changed",
                        "history/person",
                        new PersonPage(
                                login,
                                identities,
                                filter.span(),
                                changes,
                                LocalDate.ofInstant(now, ZoneOffset.UTC)));
    }

    /** Links to this page of each of the last months, and of all times. */
    List<Period.Link> months() {
        Period.Link all = new Period.Link("All", Links.person(login), span.isEmpty());
        return Stream.concat(
                        Stream.of(all),
                        Stream.iterate(YearMonth.from(today), month -> month.minusMonths(1))
                                .limit(MONTHS)
                                .map(this::month))
                .toList();
    }

    private Period.Link month(YearMonth month) {
        String from = month.atDay(1).toString();
        String to = month.atEndOfMonth().toString();
        return new Period.Link(
                month.format(MONTH),
                "%s?from=%s&to=%s".formatted(Links.person(login), from, to),
                span.from().text().equals(from) && span.to().text().equals(to));
    }

    List<Change> shown() {
        return changes.stream().limit(MOST).toList();
    }

    Folded<Change> folded() {
        return Folded.of(shown(), UNFOLDED);
    }

    /** The number of the person's changes, and how many of them are reviews and approvals. */
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
