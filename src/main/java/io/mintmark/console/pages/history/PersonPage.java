package io.mintmark.console.pages.history;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.console.pages.activity.Period;
import io.mintmark.console.pages.frame.Folded;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.TypedTime;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.grants.GrantLine;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The page of a person or program: its changes, decisions, requests and mints, and the keys that it
 * may mint, as far as the viewer may see them.
 *
 * @param login or a subject
 * @param identities that are joined to it
 * @param use of keys, under any of its names
 * @param changes of all of its logins, the newest first, one more than are shown if there are more
 * @param today in UTC
 */
public record PersonPage(
        String login,
        Identities identities,
        PersonUse use,
        TypedTime.Span span,
        List<Change> changes,
        LocalDate today) {
    private static final int MOST = 200;
    private static final int MONTHS = 6;
    private static final int UNFOLDED = 40;
    private static final int GRANTS_UNFOLDED = 5;

    /** The maximum number of logins, and of subjects, whose rows are read. */
    static final int NAMES = 10;

    private static final DateTimeFormatter MONTH =
            DateTimeFormatter.ofPattern("MMM uuuu", Locale.ENGLISH);

    /** The page at {@code /people/NAME}, where a subject may have slashes. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        String login = request.path().pathParameters().get("login");
        HistoryFilter filter = HistoryFilter.of(new Parameters(request));
        Identities identities = Identities.of(connection, login);
        List<Change> changes = changes(connection, identities.logins(login), filter);
        PersonUse use = PersonUse.of(connection, named(identities.subjects(login)), now);
        return changes.isEmpty() && identities.isEmpty() && use.isEmpty() && filter.span().isEmpty()
                ? View.absent("person or program")
                : View.of(
                        "What " + login + " did",
                        "history/person",
                        new PersonPage(
                                login,
                                identities,
                                use,
                                filter.span(),
                                changes,
                                LocalDate.ofInstant(now, ZoneOffset.UTC)));
    }

    private static List<String> named(List<String> names) {
        return names.stream().limit(NAMES).toList();
    }

    private static List<Change> changes(
            Connection connection, List<String> logins, HistoryFilter filter) throws SQLException {
        List<Change> changes = new ArrayList<>();
        for (String login : named(logins)) {
            changes.addAll(Change.by(connection, Optional.of(login), filter.span(), MOST + 1));
        }
        return changes.stream()
                .sorted(Comparator.comparing(Change::at).reversed())
                .limit(MOST + 1L)
                .toList();
    }

    /** Whether the person has more names than the page follows. */
    boolean hasMoreNames() {
        return identities.logins(login).size() > NAMES || identities.subjects(login).size() > NAMES;
    }

    /** Whether several logins are the person's, so that each change names its login. */
    boolean hasSeveralLogins() {
        return identities.logins().stream().anyMatch(name -> !name.equals(login));
    }

    /** Whether further logins or subjects are the person's. */
    boolean hasSeveralNames() {
        return hasSeveralLogins()
                || identities.subjects().stream().anyMatch(name -> !name.equals(login));
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

    Folded<GrantLine> foldedGrants() {
        return Folded.of(use.grants(), GRANTS_UNFOLDED);
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
        String parts =
                Stream.of(part(reviews, "review"), part(approvals, "approval"))
                        .flatMap(Optional::stream)
                        .collect(Collectors.joining(" and "));
        return (changes.size() > MOST ? "The last " : "")
                + Frame.count(shown().size(), "change")
                + (parts.isEmpty() ? "" : ", of which " + parts);
    }

    private static Optional<String> part(long number, String what) {
        return number == 0 ? Optional.empty() : Optional.of(Frame.count(number, what));
    }
}
