package io.mintmark.console.pages;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What helps people to find and to understand: counts, orders, suggestions, examples, advice. */
@Tag("every-postgres")
class FindingThingsTest {
    private static final String DEPLOYER = "repo:acme/shop:ref:refs/heads/main";
    private static final Pattern LINE =
            Pattern.compile("<a class=\"main\" href=\"/mints/([0-9a-f-]{36})\"");

    /** More than are counted. */
    private static final String FLOOD =
            """
            INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer,
                   subject, key, reason, claims, broker)
            SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7000' || '8'
                    || lpad(n::text, 15, '0'))::uuid, 2, 'denied', at, 'flood', 'globex', 'globex-gitlab',
                   'https://gitlab.globex.example', 'flood', 'deploy', 'not_granted',
                   (SELECT jsonb_object_agg('claim_' || i, i) FROM generate_series(1, 40) AS i), 'b'
              FROM (SELECT n, now() - interval '2 minutes' + n * interval '10 milliseconds' AS at
                      FROM generate_series(1, 1100) AS n) AS t
            """;

    private static final String REJECTED =
            """
            INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, reason, detail, broker)
            SELECT (left(audit.first_mint_id(now())::text, 14) || '7000-8000-000000000009')::uuid, 2, 'rejected', now(),
                   'late', 'acme', 'acme-github', 'https://token.actions.githubusercontent.com', 'token_expired', '{"expiredAt":"2026-01-01T00:00:00Z"}', 'b'
            """;

    @AutoClose private static TestDatabase database;
    private static ConsoleWorld world;

    @BeforeAll
    static void setUp() {
        database = ConsoleWorld.filled();
        database.run(Who.APP, FLOOD);
        database.run(Who.APP, REJECTED);
        world = ConsoleWorld.of(database);
    }

    /** The mints of a list, page by page. */
    private static List<String> walked(String path) {
        List<String> ids = new ArrayList<>();
        Optional<String> next = Optional.of(path);
        while (next.isPresent()) {
            String page = world.page("auditor", next.get());
            LINE.matcher(page).results().map(line -> line.group(1)).forEach(ids::add);
            next = found(page, "<a href=\"([^\"]+)\" rel=\"next\">");
        }
        return ids;
    }

    private static Optional<String> found(String page, String pattern) {
        return Pattern.compile(pattern)
                .matcher(page)
                .results()
                .map(match -> match.group(1).replace("&amp;", "&"))
                .findFirst();
    }

    @Test
    void a_list_is_counted_and_reads_the_same_from_both_ends() {
        String search = "/mints?tenant=acme&outcome=minted";

        List<String> newest = walked(search);
        List<String> oldest = walked(search + "&order=oldest");

        assertTrue(newest.size() > 100, "too few to be on several pages: " + newest.size());
        assertEquals(newest, oldest.reversed());
        assertShows(
                world.page("auditor", search),
                "<b>%d entries</b>, newest first".formatted(newest.size()),
                "Show oldest first");
        assertShows(world.page("auditor", search + "&order=oldest"), "Show newest first");
    }

    @Test
    void too_many_to_count_are_not_shown_from_the_oldest_on() {
        assertShows(
                world.page("auditor", "/mints?subject=flood&order=oldest"),
                "Over 1,000 entries",
                "newest first",
                "The oldest can come first only among 1,000 entries or fewer");
    }

    @Test
    void a_time_range_is_one_click_away_and_keeps_the_rest_of_the_search() {
        String page = world.page("auditor", "/mints?tenant=acme&outcome=issued&to=2026-01-01");

        for (String range : List.of("Hour", "Day", "Week", "Month", "Quarter")) {
            String address = found(page, "<a href=\"([^\"]+)\">" + range + "</a>").orElseThrow();
            assertEquals(
                    "/mints?tenant=acme&outcome=issued&range=" + range.toLowerCase(Locale.ROOT),
                    address);
            assertTrue(!walked(address).isEmpty(), range);
        }
        String hour = found(page, "<a href=\"([^\"]+)\">Hour</a>").orElseThrow();
        assertTrue(walked(hour).size() < walked("/mints?tenant=acme&outcome=issued").size());
    }

    @Test
    void a_part_of_a_name_finds_tenants_keys_and_subjects() {
        assertShows(
                world.page("lead", "/mints?q=repo%3AACME"),
                "Did you mean",
                "<h3>Subjects <small>",
                "subject <a class=\"id\""
                        + " href=\"/subjects?q=repo%3Aacme%2Fshop%3Aref%3Arefs%2Fheads%2Fmain\">");
        assertShows(
                world.page("lead", "/mints?q=depl"),
                "<h3>Keys <small>1</small></h3>",
                "key <a class=\"id\" href=\"/keys/acme/deploy\">deploy</a>");
        assertShows(
                world.page("lead", "/mints?q=acm"),
                "tenant <a class=\"id\" href=\"/tenants/acme\">");
        assertShows(
                world.page("lead", "/subjects?q=checkout"),
                "system:serviceaccount:shop:checkout</a>");
        assertShows(
                world.page("lead", "/mints"),
                "<option value=\"acme\"></option>",
                "<option value=\"inventory\"></option>");
    }

    @Test
    void a_part_of_a_name_in_a_field_finds_that_kind_of_name_alone() {
        assertShows(
                world.page("lead", "/mints?key=DEPL"),
                "Did you mean",
                "key <a class=\"id\" href=\"/keys/acme/deploy\">deploy</a>");
        assertShows(
                world.page("lead", "/mints?tenant=acm"),
                "Did you mean",
                "tenant <a class=\"id\" href=\"/tenants/acme\">");
        assertShows(
                world.page("lead", "/reviews?tenant=acm"),
                "Did you mean",
                "<option value=\"acme\"></option>");
        HttpResponse<String> absent = world.get("lead", "/tenants/acm");
        assertEquals(404, absent.statusCode());
        assertShows(absent.body(), "Did you mean", "href=\"/tenants/acme\"");
        for (String exact :
                List.of(
                        "/mints?key=deploy&outcome=withheld&from=2030-01-01",
                        "/mints?tenant=acme&from=2030-01-01",
                        "/mints?key=nothing",
                        "/reviews?tenant=acme")) {
            assertLacks(world.page("lead", exact), "Did you mean");
        }
    }

    @Test
    void nothing_of_another_tenant_is_suggested() {
        for (String path :
                List.of(
                        "/mints?q=glob",
                        "/mints?q=track",
                        "/subjects?q=track",
                        "/mints?tenant=glob",
                        "/reviews?tenant=glob",
                        "/mints")) {
            assertLacks(world.page("lead", path), "globex", "Did you mean");
        }
        assertShows(world.page("auditor", "/mints?q=track"), "project_path:globex/tracking");
    }

    @ParameterizedTest
    @ValueSource(strings = {"auditor", "lead", "other"})
    void the_example_of_claims_works_as_it_is(String viewer) {
        String address =
                found(world.page(viewer, "/explain"), "<a href=\"([^\"]+)\">explain it</a>")
                        .orElseThrow();

        String page = world.page(viewer, address);

        assertShows(page, "What it may mint now", "Granted: 1 of");
        assertLacks(page, "role=\"alert\"");
    }

    @Test
    void claims_that_can_be_read_get_an_address_of_their_own() {
        HttpResponse<String> answer =
                world.submit(
                        "lead",
                        "/explain",
                        "idp=acme-github&claims=%7B%0D%0A+%22sub%22%3A+%22" + DEPLOYER + "%22+%7D");

        assertEquals(303, answer.statusCode());
        String address = answer.headers().firstValue("Location").orElseThrow();
        assertTrue(address.startsWith("/explain?idp=acme-github&claims=%7B%0A%20%22sub"), address);
        assertShows(world.page("lead", address), "What it may mint now");
    }

    @Test
    void a_fault_in_the_claims_is_named_by_its_line() {
        HttpResponse<String> answer =
                world.submit(
                        "lead", "/explain", "claims=%7B%0D%0A%22sub%22%3A+%22x%22%2C%2C%0D%0A%7D");

        assertEquals(200, answer.statusCode());
        assertShows(answer.body(), "Line 2, column 12: ", ">{\n\"sub\": \"x\",,\n}</textarea>");
    }

    @Test
    void a_token_in_the_form_gets_no_address_and_is_not_repeated() {
        String token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2lnbmF0dXJl";

        HttpResponse<String> answer = world.submit("lead", "/explain", "claims=" + token);

        assertEquals(200, answer.statusCode());
        assertShows(answer.body(), "No identity provider that you may see has", "\"sub\"");
        assertLacks(answer.body(), "eyJ", "c2lnbmF0dXJl");
    }

    @Test
    void a_token_in_an_address_is_refused_and_not_repeated() {
        String page =
                world.page(
                        "lead", "/explain?claims=eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2lnbmF0dXJl");

        assertShows(page, "A token is a secret");
        assertLacks(page, "eyJ", "c2lnbmF0dXJl");
    }

    @Test
    void a_rejected_token_s_page_says_what_the_reason_means_and_what_to_do() {
        String mint =
                database.value("SELECT mint_id FROM audit.event WHERE reason = 'token_expired'");

        assertShows(
                world.page("lead", "/mints/" + mint),
                "the token had expired when it arrived (<span class=\"id\">token_expired</span>)",
                "<b>What to do:</b> Have the client get a new token right before each request.");
    }

    @Test
    void long_json_is_folded_and_short_json_is_not() {
        String folded = "<details><summary>Claims: ";
        String flood =
                database.value("SELECT mint_id FROM audit.event WHERE subject = 'flood' LIMIT 1");
        String issued =
                database.value("SELECT mint_id FROM audit.event WHERE kind = 'issued' LIMIT 1");

        assertShows(world.page("auditor", "/mints/" + flood), folded);
        assertLacks(world.page("auditor", "/mints/" + issued), folded);
        String rejected =
                database.value("SELECT mint_id FROM audit.event WHERE reason = 'token_expired'");
        assertShows(
                world.page("lead", "/mints/" + rejected),
                "{\n  \"expiredAt\" : \"2026-01-01T00:00:00Z\"\n}");
    }

    @Test
    void controls_say_what_they_do() {
        assertShows(world.page("auditor", "/mints"), "<button type=\"submit\">Filter</button>");
        assertShows(world.page("auditor", "/"), "<summary>Show as table</summary>");
        assertShows(world.page("auditor", "/tenants/acme"), "<dt>Limits</dt>");
    }

    @Test
    void an_id_in_a_list_is_complete_so_that_it_can_be_copied() {
        String hash =
                database.value(
                        "SELECT credential_id FROM audit.event WHERE kind = 'issued' AND"
                                + " provider_type = 'jwt' ORDER BY mint_id DESC LIMIT 1");
        Matcher shown =
                Pattern.compile(
                                "<span class=\"head\">([^<]+)</span><span"
                                        + " class=\"tail\">([^<]+)</span>")
                        .matcher(world.page("auditor", "/mints?key=inventory&outcome=issued"));

        assertTrue(
                shown.results()
                        .map(parts -> parts.group(1) + parts.group(2))
                        .anyMatch(hash::equals));
    }
}
