package io.mintmark.console.pages.history;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The history of what belongs to no tenant, and who sees it. */
@Tag("every-postgres")
class HistoryPageTest {
    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);

    @Test
    void who_sees_all_tenants_sees_how_what_belongs_to_none_came_to_be_so() {
        String setUp =
                database.value(
                        "SELECT max(revision) + 1 FROM audit.config_change WHERE tenant IS NULL AND"
                                + " table_name <> 'blocked_subject'");
        String page = world.page("auditor", "/history?before=" + setUp);

        assertShows(
                page,
                "rows without a tenant",
                "/history?table=console_access&amp;row=",
                "the auditors",
                "/history?table=provider_type&amp;row=aws-sts");
        assertLacks(page, "acme-leads", "shop-deploy");
        assertShows(
                world.page("auditor", "/history?table=provider_type&row=aws-sts"),
                "Configuration history of <code>provider_type</code> <span"
                        + " class=\"id\">aws-sts</span>");
        assertShows(world.page("auditor", "/tenants"), "href=\"/history\"");
        assertEquals("/tenants/acme/history", world.leadsTo("/history?tenant=acme"));
    }

    @Test
    void the_history_of_what_belongs_to_no_tenant_goes_on_with_older_changes() {
        database.admin(
                """
                INSERT INTO broker.blocked_subject (subject, reason) SELECT 'old:' || n, 'INC' FROM generate_series(1, 30) AS n;
                DELETE FROM broker.blocked_subject WHERE subject LIKE 'old:%'
                """);
        String first = world.page("auditor", "/history");
        Matcher older = Pattern.compile("/history\\?before=([0-9]+)").matcher(first);
        assertTrue(older.find(), first);

        String second = world.page("auditor", older.group());

        long last = Long.parseLong(older.group(1));
        assertShows(first, "revision %d<".formatted(last));
        assertShows(second, "revision %d<".formatted(last - 1));
        assertLacks(second, "revision %d<".formatted(last));
    }

    @Test
    void changes_are_sentences_and_narrowed_by_login_table_and_time() {
        String all = world.page("lead", "/tenants/acme/history");

        assertShows(
                all,
                "let repo:acme/*:pull_request mint read-only</a>",
                "let repo:acme/shop:environment:hotfix mint deploy until ",
                "changed max_duration from 3600 to 1800 of key deploy",
                "created tenant acme",
                "href=\"/people/test_admin\"");
        String keys = world.page("lead", "/tenants/acme/history?by=test_admin&table=key");
        assertShows(keys, "added key inventory at services");
        assertLacks(keys, "created tenant acme");
        assertShows(world.page("lead", "/tenants/acme/history?by=nobody"), "No change matches");
        assertShows(world.page("lead", "/tenants/acme/history?to=2020-01-01"), "No change matches");
        assertEquals(400, world.get("lead", "/tenants/acme/history?from=x").statusCode());
    }

    @Test
    void each_change_names_what_it_is_about_and_leads_to_the_history_of_its_row() {
        try (TestDatabase own = ConsoleWorld.filled()) {
            ConsoleWorld there = ConsoleWorld.of(own);
            own.admin(
                    """
                    INSERT INTO broker.grant_review (grant_id, verdict) VALUES (1, 'keep');
                    INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access)
                    VALUES ('acme', 'deploy', 'acme-github', 'repo:acme/*', 'glob', 1, 3600);
                    INSERT INTO broker.access_approver (rule, role_name) SELECT id, 'test_admin' FROM broker.access_rule;
                    """);
            String acme = there.page("auditor", "/tenants/acme/history");
            assertShows(
                    acme,
                    "reviewed grant 1 (repo:acme/shop:ref:refs/heads/main mints deploy): keep",
                    "made test_admin an approver of rule 1 (repo:acme/* asks for deploy)");
            String platform = there.page("auditor", "/history");
            assertShows(platform, "added known issuer GitLab (https://gitlab.com)");
            Matcher rows =
                    Pattern.compile("class=\"sentence\" href=\"([^\"]+)\"")
                            .matcher(acme + platform);
            int found = 0;
            for (; rows.find(); found++) {
                String address = rows.group(1).replace("&amp;", "&");
                assertShows(there.page("auditor", address), "class=\"sentence\"");
            }
            assertTrue(found > 50, () -> acme + platform);
        }
    }

    @Test
    void a_long_subject_is_cut_in_the_middle() {
        try (TestDatabase own = ConsoleWorld.filled()) {
            ConsoleWorld there = ConsoleWorld.of(own);
            own.admin(
                    "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme',"
                            + " 'acme-github', 'repo:'||repeat('x', 800)||':ref:main', 'deploy')");

            assertShows(
                    there.page("auditor", "/tenants/acme/history"),
                    "let repo:%s…%s:ref:main mint deploy"
                            .formatted("x".repeat(55), "x".repeat(21)));
        }
    }

    @Test
    void a_person_s_page_shows_what_they_changed_where_the_viewer_may_see_it() {
        String lead = world.page("lead", "/people/test_admin");

        assertShows(
                lead,
                "What did <span class=\"id\">test_admin</span> do, and what may it mint?",
                "created tenant acme");
        assertLacks(lead, "globex", "created tenant globex");
        assertShows(
                world.page("auditor", "/people/test_admin"),
                "created tenant globex",
                "in all tenants");
        assertEquals(404, world.get("lead", "/people/nobody").statusCode());
        assertShows(world.page("auditor", "/"), "href=\"/people/test_admin\"");
    }

    @Test
    void a_grant_with_an_end_has_the_statement_that_extends_it() {
        String ends =
                database.value("SELECT id FROM broker.subject_grant WHERE valid_until > now()");
        String path = "/tenants/acme/history?table=subject_grant&row=";

        assertShows(world.page("lead", path + ends), "Extend this grant by 30 days", "Revoke this");
        String open = world.page("lead", path + "1");
        assertShows(open, "Revoke this grant");
        assertLacks(open, "Extend this grant");
    }

    @Test
    void a_person_s_page_has_what_all_of_their_logins_and_subjects_did() {
        try (TestDatabase own = ConsoleWorld.filled()) {
            own.admin(
                    """
                    INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                    VALUES ('acme-people', 'acme', 'https://login.example.com', '{console}', '{approver}');
                    INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access)
                    VALUES ('acme', 'read-only', 'acme-github', 'repo:acme/*', 'glob', 1, 3600);
                    INSERT INTO broker.access_approver (rule, role_name, idp, subject)
                    SELECT id, 'test_admin', 'acme-people', s FROM broker.access_rule, (VALUES ('repo:acme/shop:ref:refs/heads/main'), ('person:rita')) AS n (s);
                    """);
            own.runAsSuperuser(
                    """
                    SET session_replication_role = replica;
                    INSERT INTO broker.access_request (id, tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals, expires_at)
                    SELECT n.id::uuid, 'acme', 1, 'deploy', 'acme-github', 'https://token.actions.githubusercontent.com', n.subject,
                           'OPS-412: the export is stuck', 3600, false, 1, now() + interval '1 day'
                      FROM (VALUES ('4f0f6f58-7d7c-4a57-b7c9-0d7a61c2a004', 'person:rita'),
                                   ('4f0f6f58-7d7c-4a57-b7c9-0d7a61c2a005', 'person:otto')) AS n (id, subject)
                    """);
            ConsoleWorld there = ConsoleWorld.of(own);
            String deployer = "repo:acme/shop:ref:refs/heads/main";
            String mint =
                    ConsoleWorld.mint(
                            own, "kind = 'issued' AND subject = '%s'".formatted(deployer));

            // the last of them is joined to the first by the login alone
            for (String name : List.of("test_admin", deployer, "person:rita")) {
                assertShows(
                        there.page("lead", Links.person(name)),
                        "login <a class=\"id\" href=\"/people/test_admin\">",
                        "approver for read-only of acme",
                        "/requests/4f0f6f58-7d7c-4a57-b7c9-0d7a61c2a004",
                        "href=\"/mints/" + mint,
                        "OPS-12: the shop deploys itself",
                        "created tenant acme");
            }
            assertShows(
                    there.page("lead", Links.person(deployer)),
                    "<a class=\"login\" href=\"/people/test_admin\">test_admin</a>");
            String otto = there.page("lead", Links.person("person:otto"));
            assertShows(
                    otto,
                    "/requests/4f0f6f58-7d7c-4a57-b7c9-0d7a61c2a005",
                    "Nothing: no grant in force that you may see is for this name.",
                    "No change that you may see.");
            assertLacks(otto, "One person:", "a2a004", "created tenant", "0 reviews");
            assertShows(
                    there.page("lead", Links.person("person:otto") + "?from=2026-01-01"),
                    "No change in this time that you may see.");
            own.admin(
                    "INSERT INTO broker.grant_review (grant_id, verdict, note) VALUES (1, 'keep', 'used daily')");
            assertShows(
                    there.page("lead", Links.person("test_admin")),
                    " changes, of which 1 review, the newest first");
            String denied = deployer.replace("main", "feature/new-checkout");
            assertShows(there.page("lead", Links.person(denied)), "not_granted");
            for (String name : List.of("person:rita", "person:otto", denied)) {
                assertEquals(404, there.get("other", Links.person(name)).statusCode(), name);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/history",
                "/history?before=2",
                "/history?table=provider_type&row=aws-sts",
                "/history?table=console_access&row=1"
            })
    void a_lead_sees_no_history_of_what_belongs_to_no_tenant(String path) {
        assertEquals(404, world.get("lead", path).statusCode());
        assertLacks(world.page("lead", "/tenants"), "href=\"/history\"");
    }
}
