package io.mintmark.console.pages.requests;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Parameters;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** A list of requests among which the page lets its reader choose. */
enum RequestTab {
    WAITING("Waiting for you", "What waits for you?"),
    OPEN("Open", "Which requests are open?"),
    DECIDED("Decided", "What was decided?"),
    WITHDRAWABLE("You may withdraw", "Which access may you withdraw?"),
    BREAK_GLASS("Break glass", "Who used break glass?");

    private static final String PARAMETER = "show";
    private static final int COUNTED = 1_000;

    /** Decided ones are as many as there is history, so they aren't counted. */
    private static final String NUMBERS =
            """
            SELECT (SELECT count(*) FROM internal.waiting_for_viewer(?)) AS waiting,
                   (SELECT count(*) FROM (SELECT FROM broker.access_request AS q
                      WHERE q.status = 'pending' AND q.expires_at > now() LIMIT ?) AS n) AS open,
                   (SELECT count(*) FROM (SELECT FROM broker.access_request AS q
                      WHERE q.break_glass AND q.signed_off_by IS NULL LIMIT ?) AS n) AS break_glass
            """;

    private final String label;
    private final String question;

    RequestTab(String label, String question) {
        this.label = label;
        this.question = question;
    }

    /**
     * A choice among the lists.
     *
     * @param number of requests that somebody has to do something about; empty if nobody has to
     */
    record Link(String label, Optional<String> number, String address, boolean current) {}

    /**
     * The one that an address names, or the first.
     *
     * @throws Parameters.Unusable for an unknown name
     */
    static RequestTab of(Parameters parameters) {
        return parameters.text(PARAMETER).map(RequestTab::named).orElse(WAITING);
    }

    private static RequestTab named(String word) {
        return Stream.of(values())
                .filter(tab -> tab.word().equals(word.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() ->
                        new Parameters.Unusable(
                                "'%s' is not a list of requests. Use waiting, open, decided, withdrawable or break-glass."
                                        .formatted(word)));
    }

    /** Links to all lists. */
    static List<Link> links(Connection connection, Optional<RequestTab> current)
            throws SQLException {
        Map<RequestTab, Long> numbers = numbers(connection);
        return Stream.of(values())
                .map(tab ->
                        new Link(
                                tab.label,
                                Optional.ofNullable(numbers.get(tab)).map(RequestTab::bounded),
                                tab.address(),
                                current.filter(tab::equals).isPresent()))
                .toList();
    }

    private static Map<RequestTab, Long> numbers(Connection connection) throws SQLException {
        int most = COUNTED + 1;
        return Query.of(NUMBERS, most, most, most)
                .first(
                        connection,
                        row ->
                                new EnumMap<>(
                                        Map.of(
                                                WAITING,
                                                row.getLong("waiting"),
                                                OPEN,
                                                row.getLong("open"),
                                                BREAK_GLASS,
                                                row.getLong("break_glass"))))
                .orElseThrow();
    }

    private static String bounded(long number) {
        return number > COUNTED ? "over " + Frame.number(COUNTED) : Frame.number(number);
    }

    String question() {
        return question;
    }

    /** The address of the list. */
    String address() {
        return this == WAITING ? "/requests" : "/requests?%s=%s".formatted(PARAMETER, word());
    }

    private String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
