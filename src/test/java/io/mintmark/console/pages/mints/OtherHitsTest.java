package io.mintmark.console.pages.mints;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The field of all pages finds what people remember: a ticket, a word, a name, a number. */
class OtherHitsTest {
    private static final String REQUEST = "4f0f6f58-7d7c-4a57-b7c9-0d7a61c2a001";

    @AutoClose private static TestDatabase database;
    private static ConsoleWorld world;

    @BeforeAll
    static void fill() {
        database = ConsoleWorld.filled();
        database.runAsSuperuser(
                """
                SET session_replication_role = replica;
                INSERT INTO broker.access_request (id, tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals, expires_at)
                VALUES ('%s', 'acme', 1, 'deploy', 'acme-github', 'https://token.actions.githubusercontent.com', 'person:rita',
                        'OPS-412: the nightly export is stuck', 3600, false, 1, now() + interval '1 day');
                INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'laptop:eve', 'SEC-9: was lost');
                UPDATE broker.subject_grant SET reason = 'CHG-77: the shop moves' WHERE id = 2;
                """
                        .formatted(REQUEST));
        world = ConsoleWorld.of(database);
    }

    @ParameterizedTest
    @CsvSource({
        "ops-412, /requests/" + REQUEST,
        "Nightly%20Export, /requests/" + REQUEST,
        "person%3Arita, /requests/" + REQUEST,
        "chg-77, /tenants/acme/history?table=subject_grant&amp;row=2",
        "grant%202, /tenants/acme/history?table=subject_grant&amp;row=2",
        "2, /tenants/acme/history?table=subject_grant&amp;row=2",
        "laptop, /subjects?q=laptop%3Aeve"
    })
    void what_people_remember_leads_to_its_page(String typed, String href) {
        assertShows(world.page("lead", "/mints?q=" + typed), "href=\"" + href + "\"");
        assertLacks(world.page("other", "/mints?q=" + typed), "href=\"" + href + "\"");
    }

    @Test
    void the_id_of_a_request_leads_to_it() {
        var answer = world.get("lead", "/mints?q=" + REQUEST);
        assertEquals(303, answer.statusCode());
        assertEquals("/requests/" + REQUEST, answer.headers().firstValue("Location").orElseThrow());
        assertEquals(200, world.get("other", "/mints?q=" + REQUEST).statusCode());
    }

    @Test
    void a_login_leads_to_what_it_changed() {
        assertShows(world.page("lead", "/mints?q=T_ADMI"), "href=\"/people/test_admin\"");
    }

    /** However many changes others made since. */
    @Test
    void a_login_that_may_change_something_is_found_by_its_name() {
        database.runAsSuperuser(
                "INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'gwen')");
        String gwen = "href=\"/people/gwen\"";
        assertShows(world.page("lead", "/mints?q=gwe"), gwen);
        assertShows(world.page("lead", "/people/gwen"), "Now admin of acme.");
        assertLacks(world.page("other", "/mints?q=gwe"), gwen);
        assertEquals(404, world.get("other", "/people/gwen").statusCode());
        String member = Who.AUDITOR.login();
        String href = "href=\"/people/%s\"".formatted(member);
        assertShows(world.page("auditor", "/mints?q=" + member), href);
        assertShows(world.page("auditor", "/people/" + member), "member of ");
        assertLacks(world.page("lead", "/mints?q=" + member), href);
    }

    @Test
    void what_has_mints_of_its_own_is_found_beside_them() {
        String page = world.page("lead", "/mints?q=deploy");
        assertShows(page, "aria-label=\"Also found\"", "/keys/acme/deploy", "entries</b>");
    }

    @Test
    void a_filter_alone_searches_nothing_else() {
        assertLacks(world.page("lead", "/mints?key=deploy"), "Also found", "Did you mean");
    }

    @Test
    void a_key_goes_to_the_field_without_a_script() {
        assertShows(world.page("lead", "/"), "accesskey=\"/\"");
    }
}
