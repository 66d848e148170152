package io.mintmark.console.pages.mints;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.Test;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A job that tries again and again is one line of the overview. */
class RepeatTest {
    private static final Pattern TIMES =
            Pattern.compile("<a class=\"times\" href=\"([^\"]+)\">(× [^<]+)</a>");

    /** The newest are of one subject; before them are those of many. */
    private static String burst(int times) {
        return """
        INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer,
               subject, key, reason, claims, broker)
        SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7000' || '8'
                || lpad(n::text, 15, '0'))::uuid, 2, 'denied', at, 'burst', 'acme', 'acme-github',
               'https://token.actions.githubusercontent.com', 'burst', 'deploy', 'not_granted', '{}', 'b'
          FROM (SELECT n, now() - interval '20 seconds' + n * interval '10 milliseconds' AS at
                  FROM generate_series(1, %d) AS n) AS t
        """
                .formatted(times);
    }

    private static Matcher times(String page) {
        Matcher found = TIMES.matcher(page);
        assertTrue(found.find(), page);
        return found;
    }

    @Test
    void repeats_are_one_line_that_leads_to_all_of_them() {
        try (TestDatabase database = ConsoleWorld.filled()) {
            database.run(Who.APP, burst(40));
            ConsoleWorld world = ConsoleWorld.of(database);
            String page = world.page("lead", "/");
            Matcher times = times(page);
            assertEquals("× 40,", times.group(2).substring(0, 5), page);
            assertEquals(
                    8, page.split("<td role=\"cell\" class=\"when\">", -1).length - 1, "lines");
            assertShows(
                    world.page("lead", times.group(1).replace("&amp;", "&")), "<b>40 entries</b>");
        }
    }

    @Test
    void more_than_were_read_are_a_bound() {
        try (TestDatabase database = ConsoleWorld.filled()) {
            database.run(Who.APP, burst(Repeat.READ + 1));
            ConsoleWorld world = ConsoleWorld.of(database);
            assertShows(world.page("lead", "/"), " or more, the first ");
        }
    }
}
