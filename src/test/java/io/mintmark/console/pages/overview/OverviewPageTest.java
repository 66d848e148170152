package io.mintmark.console.pages.overview;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the overview counts, and for whom. */
@Tag("every-postgres")
class OverviewPageTest {
    private static final String ISO =
            "SELECT to_char(w.at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS') FROM (SELECT %s) AS w (at)";

    /** When the oldest mint without outcome began, as its id has it. */
    private static final String OLDEST_OPEN =
            "min(e.occurred_at) FROM audit.event AS e WHERE e.tenant = 'acme' AND e.step = 1 AND NOT EXISTS"
                    + " (SELECT FROM audit.event AS o WHERE o.mint_id = e.mint_id AND o.step = 2)";

    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);

    @Test
    void a_lint_warning_about_a_shared_issuer_says_by_whom_its_row_was_last_changed() {
        String issuer = "https://ci.vendor.example";
        database.admin(
                "INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('%s', '{aud}')"
                        .formatted(issuer));
        try {
            String page = world.page("auditor", "/");
            String warning = page.substring(page.indexOf(issuer));
            assertShows(
                    warning.substring(0, warning.indexOf("</li>")),
                    "claim of several owners",
                    "Row last changed",
                    " by test_admin.");
        } finally {
            database.admin(
                    "DELETE FROM broker.shared_issuer WHERE issuer = '%s'".formatted(issuer));
        }
    }

    @Test
    void the_overview_counts_what_was_minted_and_refused() {
        String page = world.page("auditor", "/");
        String mints = database.value("SELECT count(*) FROM audit.event WHERE kind = 'requested'");
        String denied = database.value("SELECT count(*) FROM audit.event WHERE kind = 'denied'");
        String alive =
                database.value(
                        "SELECT count(*) FROM audit.event WHERE expires_at > now() AND kind IN"
                                + " ('issued', 'withheld')");

        assertShows(
                page,
                "<b>" + mints + "</b> <a href=\"/mints?outcome=minted",
                "<b>" + denied + "</b> <a href=\"/mints?outcome=refused",
                "<b>" + alive + "</b> <a href=\"/mints?outcome=live",
                "<svg");
    }

    @Test
    void a_lead_is_counted_her_own_tenant_alone() {
        String mints =
                database.value(
                        "SELECT count(*) FROM audit.event WHERE kind = 'requested' AND tenant ="
                                + " 'acme'");

        String page = world.page("lead", "/");

        assertShows(page, "<b>" + mints + "</b> <a href=\"/mints?outcome=minted");
        assertFalse(page.contains("globex"));
    }

    @Test
    void the_overview_says_since_when_it_counts() {
        ZonedDateTime day =
                ZonedDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.HOURS).minusHours(23);
        ZonedDateTime log =
                Instant.parse(
                                database.value(
                                        "SELECT to_json(date_trunc('hour', min(occurred_at AT TIME ZONE 'UTC'))) #>> '{}' || 'Z' FROM audit.event"))
                        .atZone(ZoneOffset.UTC);
        ZonedDateTime since = log.isAfter(day) ? log : day;
        String page = world.page("auditor", "/");

        assertShows(
                page,
                "/mints?outcome=minted&amp;from="
                        + since.format(DateTimeFormatter.ISO_LOCAL_DATE)
                        + "%20",
                "failures since %s; most in one hour:"
                        .formatted(
                                since.format(
                                        DateTimeFormatter.ofPattern(
                                                "d MMM uuuu, HH:mm 'UTC'", Locale.ENGLISH))));
    }

    @Test
    void each_range_counts_the_same_mints_in_parts_of_its_own() {
        String day =
                "<b>%s</b> <a href=\"/mints?outcome=minted"
                        .formatted(
                                database.value(
                                        "SELECT count(*) FROM audit.event WHERE kind = 'requested'"));

        for (String range : List.of("week", "month")) {
            String page = world.page("auditor", "/?range=" + range);
            assertShows(page, day);
        }
        assertShows(world.page("auditor", "/?range=week"), "each 6 hours");
        assertShows(world.page("auditor", "/?range=quarter"), "each day");
        assertShows(world.page("auditor", "/?range=hour"), "each minute");
        assertShows(
                world.get("auditor", "/?range=decade").body(),
                "is not a range. Use hour, day, week, month or quarter.");
    }

    @Test
    void only_the_last_bar_is_hatched_because_its_time_is_not_over() {
        String chart = world.page("auditor", "/");

        assertEquals(2, chart.split("class=\"running\"", -1).length);
        assertTrue(chart.indexOf("class=\"running\"") > chart.lastIndexOf("class=\"slot\""));
    }

    @Test
    void failures_and_who_is_denied_most_are_counted() {
        String failed = database.value("SELECT count(*) FROM audit.event WHERE kind = 'failed'");
        String most =
                database.value(
                        "SELECT count(*) FROM audit.event WHERE kind = 'denied'"
                                + " GROUP BY tenant, subject, key ORDER BY 1 DESC LIMIT 1");

        String page = world.page("auditor", "/");

        assertShows(
                page,
                "<b>" + failed + "</b> <a href=\"/mints?outcome=failed",
                "&amp;subject=",
                ">" + most + "<span class=\"narrow-only\"> denials</span></a></td>");
        String ofFirst =
                "SELECT to_char(%s(occurred_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS') FROM"
                        + " audit.event WHERE kind = 'denied' GROUP BY tenant, subject, key"
                        + " ORDER BY count(*) DESC, max(mint_id::text) DESC LIMIT 1";
        assertShows(
                page,
                "class=\"first\"><time datetime=\"" + database.value(ofFirst.formatted("min")),
                "class=\"ends\"><time datetime=\"" + database.value(ofFirst.formatted("max")));
        assertLacks(world.page("lead", "/"), "tenant=globex", ">globex<");
    }

    @Test
    void what_needs_somebody_is_counted_and_leads_there() {
        try (TestDatabase own = ConsoleWorld.filled();
                ConsoleWorld there = new ConsoleWorld(own.login(Who.CONSOLE), Optional.empty())) {
            assertShows(
                    there.page("lead", "/"),
                    "<b>0</b> <a href=\"/reviews\">reviews due",
                    "<b>0</b> <span>not yet revoked",
                    "<b>1</b> <a href=\"#ends\">ends soon");
            own.runAsSuperuser(
                    """
                    ALTER TABLE broker.subject_grant DISABLE TRIGGER USER;
                    UPDATE broker.subject_grant SET created_at = now() - interval '91 days' WHERE id = 2;
                    INSERT INTO runtime.ending (mint_id, tenant, provider, provider_type, key, outcome, due, next_try, tries, last_reason)
                    SELECT mint_id, tenant, provider, provider_type, key, 'issued', now() - interval '1 hour', now(), 3, 'provider_timeout'
                      FROM audit.event WHERE tenant = 'acme' AND kind = 'issued' LIMIT 1
                    """);

            String page = there.page("lead", "/");

            assertShows(
                    page,
                    "<h2 id=\"needs\">Needs somebody</h2>",
                    "<b>1</b> <a href=\"/reviews\">review due",
                    "<a href=\"/tenants/acme/history?table=subject_grant&amp;row=2\">repo:acme/*:pull_request for read-only of acme</a>",
                    "<span class=\"since\"><time datetime=\""
                            + own.value(
                                    ISO.formatted(
                                            "created_at + interval '90 days' FROM broker.subject_grant WHERE id = 2")),
                    "<span class=\"since\"><time datetime=\""
                            + own.value(ISO.formatted(OLDEST_OPEN)),
                    "<b>1</b> <a href=\"#unrevoked\">not yet revoked",
                    "provider_timeout");
            assertShows(
                    there.page("other", "/"),
                    "<b>0</b> <a href=\"/reviews\">reviews due",
                    "<b>0</b> <span>not yet revoked",
                    "<b>0</b> <a href=\"#ends\">end soon");
            // a grant of a request is short by design
            own.runAsSuperuser(
                    "UPDATE broker.subject_grant SET request_id = gen_random_uuid() WHERE tenant = 'acme' AND valid_until > now()");
            assertShows(there.page("lead", "/"), "<b>0</b> <a href=\"#ends\">end soon");
        }
    }

    /** Why was it denied, who had a key last week, what did an admin do, is the log intact. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    /explain[?]mint=[^"]+   | Why was
                    /keys/acme/deploy       | name="at"
                    /people/test_admin      | name="from"
                    /proof                  | Is the log intact?
                    """)
    void what_people_come_for_is_a_click_from_the_overview(String link, String there) {
        Matcher links =
                Pattern.compile("href=\"(" + link + ")\"").matcher(world.page("auditor", "/"));

        assertTrue(links.find(), link);
        assertShows(world.page("auditor", links.group(1).replace("&amp;", "&")), there);
    }

    /** What needs somebody is on the page itself; no line leads nowhere. */
    @Test
    void each_line_of_the_state_leads_to_a_page_or_to_a_part_of_this_one() {
        String page = world.page("auditor", "/");
        String state =
                page.substring(page.indexOf("class=\"state"), page.indexOf("Mints and refusals"));
        List<String> links =
                Pattern.compile("href=\"([^\"]+)\"")
                        .matcher(state)
                        .results()
                        .map(link -> link.group(1))
                        .toList();

        assertTrue(links.contains("/proof") && links.contains("/requests"), state);
        for (String link : links) {
            if (link.startsWith("#")) {
                assertShows(page, "id=\"%s\"".formatted(link.substring(1)));
            } else {
                world.page("auditor", link.replace("&amp;", "&"));
            }
        }
    }

    /** One sentence answers the question of the page; the list below it is ordered by urgency. */
    @Test
    void a_break_glass_without_sign_off_is_in_the_first_sentence() {
        try (TestDatabase own = ConsoleWorld.filled();
                ConsoleWorld there = new ConsoleWorld(own.login(Who.CONSOLE), Optional.empty())) {
            own.runAsSuperuser(
                    """
                    SET session_replication_role = replica;
                    INSERT INTO broker.access_request (tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals,
                                                       expires_at, requested_at)
                    SELECT 'acme', 1, 'deploy', 'acme-github', 'https://token.actions.githubusercontent.com', 'repo:acme/shop:incident-' || n,
                           'INC-82: the shop is down', 3600, true, 0, now() - interval '1 hour', now() - n * interval '2 hours'
                      FROM generate_series(1, 2) AS n
                    """);
            String oldest =
                    own.value("SELECT id FROM broker.access_request ORDER BY requested_at LIMIT 1");

            String page = there.page("lead", "/");

            assertShows(
                    page,
                    "answer\">Two break-glass requests wait for a sign-off, and three mints have no outcome. Two more items are listed below",
                    "<b>2</b> <a href=\"/requests?show=break-glass\">uses of break glass without sign-off</a>",
                    "<a href=\"/requests/%s\">repo:acme/shop:incident-2 for deploy of acme</a>"
                            .formatted(oldest),
                    "<b>0</b> <a href=\"/requests\">requests for you");
            assertTrue(
                    page.indexOf(">uses of break glass without") < page.indexOf("ends soon</a>"));
            assertShows(
                    there.page("other", "/"),
                    "<b>0</b> uses of break glass without sign-off</span>");
            own.runAsSuperuser(
                    """
                    SET session_replication_role = replica;
                    UPDATE broker.access_request SET signed_off_by = 'grace', signed_off_at = now()
                     WHERE id <> '%s'
                    """
                            .formatted(oldest));
            assertShows(
                    there.page("lead", "/"),
                    "answer\">One break-glass request waits for a sign-off,");
            String object = there.page("lead", "/requests/" + oldest);
            assertShows(
                    object,
                    "used break glass</strong> for 60 minutes of access",
                    "<blockquote class=\"why\">INC-82: the shop is down</blockquote>",
                    "Waits for a sign-off by another person");
            assertEquals(404, there.get("other", "/requests/" + oldest).statusCode());
        }
    }
}
