package io.mintmark.console.pages.mints;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.console.pages.activity.Activity;
import io.mintmark.console.pages.activity.Chart;
import io.mintmark.console.pages.activity.OtherTimes;
import io.mintmark.console.pages.activity.Period;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.Suggestions;
import io.mintmark.console.pages.frame.TypedTime;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.mints.MintSearch.Found;
import io.mintmark.console.pages.mints.MintSearch.Listing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * The result of a search for mints and refusals.
 *
 * @param span the time range, as it was typed
 * @param period of which the search is, if no time was typed
 * @param activity for a chart, on the first page
 * @param found none if the search is invalid
 * @param count how many there are, on the first page
 * @param order of the lines
 * @param folds whether repeats are one line each
 * @param picks for the fields of the form
 * @param suggestions names that may have been meant in a field, if nothing was found
 * @param others what else has the text that was looked for, on the first page
 * @param now when the page was requested
 */
public record MintsPage(
        Wanted wanted,
        TypedTime.Span span,
        Optional<Period> period,
        Optional<Activity> activity,
        Found found,
        Optional<EntryCount> count,
        Order order,
        boolean folds,
        Suggestions.Picks picks,
        Suggestions suggestions,
        OtherHits others,
        Instant now) {
    private static final String TEMPLATE = "mints/mints";
    private static final String TITLE = "Mints and refusals";
    private static final int LINES = 50;

    /** The mark of an abbreviated id. */
    private static final String CUT = "…";

    /** A link to entries in another order, or of another time. */
    record Link(String text, String address) {}

    /** The page at {@code /mints}. An id that is one mint's alone leads to that mint's page. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Parameters parameters = new Parameters(request);
        TypedTime.Span span = TypedTime.Span.of(parameters);
        Wanted wanted = Wanted.of(parameters, span, now);
        if (span.fault().isPresent()) {
            return new View(400, TITLE, TEMPLATE, unanswered(wanted, span, now));
        }
        Optional<UUID> id = wanted.any().flatMap(Parameters::uuid);
        if (id.isPresent()
                && !MintLine.of(connection, List.of(id.get().toString()), now).isEmpty()) {
            return View.elsewhere(Links.mint(id.get()));
        }
        Optional<String> asked =
                id.isPresent() ? OtherHits.request(connection, id.get()) : Optional.empty();
        if (asked.isPresent()) {
            return View.elsewhere(asked.get());
        }
        MintsPage page = of(connection, wanted, span, parameters, now);
        return page.onlyMint()
                .map(line -> View.elsewhere(Links.mint(line.id())))
                .orElseGet(() -> View.of(TITLE, TEMPLATE, page));
    }

    private static MintsPage unanswered(Wanted wanted, TypedTime.Span span, Instant now) {
        return new MintsPage(
                wanted,
                span,
                Optional.empty(),
                Optional.empty(),
                Found.NONE,
                Optional.empty(),
                Order.NEWEST_FIRST,
                true,
                Suggestions.Picks.NONE,
                Suggestions.NONE,
                OtherHits.NONE,
                now);
    }

    private static MintsPage of(
            Connection connection,
            Wanted wanted,
            TypedTime.Span span,
            Parameters parameters,
            Instant now)
            throws SQLException {
        Suggestions.Picks picks = Suggestions.picks(connection);
        Optional<Period> period = span.isEmpty() ? Period.of(parameters) : Optional.empty();
        boolean folds = parameters.text(SearchAddress.FOLD).filter("no"::equals).isEmpty();
        if (wanted.before().isPresent()) {
            return new MintsPage(
                    wanted,
                    span,
                    period,
                    Optional.empty(),
                    folds
                            ? MintSearch.folded(connection, wanted, LINES, now)
                            : MintSearch.find(connection, wanted, LINES, now),
                    Optional.empty(),
                    Order.NEWEST_FIRST,
                    folds,
                    picks,
                    Suggestions.NONE,
                    OtherHits.NONE,
                    now);
        }
        Listing listing = MintSearch.list(connection, wanted);
        Order order = Order.of(parameters);
        boolean oldest = order == Order.OLDEST_FIRST && listing.isComplete();
        return new MintsPage(
                wanted,
                span,
                period,
                MintsChart.of(connection, wanted, period, listing, now),
                oldest
                        ? oldest(connection, listing, parameters.id("after"), folds, now)
                        : folds
                                ? Folding.newest(connection, wanted, listing, LINES, now)
                                : listing.newest(connection, LINES, now),
                Optional.of(EntryCount.of(listing)),
                order == Order.OLDEST_FIRST && !oldest ? Order.TOO_MANY_FOR_OLDEST_FIRST : order,
                folds,
                picks,
                listing.ids().isEmpty() ? suggestions(connection, wanted) : Suggestions.NONE,
                OtherHits.of(connection, wanted, now),
                now);
    }

    private static Found oldest(
            Connection connection,
            Listing listing,
            Optional<UUID> after,
            boolean folds,
            Instant now)
            throws SQLException {
        return folds
                ? Folding.oldest(connection, listing, after, LINES, now)
                : listing.oldest(connection, after, LINES, now);
    }

    /** Suggests names similar to the one that was typed, for its field. */
    private static Suggestions suggestions(Connection connection, Wanted wanted)
            throws SQLException {
        Suggestions tenants =
                wanted.tenant().isPresent()
                        ? Suggestions.ofTenant(connection, wanted.tenant().get())
                        : Suggestions.NONE;
        return tenants.isEmpty() && wanted.key().isPresent()
                ? Suggestions.ofKey(connection, wanted.key().get())
                : tenants;
    }

    boolean isOldestFirst() {
        return order == Order.OLDEST_FIRST;
    }

    /** Links to this search in the other order, from its beginning. */
    Link otherOrder() {
        SearchAddress first = address().without("before");
        return isOldestFirst()
                ? new Link("Show newest first", first.without("order").text())
                : new Link("Show oldest first", first.with("order", "oldest").text());
    }

    /** A link to this search that shows each of the repeats, or folds them again. */
    Optional<Link> otherFold() {
        SearchAddress first = address().without("before", SearchAddress.FOLD);
        if (!folds) {
            return Optional.of(new Link("Fold repeats", first.text()));
        }
        return found.repeats().isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new Link("Show each repeat", first.with(SearchAddress.FOLD, "no").text()));
    }

    /** Links to this search over the times that people ask about most, and over all. */
    List<Period.Link> allPeriods() {
        String all = whenever();
        return Stream.concat(
                        Period.links(all, period).stream(),
                        Stream.of(new Period.Link("All", all, period.isEmpty() && span.isEmpty())))
                .toList();
    }

    private String whenever() {
        return address().without("before", "from", "to", "range").text();
    }

    /** Whether the further fields must be seen. What they hold is listed above the form. */
    boolean isUnfolded() {
        return span.fault().isPresent();
    }

    /** The chart of what is found, whose bars lead to the same search of their time. */
    Optional<Chart> chart() {
        return activity.filter(counted -> !counted.isEmpty())
                .map(counted -> Chart.low(counted, whenever()));
    }

    /** Links to this search in the times beside its own. */
    List<OtherTimes.Link> otherTimes() {
        return wanted.from().isEmpty() || wanted.before().isPresent()
                ? List.of()
                : OtherTimes.of(
                        wanted.from().get(),
                        wanted.to().orElse(now),
                        now,
                        (from, to) ->
                                address()
                                        .without("range")
                                        .with("from", from)
                                        .with("to", to)
                                        .text());
    }

    /** The URL of this search with fixed times, so that it shows the same later. */
    String permalink() {
        return address().without("before", "range").fixed(wanted.from(), now).text();
    }

    /** Whether the search is for an unknown outcome, and can find nothing. */
    boolean isOfNoOutcome() {
        return wanted.outcome().filter(word -> !MintOutcome.SEARCHED.contains(word)).isPresent();
    }

    /** The single mint that a search for an id found; empty for a subject, which has a list. */
    Optional<MintLine> onlyMint() {
        boolean one =
                wanted.isAnyAlone()
                        && found.lines().size() == 1
                        && found.repeats().isEmpty()
                        && found.next().isEmpty()
                        && found.stoppedAt().isEmpty();
        return one
                ? Optional.of(found.lines().getFirst())
                        .filter(line -> !wanted.any().equals(line.subject()))
                        .filter(line -> !wanted.any().equals(line.key()))
                : Optional.empty();
    }

    /** Whether the search is for an abbreviated id, as pages show it. */
    boolean isCut() {
        return wanted.any().filter(text -> text.contains(CUT) || text.contains("...")).isPresent();
    }

    /** The filters that have no visible field, each with a link that removes it. */
    List<SearchFilter> filters() {
        return SearchFilter.of(this, address());
    }

    Optional<String> next() {
        return found.next()
                .map(id -> address().with(isOldestFirst() ? "after" : "before", id).text());
    }

    /** The URL of a file with all results. */
    String download() {
        return address().without("before", "order", SearchAddress.FOLD).of("/mints/download");
    }

    /** The first page of the same search. */
    String newest() {
        return address().without("before").text();
    }

    private SearchAddress address() {
        return new SearchAddress(wanted, span, period, order, folds);
    }
}
