package io.mintmark.console.pages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.activity.Period;
import io.mintmark.console.pages.frame.Links;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Each number of a page is the number of rows that a query of its own counts, or a bound that the
 * rows exceed.
 */
@Tag("every-postgres")
class TrueNumbersTest {
    private static final String OVER = "over ";
    private static final String OR_MORE = " or more";
    private static final String SUBJECT = "repo:acme/shop:ref:refs/heads/main";
    private static final int DAYS_BACK = 100;

    /**
     * The rows of a list, as {@code n} and {@code at}; an instant in their place is the clock's.
     */
    enum History {
        EMPTY("SELECT 0 AS n, @now AS at WHERE false"),
        /** A job at midnight, 60 rows in three seconds. */
        CRON_AT_MIDNIGHT(
                """
                SELECT d * 100 + n AS n, date_trunc('day', @now) - d * interval '1 day' + n * interval '50 milliseconds' AS at
                  FROM generate_series(0, 80) AS d CROSS JOIN generate_series(0, 59) AS n
                 WHERE d > 0 OR date_trunc('day', @now) + interval '3 seconds' < @now
                """),
        BURST_NOW(
                "SELECT n, @now - n * interval '1 millisecond' AS at FROM generate_series(1, 3000) AS n"),
        BURST_AT_THE_END_OF_A_PART(
                """
                SELECT n, date_trunc(CASE n % 2 WHEN 0 THEN 'hour' ELSE 'day' END, @now) - n * interval '1 millisecond' AS at
                  FROM generate_series(1, 3000) AS n
                """),
        /** Around the hour that is missing or comes twice in Berlin. */
        CLOCKS_CHANGE(
                """
                SELECT n, @now - interval '15 hours' + n * interval '10 seconds' AS at FROM generate_series(1, 2200) AS n
                """),
        /** More often lately than long ago. */
        RANDOM(
                """
                SELECT n, @now - (('x' || left(md5('seed 1 ' || n), 8))::bit(32)::bigint / 4294967296.0) ^ 3 * interval '95 days' AS at
                  FROM generate_series(1, 3000) AS n
                """);

        private final String rows;

        History(String rows) {
            this.rows = rows;
        }

        private Instant now() {
            Instant now = Instant.now();
            return this == CLOCKS_CHANGE
                    ? ZoneId.of("Europe/Berlin")
                            .getRules()
                            .previousTransition(now)
                            .getInstant()
                            .plus(Duration.ofHours(12))
                    : now;
        }
    }

    private static final Pattern ROWS_OF_A_DAY =
            Pattern.compile("FROM \\(SELECT n, now\\(\\).*?\\) AS t\n", Pattern.DOTALL);

    @AutoClose private static final TestDatabase empty = empty();

    private static TestDatabase empty() {
        TestDatabase database = TestDatabase.migrated();
        database.admin(ConsoleWorld.script("world.sql"));
        return database;
    }

    private final List<String> bounds = new ArrayList<>();

    @SuppressWarnings("NullAway.Init") // each test makes its own
    private TestDatabase database;

    @SuppressWarnings("NullAway.Init")
    private ConsoleWorld world;

    @SuppressWarnings("NullAway.Init")
    private Instant now;

    @ParameterizedTest
    @EnumSource
    void each_number_is_that_of_its_query(History history) {
        now = history.now();
        try (TestDatabase own = empty.copy();
                ConsoleWorld there =
                        new ConsoleWorld(
                                own.login(Who.CONSOLE),
                                Optional.empty(),
                                InstantSource.fixed(now))) {
            database = own;
            world = there;
            fill(history);
            for (Period period :
                    List.of(Period.HOUR, Period.DAY, Period.WEEK, Period.MONTH, Period.QUARTER)) {
                overview("auditor", period, "true");
                overview("lead", period, "e.tenant = 'acme'");
                key(period);
                subject(period);
            }
            tenants();
            lately();
        }
        // The list of tenants reads a hundred rows of an hour.
        assertTrue(bounds.stream().allMatch(what -> what.startsWith("tenants")), bounds::toString);
    }

    private void fill(History history) {
        database.run(
                Who.OWNER,
                """
                SELECT audit.create_partition((timestamptz '%s' - d * interval '1 day')::date) FROM generate_series(0, %d, 14) AS d
                """
                        .formatted(now, DAYS_BACK));
        String rows = "(" + history.rows.replace("@now", "timestamptz '" + now + "'") + ") AS t\n";
        String events = ConsoleWorld.script("events.sql");
        assertTrue(ROWS_OF_A_DAY.matcher(events).find());
        database.run(
                Who.APP,
                "SET TimeZone = 'UTC';\n"
                        + ROWS_OF_A_DAY.matcher(events).replaceFirst("FROM " + rows));
    }

    private void overview(String viewer, Period period, String seen) {
        String living =
                "SELECT count(*) FROM audit.event AS e WHERE e.expires_at > now() AND e.kind IN ('issued', 'withheld') AND "
                        + seen;
        Counted counted =
                whileCounted(living, () -> world.page(viewer, "/?range=" + period.word()));
        String page = counted.page();
        String since = since(period.bins(now).since()) + " AND " + seen;
        assertNumbers(
                "overview of a " + period,
                numbers(
                        page,
                        "<b>([^<]+)</b> <a href=\"/mints\\?outcome=(?:minted|refused|failed)"),
                counts(since));
        assertNumbers(
                "live ones on the overview",
                numbers(page, "<b>([^<]+)</b> <a href=\"/mints\\?outcome=live"),
                counted.numbers());
        assertNumbers(
                "most denied of a " + period,
                numbers(page, ">([^<>]+)<span class=\"narrow-only\"> denials?</span>"),
                column(
                        """
                        SELECT count(*) FROM audit.event AS e WHERE e.kind = 'denied' AND %s
                         GROUP BY e.tenant, e.subject, e.key ORDER BY 1 DESC LIMIT 5
                        """
                                .formatted(since)));
    }

    private void tenants() {
        String page = world.page("auditor", "/tenants");
        for (String tenant : List.of("acme", "globex")) {
            String rows = since(Period.DAY.bins(now).since()) + " AND e.tenant = '" + tenant + "'";
            assertNumbers(
                    "tenants: " + tenant,
                    numbers(
                            page,
                            "<a href=\"/mints\\?tenant=%s&amp;[^\"]*range=day\">([^<]+)</a>"
                                    .formatted(tenant)),
                    counts(rows).subList(0, 2));
        }
    }

    private void key(Period period) {
        String page = world.page("lead", "/keys/acme/deploy?range=" + period.word());
        String rows =
                since(period.bins(now).since()) + " AND e.tenant = 'acme' AND e.key = 'deploy'";
        assertNumbers("key of a " + period, ofUse(page), counts(rows));
        assertNumbers(
                "users of the key in a " + period,
                numbers(
                        page.split("aria-label=\"Who asked for the key\"", 2)[
                                page.contains("Who asked for the key") ? 1 : 0],
                        "<td class=\"number\">(?:<a class=\"main\"[^>]*>)?([^<]+)<"),
                column(
                        """
                        SELECT unnest(ARRAY[u.mints, u.denials])
                          FROM (SELECT count(*) FILTER (WHERE e.step = 1) AS mints, count(*) FILTER (WHERE e.kind = 'denied') AS denials
                                  FROM audit.event AS e WHERE (e.step = 1 OR e.kind = 'denied') AND %s
                                 GROUP BY e.subject, e.actor ORDER BY 1 DESC, max(e.occurred_at) DESC LIMIT 10) AS u
                        """
                                .formatted(rows)));
    }

    private void subject(Period period) {
        String page = page("&range=" + period.word());
        assertNumbers(
                "subject of a " + period,
                ofUse(page),
                counts(since(period.bins(now).since()) + ofSubject()));
    }

    private void lately() {
        List<String> day = counts(since(now.minus(Duration.ofDays(1))) + ofSubject());
        String valid =
                "SELECT count(*) FROM audit.event AS e WHERE e.expires_at > now() AND e.kind IN ('issued', 'withheld')"
                        + ofSubject();
        Counted counted = whileCounted(valid, () -> page(""));
        String page = counted.page();
        MatchResult shown =
                Pattern.compile(
                                "In the last 24 hours: <b>([^<]+) mints?</b> and (.+?) refusals?\\. <b>([^<]+)</b> of its credentials")
                        .matcher(page)
                        .results()
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(page));
        assertNumbers(
                "a day of a subject",
                List.of(shown.group(1), shown.group(2), shown.group(3)),
                List.of(day.get(0), day.get(1), counted.numbers().getFirst()));
    }

    private String page(String more) {
        return world.page("lead", Links.subject(SUBJECT) + more);
    }

    private static String ofSubject() {
        return " AND e.tenant = 'acme' AND e.subject = '" + SUBJECT + "'";
    }

    private static List<String> ofUse(String page) {
        return numbers(page, "<b>([^<]+)</b> (?:mint|refusal|failure)s?\\b");
    }

    private static String since(Instant since) {
        return "e.mint_id >= audit.first_mint_id('%s')".formatted(since);
    }

    /** The mints, refusals and failures among some rows. */
    private List<String> counts(String rows) {
        return column(
                """
                SELECT unnest(ARRAY[count(*) FILTER (WHERE e.step = 1), count(*) FILTER (WHERE e.kind IN ('denied', 'rejected')),
                                    count(*) FILTER (WHERE e.kind = 'failed')])
                  FROM audit.event AS e WHERE %s
                """
                        .formatted(rows));
    }

    /** A page, and what a query counted before it and after it alike. */
    private record Counted(String page, List<String> numbers) {}

    /** A credential may expire while its page is made. */
    private Counted whileCounted(String sql, Supplier<String> page) {
        while (true) {
            List<String> before = column(sql);
            String shown = page.get();
            if (before.equals(column(sql))) {
                return new Counted(shown, before);
            }
        }
    }

    private List<String> column(String sql) {
        return database.column(sql);
    }

    private static List<String> numbers(String page, String pattern) {
        return Pattern.compile(pattern)
                .matcher(page)
                .results()
                .map(number -> number.group(1))
                .toList();
    }

    private void assertNumbers(String what, List<String> shown, List<String> counted) {
        assertEquals(counted.size(), shown.size(), () -> what + ": " + shown + " for " + counted);
        for (int at = 0; at < shown.size(); at++) {
            assertNumber(what, shown.get(at), Long.parseLong(counted.get(at)));
        }
    }

    private void assertNumber(String what, String shown, long counted) {
        if (!shown.startsWith(OVER) && !shown.endsWith(OR_MORE)) {
            assertEquals(String.format(Locale.ENGLISH, "%,d", counted), shown, what);
            return;
        }
        bounds.add(what + ": " + shown);
        long least =
                shown.endsWith(OR_MORE)
                        ? Long.parseLong(shown.replace(OR_MORE, ""))
                        : Long.parseLong(shown.substring(OVER.length()).replace(",", "")) + 1;
        assertTrue(least <= counted, () -> what + ": " + shown + " for " + counted);
    }
}
