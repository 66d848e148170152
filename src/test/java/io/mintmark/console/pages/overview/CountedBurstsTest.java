package io.mintmark.console.pages.overview;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What charts count of many mints in a few minutes. */
@Tag("every-postgres")
class CountedBurstsTest {
    private static final Pattern MINTS =
            Pattern.compile("<b>(?<bound>(?:over )?)(?<number>[0-9,]+)</b> mints, ");

    @AutoClose private static final TestDatabase filled = ConsoleWorld.filled();

    /**
     * More in some minutes than a part of the chart is first read for, and little else: within
     * parts of the chart, at their ends, and now.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "now() - interval '2 hours'",
                "date_trunc('hour', now()) - interval '3 hours'",
                "date_trunc('hour', now()) - interval '3 hours' + interval '7 minutes'",
                "now()"
            })
    void a_burst_is_counted_whole_in_every_range(String end) {
        try (TestDatabase own = filled.copy();
                ConsoleWorld there = new ConsoleWorld(own.login(Who.CONSOLE), Optional.empty())) {
            own.runAsSuperuser(
                    """
                    CREATE TEMPORARY TABLE burst AS
                    SELECT n, overlay(audit.first_mint_id(%s - n * interval '0.3 seconds')::text
                                      PLACING '7' || lpad(to_hex(n), 3, '0') FROM 15 FOR 4)::uuid AS mint_id
                      FROM generate_series(1, 3000) AS n;
                    CREATE TEMPORARY TABLE like_this AS
                    SELECT * FROM audit.event AS n
                     WHERE n.kind = 'requested' AND n.tenant = 'acme' AND n.key = 'deploy' ORDER BY n.mint_id DESC LIMIT 1;
                    INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key, provider,
                                             provider_type, grant_id, grant_revision, expires_at, token_hash, claims, broker)
                    SELECT b.mint_id, 1, 'requested', e.occurred_at, 'burst-' || b.n, e.tenant, e.idp, e.issuer, e.subject, e.key,
                           e.provider, e.provider_type, e.grant_id, e.grant_revision, e.expires_at, e.token_hash, e.claims, e.broker
                      FROM burst AS b CROSS JOIN like_this AS e;
                    INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key, reason,
                                             claims, broker)
                    SELECT overlay(b.mint_id::text PLACING '9' FROM 20 FOR 1)::uuid, 2, 'denied', e.occurred_at, 'burst-' || b.n,
                           e.tenant, e.idp, e.issuer, e.subject, e.key, 'not_granted', e.claims, e.broker
                      FROM burst AS b CROSS JOIN like_this AS e
                    """
                            .formatted(end));
            String count = "SELECT to_char(count(*), 'FM999,999') FROM audit.event WHERE ";
            String mints = own.value(count + "step = 1");
            String denied = own.value(count + "kind = 'denied'");
            String ofAcme = own.value(count + "step = 1 AND tenant = 'acme'");
            String ofKey = own.value(count + "step = 1 AND tenant = 'acme' AND key = 'deploy'");

            for (String range : List.of("day", "week", "month", "quarter")) {
                assertShows(
                        there.page("auditor", "/?range=" + range),
                        "<b>%s</b> <a href=\"/mints?outcome=minted".formatted(mints),
                        "<b>%s</b> <a href=\"/mints?outcome=refused".formatted(denied));
                assertShows(
                        there.page("lead", "/?range=" + range),
                        "<b>%s</b> <a href=\"/mints?outcome=minted".formatted(ofAcme));
            }
            assertCounts(
                    there.page("auditor", "/keys/acme/deploy?range=month"),
                    ofKey,
                    own.value(
                                    """
                                    SELECT ((%1$s) AT TIME ZONE 'UTC')::date = ((%1$s - interval '15 minutes') AT TIME ZONE 'UTC')::date
                                    """
                                            .formatted(end))
                            .equals("t"));
        }
    }

    /**
     * A key's page reads fewer rows: of a burst around midnight, in two days, it may say a bound.
     */
    private static void assertCounts(String page, String mints, boolean inOneDay) {
        Matcher shown = MINTS.matcher(page);
        assertTrue(shown.find(), page);
        if (inOneDay || shown.group("bound").isEmpty()) {
            assertEquals("<b>%s</b> mints, ".formatted(mints), shown.group());
        } else {
            assertTrue(number(shown.group("number")) < number(mints), shown.group());
        }
    }

    private static int number(String shown) {
        return Integer.parseInt(shown.replace(",", ""));
    }
}
