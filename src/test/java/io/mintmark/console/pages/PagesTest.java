package io.mintmark.console.pages;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.frame.Links;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What each address answers, and to whom. */
@Tag("every-postgres")
class PagesTest {
    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);

    @Test
    void a_login_may_return_to_every_page_of_the_navigation() {
        Set<String> entries =
                Pattern.compile("<a href=\"(/[a-z]*)\"")
                        .matcher(world.page("auditor", "/").split("</nav>", 2)[0])
                        .results()
                        .map(link -> link.group(1))
                        .collect(Collectors.toSet());

        assertTrue(entries.containsAll(Set.of("/", "/mints", "/reviews")), entries.toString());
        assertTrue(world.paths().containsAll(entries), entries + " of " + world.paths());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/mints?q", "/mints?tenant&key&subject&outcome&from&to&before", "/mints/download?q",
                "/subjects?q", "/tenants?q", "/keys/acme/deploy?at",
                "/tenants/acme/history?table&before", "/explain?claims&idp&mint"
            })
    void a_parameter_without_a_value_is_as_if_it_were_not_there(String path) {
        assertEquals(200, world.get("auditor", path).statusCode());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/", "/mints", "/mints/download", "/keys/acme/deploy", "/style/pico.css"})
    void a_page_can_be_asked_about_without_its_body(String path) {
        assertEquals(200, world.head("lead", path).statusCode());
        assertEquals(404, world.head("lead", "/nowhere").statusCode());
    }

    /** By typed addresses, each of which shows it to an auditor. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/tenants/globex",
                "/tenants/globex/history",
                "/tenants/globex/week",
                "/keys/globex/deploy",
                "/tenants/globex/history?table=subject_grant&row=4"
            })
    void a_lead_sees_nothing_of_another_tenant_and_is_not_told_whether_there_is_one(String path) {
        assertShows(world.page("auditor", path), "globex");

        HttpResponse<String> theirs = world.get("lead", path);
        HttpResponse<String> nobodys = world.get("lead", path.replace("globex", "nowhere"));

        assertEquals(404, theirs.statusCode());
        assertEquals(nobodys.statusCode(), theirs.statusCode());
        assertEquals(withoutTimes(nobodys.body()), withoutTimes(theirs.body()));
    }

    private static String withoutTimes(String page) {
        return page.replaceAll("<time.*?</time>|<code>[0-9a-f-]{36}</code>", "");
    }

    @Test
    void a_lead_finds_nothing_of_another_tenant_by_any_id_of_its_mints() {
        String mint = ConsoleWorld.mint(database, "kind = 'issued' AND tenant = 'globex'");
        List<String> ids =
                database.column(
                        "SELECT unnest(ARRAY[credential_id, request_id, encode(token_hash, 'hex'), subject]) FROM audit.event WHERE step = 2 AND mint_id = '%s'"
                                .formatted(mint));

        assertEquals(404, world.get("lead", "/mints/" + mint).statusCode());
        assertShows(
                world.page("lead", "/explain?mint=" + mint),
                "The mint does not exist, or you may not see it");
        for (String one : ids) {
            assertShows(
                    world.page("auditor", "/mints?tenant=globex&q=" + Links.encoded(one)), mint);
            assertFalse(world.page("lead", "/mints?q=" + Links.encoded(one)).contains(mint), one);
            assertFalse(
                    world.page("lead", "/subjects?q=" + Links.encoded(one)).contains(mint), one);
        }
        assertShows(
                world.page("lead", "/mints?tenant=globex"), "Nothing that you may see matches.");
        assertFalse(world.page("lead", "/tenants").contains("globex"));
        assertShows(
                world.page(
                        "lead",
                        "/explain?idp=globex-gitlab&claims=%7B%22sub%22:%22x%22%7D"
                                .replace(":", "%3A")),
                "There is no identity provider");
        assertFalse(world.get("lead", "/mints/download").body().contains("globex"));
    }

    @Test
    void a_lead_does_not_see_the_proof() {
        assertEquals(403, world.get("lead", "/proof").statusCode());
        assertFalse(world.page("lead", "/").contains("href=\"/proof\""));
        assertFalse(world.get("lead", "/mints?before=x").body().contains("href=\"/proof\""));
        assertShows(world.page("auditor", "/mints"), "href=\"/proof\"");
    }

    @Test
    void nobody_sees_nothing() {
        for (String path : List.of("/", "/mints", "/mints/download", "/tenants/acme", "/proof")) {
            HttpResponse<String> answer = world.get("nobody", path);

            assertEquals(500, answer.statusCode());
            assertFalse(answer.body().contains("acme"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/mints?before=x",
                "/mints?q=a&q=b",
                "/tenants/acme/history?table=subject_grant&row=x",
                "/tenants/acme?after=-1",
                "/mints?q=%00"
            })
    void what_cannot_be_meant_is_refused_with_a_sentence(String path) {
        HttpResponse<String> answer = world.get("auditor", path);

        assertEquals(400, answer.statusCode());
        assertShows(answer.body(), "Error");
    }

    @Test
    void a_page_says_the_whole_day_it_was_made_on() {
        assertTrue(
                Pattern.compile("As of <time [^>]*>[0-9]+ [A-Z][a-z]{2} [0-9]{4}, [0-9:]{8} UTC<")
                        .matcher(world.page("auditor", "/"))
                        .find());
    }

    @Test
    void pages_load_nothing_from_elsewhere_and_have_no_script_and_no_style_of_their_own() {
        String page = world.page("auditor", "/");

        assertFalse(page.contains("<script"));
        assertFalse(page.matches("(?s).*(src|href)=\"(?!/|#|data:text/csv;).*"));
        assertFalse(page.contains(" style="));
    }

    @Test
    void there_is_no_other_page() {
        assertEquals(404, world.get("auditor", "/mint").statusCode());
        assertEquals(404, world.get("auditor", "/keys/acme/a%00b").statusCode());
        for (String path : List.of("/nowhere", "/style/x", "/style/console")) {
            assertEquals(404, world.get("nobody", path).statusCode(), path);
        }
        assertEquals(404, world.post("nobody", "/style/console.css").statusCode());
    }

    @Test
    void styles_are_sent_once_and_then_only_asked_about() {
        HttpResponse<String> style = world.get("nobody", "/style/console.css");

        assertEquals(200, style.statusCode());
        assertTrue(style.headers().firstValue("ETag").orElseThrow().matches("\"[0-9a-f]{32}\""));
        assertEquals(
                304,
                world.getIfChanged("/style/console.css", style.headers().firstValue("ETag").get())
                        .statusCode());
        assertEquals(404, world.get("auditor", "/style/pico.scss").statusCode());
    }
}
