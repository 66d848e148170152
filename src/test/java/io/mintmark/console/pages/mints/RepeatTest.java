package io.mintmark.console.pages.mints;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A job that tries again and again is one line of each list. */
class RepeatTest {
    private static final Pattern TIMES =
            Pattern.compile("<a class=\"times\" href=\"([^\"]+)\">(× [^<]+)</a>");
    private static final Pattern LINE =
            Pattern.compile(
                    "<tr role=\"row\">\\s*<td role=\"cell\" class=\"when\">.*?</tr>",
                    Pattern.DOTALL);
    private static final Pattern OLDER = Pattern.compile("<a href=\"([^\"]+)\" rel=\"next\">");

    @AutoClose private static final TestDatabase forty = ConsoleWorld.filled();
    private static ConsoleWorld few;

    @BeforeAll
    static void repeat() {
        forty.run(Who.APP, burst(40));
        few = ConsoleWorld.of(forty);
    }

    /** The newest are of one subject; before them are those of many. */
    private static String burst(int times) {
        return """
        INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer,
               subject, key, reason, claims, broker)
        SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7000' || '8'
                || lpad(n::text, 15, '0'))::uuid, 2, 'denied', at, 'burst', 'acme', 'acme-github',
               'https://token.actions.githubusercontent.com', 'burst', 'deploy', 'not_granted', '{}', 'b'
          FROM (SELECT n, now() - interval '2 minutes' + n * interval '10 milliseconds' AS at
                  FROM generate_series(1, %d) AS n) AS t
        """
                .formatted(times);
    }

    private static Matcher times(String page) {
        Matcher found = TIMES.matcher(page);
        assertTrue(found.find(), page);
        return found;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/mints",
                "/mints?outcome=denied",
                "/mints?order=oldest&key=deploy&outcome=denied&range=hour",
                "/keys/acme/deploy",
                "/subjects?q=burst",
                "/people/burst"
            })
    void repeats_are_one_line_that_leads_to_all_of_them(String path) {
        Matcher times = times(few.page("lead", path));
        assertTrue(times.group(2).startsWith("× 40, "), times.group(2));
        String each = few.page("lead", times.group(1).replace("&amp;", "&"));
        assertShows(each, "<b>40 entries</b>", ">Fold repeats</a>");
        assertEquals(40, LINE.matcher(each).results().count());
    }

    @Test
    void the_overview_has_as_many_lines_as_ever() {
        assertEquals(8, LINE.matcher(few.page("lead", "/")).results().count());
    }

    @Test
    void a_long_burst_is_counted_whole_and_the_next_page_goes_on_after_it() {
        try (TestDatabase database = ConsoleWorld.filled()) {
            database.run(Who.APP, burst(3_100));
            ConsoleWorld world = ConsoleWorld.of(database);
            for (String path : List.of("/", "/mints", "/keys/acme/deploy", "/subjects?q=burst")) {
                assertShows(world.page("lead", path), ">× 3,100, ");
            }
            String ofAcme = "SELECT count(DISTINCT mint_id) FROM audit.event WHERE tenant = 'acme'";
            assertEquals(database.value(ofAcme), walked(world, "/mints?tenant=acme"));
            assertEquals(
                    database.value(ofAcme + " AND kind = 'denied'"),
                    walked(world, "/mints?tenant=acme&outcome=denied"));
        }
    }

    /** The number of entries of all pages of a list, those of a repeat as many as it says. */
    private static String walked(ConsoleWorld world, String first) {
        long entries = 0;
        Optional<String> path = Optional.of(first);
        while (path.isPresent()) {
            String page = world.page("lead", path.get());
            for (MatchResult line : LINE.matcher(page).results().toList()) {
                Matcher times = Pattern.compile(">× ([0-9,]+), ").matcher(line.group());
                entries += times.find() ? Long.parseLong(times.group(1).replace(",", "")) : 1;
            }
            path =
                    OLDER.matcher(page)
                            .results()
                            .map(link -> link.group(1).replace("&amp;", "&"))
                            .findFirst();
        }
        return Long.toString(entries);
    }

    @Test
    void more_than_a_page_reads_are_a_bound() {
        try (TestDatabase database = ConsoleWorld.filled()) {
            database.run(Who.APP, burst(Folding.READ + 1_000));
            ConsoleWorld world = ConsoleWorld.of(database);
            for (String path : List.of("/", "/mints")) {
                Matcher bound =
                        Pattern.compile("× over ([0-9,]+), ").matcher(world.page("lead", path));
                assertTrue(bound.find(), path);
                long number = Long.parseLong(bound.group(1).replace(",", ""));
                assertTrue(number >= 4_000 && number < Folding.READ + 1_000, bound.group());
            }
        }
    }

    @Test
    void what_differs_or_comes_much_later_is_a_line_of_its_own() {
        assertShows(few.page("lead", "/mints?key=inventory&outcome=issued"), "inventory");
        assertLacks(few.page("lead", "/mints?key=inventory&outcome=issued"), "× ");
    }
}
