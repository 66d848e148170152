package io.mintmark.console.pages.week;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.regex.Pattern;

/** What a tenant's page of a week shows, compared with the rows. */
@Tag("every-postgres")
class WeekPageTest {
    private static final String HOTFIX = "repo:acme/shop:environment:hotfix";

    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);
    private static String week = "";

    @BeforeAll
    static void live() {
        database.admin(
                """
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access)
                VALUES ('acme', 'deploy', 'acme-github', 'repo:acme/shop:*', 'glob', 1, 7200);
                INSERT INTO broker.access_approver (rule, role_name) SELECT id, 'test_tenant_admin' FROM broker.access_rule;
                """);
        decide(asks("repo:acme/shop:incident"), "approve");
        decide(asks("repo:acme/shop:other"), "refuse");
        String withdrawn = asks("repo:acme/shop:early");
        decide(withdrawn, "approve");
        decide(withdrawn, "withdraw");
        // without triggers, since the times are those of the clock
        database.runAsSuperuser(
                """
                ALTER TABLE broker.subject_grant DISABLE TRIGGER USER;
                UPDATE broker.subject_grant SET created_at = now() - interval '60 days' WHERE tenant = 'acme' AND request_id IS NULL;
                INSERT INTO broker.subject_grant (id, tenant, idp, subject, key, reason, created_at, valid_until)
                SELECT internal.new_id('broker.subject_grant', NULL), 'acme', 'acme-k8s', 'sa:never-used:' || n, 'inventory', 'OPS-' || n, now() - interval '60 days' + n * interval '1 hour', NULL
                  FROM generate_series(1, 9) AS n
                UNION ALL
                SELECT internal.new_id('broker.subject_grant', NULL), 'acme', 'acme-k8s', 'sa:lapsed', 'inventory', 'OPS-60', now() - interval '60 days', date_trunc('second', now());
                ALTER TABLE broker.subject_grant ENABLE TRIGGER USER;
                """);
        week = one("SELECT to_char(now() AT TIME ZONE 'UTC', 'IYYY-\"W\"IW')");
    }

    private static String asks(String subject) {
        return database.column(
                        Who.APP,
                        """
                        SELECT id FROM internal.request_access('acme', 'acme-github', '%s', '{"repository_owner_id": "1234567"}', NULL, NULL, '{deploy}',
                               'INC-82: the shop is down', 1800, false)
                        """
                                .formatted(subject))
                .getFirst();
    }

    private static void decide(String request, String verdict) {
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.access_decision (request, verdict, note) VALUES ('%s', '%s', 'looked at by two')"
                        .formatted(request, verdict));
    }

    private static String one(String sql) {
        return database.value(sql);
    }

    private static String page() {
        return world.page("lead", "/tenants/acme/week?of=" + week);
    }

    private static String total(String page, String kind) {
        var total =
                Pattern.compile("<b>([^<]*)</b> <a href=\"#%s\">".formatted(kind)).matcher(page);
        assertTrue(total.find(), page);
        return total.group(1);
    }

    private static String section(String page, String kind) {
        String from = page.substring(page.indexOf("<h2 id=\"" + kind));
        return from.substring(0, from.indexOf("</section>"));
    }

    /** Each number with its own SQL over the rows. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    granted  | audit.config_change WHERE table_name = 'subject_grant' AND operation = 'INSERT' AND changed_at
                    approved | audit.config_change WHERE table_name = 'access_decision' AND changed_at
                    denied   | audit.event WHERE kind = 'denied' AND occurred_at
                    """)
    void numbers_are_those_of_the_rows(String kind, String rows) {
        assertEquals(
                one(
                        "SELECT count(*) FROM %s >= date_trunc('week', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AND tenant = 'acme'"
                                .formatted(rows)),
                total(page(), kind));
    }

    @Test
    void used_grants_have_their_mints_and_who_granted_them() {
        List<String> mints =
                database.column(
                        """
                        SELECT count(*) || CASE count(*) WHEN 1 THEN ' mint' ELSE ' mints' END FROM audit.event
                         WHERE tenant = 'acme' AND step = 1
                           AND occurred_at >= date_trunc('week', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' GROUP BY grant_id
                        """);
        String page = page();

        assertEquals(Integer.toString(mints.size()), total(page, "used"));
        for (String number : mints) {
            assertShows(
                    section(page, "used"),
                    number + ", granted by <b title=\"test_admin\">test_admin</b>");
        }
    }

    @Test
    void a_grant_that_was_used_and_then_deleted_is_still_listed() {
        try (TestDatabase own = ConsoleWorld.filled()) {
            ConsoleWorld there = ConsoleWorld.of(own);
            String then =
                    own.value(
                            "SELECT to_char(max(occurred_at) AT TIME ZONE 'UTC', 'IYYY-\"W\"IW') FROM audit.event WHERE grant_id = 3 AND step = 1");
            own.admin("DELETE FROM broker.subject_grant WHERE id = 3");

            assertShows(
                    section(there.page("lead", "/tenants/acme/week?of=" + then), "used"),
                    "system:serviceaccount:shop:checkout");
            String page = there.page("lead", "/tenants/acme/week");
            assertShows(
                    section(page, "ended"),
                    "system:serviceaccount:shop:checkout",
                    "deleted by <b title=\"test_admin\">");
            assertEquals("1", total(page, "ended"));
        }
    }

    @Test
    void grants_without_a_mint_are_unused_and_the_list_says_how_many_more_there_are() {
        String page = page();
        String unused = section(page, "unused");
        // beside the nine, the four grants of the world, of which nobody uses the hotfix's
        int all = 9 + 4 - Integer.parseInt(total(page, "used"));

        assertEquals(Integer.toString(all), total(page, "unused"));
        assertShows(
                unused,
                "sa:never-used:1<",
                "<a href=\"/reviews?show=all&amp;tenant=acme\">and %d more</a>"
                        .formatted(all - WeekList.SHOWN));
        assertLacks(unused, "sa:never-used:7<", "sa:lapsed");
    }

    @Test
    void decisions_name_who_decided_on_whose_request() {
        assertShows(
                section(page(), "approved"),
                "approved by <b title=\"test_tenant_admin\">",
                "refused by",
                "withdrawn by",
                "repo:acme/shop:other",
                "looked at by two");
        assertShows(
                section(page(), "granted"),
                "approved by <b title=\"test_tenant_admin\">",
                "INC-82: the shop is down",
                "repo:acme/shop:incident");
    }

    @Test
    void grants_end_by_their_date_and_by_a_withdrawal() {
        String ended = section(page(), "ended");

        assertEquals("2", total(page(), "ended"));
        assertShows(ended, "sa:lapsed", "reached its end", "repo:acme/shop:early");
        assertShows(ended, "withdrawn by <b title=\"test_tenant_admin\">test_tenant_admin</b>");
        assertLacks(ended, "shop:incident", HOTFIX);
    }

    @Test
    void who_leads_another_tenant_finds_no_week_of_this_one() {
        assertEquals(404, world.get("other", "/tenants/acme/week").statusCode());
        assertLacks(world.page("auditor", "/tenants/acme/week"), "globex");
        assertLacks(world.page("other", "/tenants/globex/week"), "acme");
    }

    @Test
    void a_tenant_links_to_its_week_and_a_week_to_the_one_before_it_if_the_tenant_existed() {
        assertShows(world.page("lead", "/tenants/acme"), "href=\"/tenants/acme/week\"");
        String page = page();
        assertShows(page, ", so far");
        assertLacks(page, "rel=\"next\"");
        database.runAsSuperuser(
                """
                ALTER TABLE broker.tenant DISABLE TRIGGER USER;
                UPDATE broker.tenant SET created_at = now() - interval '60 days' WHERE name = 'acme';
                ALTER TABLE broker.tenant ENABLE TRIGGER USER;
                """);

        assertShows(page(), "rel=\"prev\"");
        String before = world.page("lead", "/tenants/acme/week?of=2020-W07");
        assertShows(
                before,
                "week 7 of 2020",
                "Nothing was minted or refused",
                "No grant was made.",
                "No subject was denied a key.",
                "rel=\"next\"");
        assertLacks(before, "rel=\"prev\"", "so far");
    }

    @ParameterizedTest
    @ValueSource(strings = {"2026-W54", "2026-W00", "2999-W01", "1969-W50", "last", "2026-11-29"})
    void what_is_no_week_of_the_past_is_refused(String word) {
        assertEquals(400, world.get("lead", "/tenants/acme/week?of=" + word).statusCode());
    }

    @Test
    void more_changes_than_are_read_make_the_numbers_lower_bounds() {
        try (TestDatabase own = ConsoleWorld.filled()) {
            ConsoleWorld there = ConsoleWorld.of(own);
            own.admin(
                    """
                    INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                    SELECT 'acme', 'acme-k8s', 'sa:imported:' || n, 'inventory' FROM generate_series(1, 5100) AS n
                    """);

            String page = there.page("lead", "/tenants/acme/week");

            assertEquals("over 4,900", total(page, "granted"));
            assertEquals("0 or more", total(page, "ended"));
            assertShows(section(page, "granted"), ">and over 4,900 more</a>");
        }
    }

    /** At each change, and just after it. */
    @Test
    void the_changes_of_a_time_are_found() {
        List<String> wrong =
                database.column(
                        Who.CONSOLE,
                        """
                        SELECT c.revision FROM set_config('mintmark.console_claims', '{"role": "auditor"}', false) AS claims
                         CROSS JOIN audit.config_change AS c
                         CROSS JOIN LATERAL internal.revisions_in_time('acme', c.changed_at, c.changed_at + interval '1 microsecond') AS r
                         WHERE claims <> '' AND c.tenant = 'acme' AND (r.first > c.revision OR r.beyond <= c.revision)
                        """);

        assertEquals(List.of(), wrong);
        assertEquals(
                List.of("null"),
                database.column(
                        Who.CONSOLE,
                        "SELECT coalesce(first::text, 'null') FROM internal.revisions_in_time('acme', '-infinity', 'infinity')"));
    }
}
