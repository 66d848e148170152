package io.mintmark.console.pages.mints;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.console.pages.frame.Links;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.net.http.HttpResponse;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;

/** What a search takes, says and offers, and its file. */
@Tag("every-postgres")
class MintsPageTest {
    private static final String DEPLOYER = "repo:acme/shop:ref:refs/heads/main";

    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);

    @Test
    void a_mints_id_leads_to_the_mint() {
        String mint = ConsoleWorld.mint(database, "kind = 'issued'");

        assertEquals("/mints/" + mint, world.leadsTo("/mints?q=" + mint));
    }

    /** A column that is empty in every line says nothing. */
    @Test
    void denials_have_no_columns_of_credentials() {
        String credential = ">Credential</th>";
        String ends = ">Ends</th>";

        assertShows(world.page("lead", "/mints?outcome=live"), credential, ends);
        assertLacks(world.page("lead", "/mints?outcome=denied"), credential, ends);
    }

    @Test
    void what_was_searched_for_can_be_downloaded() {
        HttpResponse<String> answer = world.get("lead", "/mints/download?outcome=failed");

        List<String> lines = answer.body().lines().toList();
        String failed =
                database.value(
                        "SELECT count(*) FROM audit.event WHERE kind = 'failed' AND tenant ="
                                + " 'acme'");
        assertEquals(Integer.parseInt(failed) + 1, lines.size());
        assertEquals(
                "attachment; filename=\"mints-%s-outcome-failed.csv\""
                        .formatted(LocalDate.now(ZoneOffset.UTC)),
                answer.headers().firstValue("Content-Disposition").orElseThrow());
    }

    @Test
    void a_downloaded_line_leads_to_its_grant_and_its_token() {
        String mint = ConsoleWorld.mint(database, "kind = 'issued' AND tenant = 'acme'");
        String last =
                database.value(
                        """
                        SELECT concat_ws('","', o.grant_id, host(o.client_address), encode(o.token_hash, 'hex'))
                          FROM audit.event AS o WHERE o.step = 2 AND o.mint_id = '%s'
                        """
                                .formatted(mint));

        List<String> lines = world.get("lead", "/mints/download").body().lines().toList();

        assertTrue(
                lines.getFirst()
                        .endsWith(
                                ",request_id,grant_id,client_address,token_hash,chain,seq,ended_at"));
        String line = lines.stream().filter(one -> one.contains(mint)).findFirst().orElseThrow();
        assertShows(line, last + "\",,,");
    }

    @Test
    void a_downloaded_file_is_named_by_what_was_looked_for_in_plain_letters() {
        String name =
                world.get(
                                "lead",
                                "/mints/download?q="
                                        + Links.encoded("a\"\r\n/../x;" + "é".repeat(300)))
                        .headers()
                        .firstValue("Content-Disposition")
                        .orElseThrow();

        assertTrue(
                name.matches("attachment; filename=\"mints-[A-Za-z0-9._-]{1,115}\\.csv\""), name);
    }

    @Test
    void a_wrong_time_is_told_beside_its_field_and_the_form_loses_nothing() {
        HttpResponse<String> answer =
                world.get(
                        "auditor",
                        "/mints?q=x%3Ay&tenant=acme&key=deploy&outcome=denied&from=tomorrow&to=21%20Nov%202026");

        assertEquals(400, answer.statusCode());
        assertShows(
                answer.body(),
                "value=\"x:y\"",
                "value=\"acme\"",
                "value=\"deploy\"",
                "<option value=\"denied\" selected>",
                "value=\"tomorrow\"",
                "aria-describedby=\"from-fault\"",
                "id=\"from-fault\">'tomorrow' is not a time",
                "value=\"21 Nov 2026\"");
        assertEquals(400, world.get("auditor", "/mints/download?from=tomorrow").statusCode());
        assertShows(
                world.get("auditor", "/mints?from=2026-03-02&to=2026-03-01").body(),
                "id=\"to-fault\">The start is after the end");
    }

    @Test
    void a_day_stays_as_it_was_typed() {
        String page = world.page("auditor", "/mints?outcome=denied&from=1%20Jan%202026");

        assertShows(
                page,
                "value=\"1 Jan 2026\"",
                "/mints/download?outcome=denied&amp;from=1%20Jan%202026\"");
    }

    @Test
    void a_filter_whose_field_is_folded_or_missing_is_shown_and_can_be_removed() {
        String page =
                world.page("auditor", "/mints?tenant=acme&subject=" + Links.encoded(DEPLOYER));

        assertShows(
                page,
                "Mints and refusals of subject <span class=\"id\">" + DEPLOYER,
                "<a href=\"/mints?tenant=acme\" aria-label=\"Without the filter Subject\">remove");
        assertShows(
                world.page("auditor", "/mints?tenant=acme"),
                "<a href=\"/mints\" aria-label=\"Without the filter Tenant\">");
        assertLacks(world.page("auditor", "/mints"), "class=\"chips\"");
        assertShows(
                world.page("auditor", "/mints?outcome=bogus"),
                "<a href=\"/mints\" aria-label=\"Without the filter Outcome\">");
    }

    @Test
    void a_range_has_links_to_the_times_beside_it() {
        assertShows(
                world.page("auditor", "/mints?from=2026-03-02&to=2026-03-04&tenant=acme"),
                "href=\"/mints?tenant=acme&amp;from=2026-02-27%2000%3A00&amp;to=2026-03-02%2000%3A00\">← Earlier<",
                "href=\"/mints?tenant=acme&amp;from=2026-03-05%2000%3A00&amp;to=2026-03-08%2000%3A00\">Later →<",
                "href=\"/mints?tenant=acme&amp;from=2026-02-27%2000%3A00&amp;to=2026-03-08%2000%3A00\">Zoom out<");
        String week = world.page("auditor", "/mints?range=week");
        assertShows(week, "← Earlier", "Zoom out");
        assertLacks(week, "Later →");
        assertLacks(world.page("auditor", "/mints"), "← Earlier");
    }

    @Test
    void a_cut_id_is_told_to_be_one() {
        assertShows(
                world.page("auditor", "/mints?q=ASIA0123%E2%80%A64567CDEF"),
                "This looks like a shortened id");
        assertLacks(world.page("auditor", "/mints?q=ASIA0123"), "that was cut");
    }

    @Test
    void an_outcome_that_there_is_not_is_told_from_nothing_found() {
        assertShows(world.page("auditor", "/mints?outcome=bogus"), "</span>. Use one of issued,");
        assertShows(world.page("auditor", "/mints?q=nobody"), "Nothing that you may see matches.");
    }

    @Test
    void an_id_that_is_not_found_is_told_to_be_written_whole_and_as_it_is() {
        String id =
                database.value(
                        "SELECT credential_id FROM audit.event WHERE credential_id LIKE 'ASIA%'"
                                + " LIMIT 1");

        assertShows(
                world.page("auditor", "/mints?q=" + id.toLowerCase(Locale.ROOT)),
                "Ids must be complete and are case-sensitive");
        assertEquals(world.leadsTo("/mints?q=" + id), world.leadsTo("/mints?q=%20" + id + "%0A"));
    }
}
