package io.mintmark.console.pages.tenants;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.regex.Pattern;

/** The configuration of a tenant, as its page shows it. */
@Tag("every-postgres")
class TenantPageTest {
    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);

    @Test
    void a_tenant_shows_who_is_blocked_and_who_sees_it_here() {
        assertShows(
                world.page("lead", "/tenants/acme"),
                "Blocked subjects <small>0, in force</small></h2>\n<p class=\"empty\">None.",
                "leads of acme",
                "acme-leads");
        database.admin(
                """
                INSERT INTO broker.blocked_subject (tenant, subject, match, reason) VALUES
                    ('acme', 'repo:acme/leaked:ref', 'exact', 'INC-90'), ('globex', 'foreign:x', 'exact', 'INC-91'),
                    (NULL, 'everywhere:*', 'glob', 'INC-92');
                """);
        try {
            String lead = world.page("lead", "/tenants/acme");
            String auditor = world.page("auditor", "/tenants/acme");

            assertShows(lead, "INC-90", "Viewers of all tenants see this tenant, too");
            assertLacks(lead, "INC-91", "INC-92", "the auditors", "leads of globex");
            assertShows(
                    auditor,
                    "INC-90",
                    "INC-92",
                    "in all tenants",
                    "the auditors",
                    "to all tenants");
            assertLacks(auditor, "INC-91", "leads of globex");
        } finally {
            database.admin("DELETE FROM broker.blocked_subject");
        }
    }

    @Test
    void what_is_hardly_meant_stands_with_its_tenant() {
        assertShows(world.page("lead", "/tenants/acme"), "Lint warnings", "whole organisation");
    }

    @Test
    void a_lint_warning_says_when_and_by_whom_its_row_was_last_changed() {
        database.runAsSuperuser(
                """
                ALTER TABLE broker.subject_grant DISABLE TRIGGER ALL;
                UPDATE broker.subject_grant SET updated_at = now() - interval '40 days', updated_by = 'rita' WHERE id = 2;
                ALTER TABLE broker.subject_grant ENABLE TRIGGER ALL;
                INSERT INTO internal.lint_finding (table_name, id, tenant, rule, detail) VALUES
                    ('blocked_subject', 10, 'acme', 'block_matches_nothing', NULL), ('blocked_subject', 9, 'acme', 'block_matches_nothing', NULL);
                """);
        try {
            String page = world.page("lead", "/tenants/acme");

            assertTrue(
                    Pattern.compile(
                                    "subject grant <span class=\"id\">2</span></a>: <b>whole organisation</b>\\. [^\\n]* <small>Row last changed <time [^>]*>40 days ago<[^\\n]*</time> by rita\\.</small></li>")
                            .matcher(page)
                            .find(),
                    page);
            String gone = "blocked subject <span class=\"id\">9</span></a>: ";
            assertShows(page, gone);
            assertLacks(
                    page.lines().filter(line -> line.contains(gone)).toList().getFirst(), "Row");
            assertTrue(
                    page.indexOf(gone) < page.indexOf(gone.replace("9", "10")), "ids as numbers");
        } finally {
            database.runAsSuperuser(
                    "DELETE FROM internal.lint_finding WHERE table_name = 'blocked_subject'");
        }
    }

    @Test
    void break_glass_needs_no_approver_and_an_approval_does() {
        database.admin(
                """
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass) VALUES
                    ('acme', 'read-only', 'acme-github', 'repo:acme/glass', 'exact', 1, 3600, true),
                    ('acme', 'read-only', 'acme-github', 'repo:acme/asks', 'exact', 1, 3600, false);
                """);
        try {
            String page = world.page("lead", "/tenants/acme");

            assertShows(row(page, "repo:acme/glass"), "<span class=\"none\">none needed</span>");
            assertShows(row(page, "repo:acme/asks"), "<strong class=\"attention\">none</strong>");
        } finally {
            database.admin("DELETE FROM broker.access_rule WHERE key = 'read-only'");
        }
    }

    /** The row of a table that shows a subject as the one who may ask. */
    private static String row(String page, String subject) {
        int asks = page.indexOf(subject, page.indexOf("data-label=\"May ask\""));
        return page.substring(asks, page.indexOf("</tr>", asks));
    }

    @Test
    void the_list_of_tenants_names_numbers_in_singular_and_plural() {
        assertShows(
                world.page("auditor", "/tenants"),
                "data-label=\"keys\">3<",
                "data-label=\"key\">1<",
                "zero\" data-label=\"reviews due\">");
    }

    @Test
    void a_tenant_shows_its_configuration_and_its_last_changes() {
        assertShows(
                world.page("lead", "/tenants/acme"),
                "ACME Retail, platform team",
                "arn:aws:iam::123456789012:role/shop-deploy",
                "https://token.actions.githubusercontent.com",
                "OPS-14: previews",
                "<ins class=\"id\">acme-leads</ins>");
    }

    @Test
    void a_tenant_shows_how_often_it_minted_in_the_range_of_its_address() {
        for (String range : List.of("day", "week")) {
            String mints =
                    database.value(
                            "SELECT count(*) FROM audit.event WHERE tenant = 'acme' AND step = 1 AND occurred_at >= now() - interval '1 week'");

            String page = world.page("lead", "/tenants/acme?range=" + range);

            assertShows(
                    page,
                    "<b>%s</b> mints, ".formatted(mints),
                    "/mints?tenant=acme&amp;from=",
                    "range=%s\" aria-current=\"true\"".formatted(range),
                    "← Earlier",
                    "Zoom out");
        }
        assertEquals(400, world.get("lead", "/tenants/acme?range=year").statusCode());
    }

    @Test
    void a_lead_who_opens_another_tenants_page_is_sent_to_somebody_who_can_help() {
        var answer = world.get("lead", "/tenants/globex");
        assertEquals(404, answer.statusCode());
        assertShows(answer.body(), "Ask a platform admin for access.");
        assertLacks(answer.body(), "broker.console_access");
    }
}
