package io.mintmark.console;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.Margin;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** A week in which more happened of each kind than the page shows, on screens and on paper. */
@Tag("heavy")
class WeekInBrowserTest {
    private static final Pattern SHEET = Pattern.compile("/Type\\s*/Page\\b(?!s)");
    private static final String MARGIN = "1cm";

    /** As long as names and reasons may be. */
    private static final String RICH =
            """
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
            SELECT 'acme', 'acme-k8s', 'sa:' || n || ':' || repeat('long-name/', 100), 'job-' || n, 'OPS-' || n || ': ' || repeat('a long reason ', 70)
              FROM generate_series(1, 12) AS n;
            INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
            INSERT INTO broker.access_approver (rule, role_name) SELECT id, 'test_tenant_admin' FROM broker.access_rule;
            UPDATE broker.subject_grant SET enabled = false WHERE key = 'job-9';
            """;

    private static final String DENIALS =
            """
            SET session_replication_role = replica;
            INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key, reason, claims, broker,
                                     chain, seq, prev_hash, hash)
            SELECT (left(audit.first_mint_id(now())::text, 14) || substr(e.mint_id::text, 15, 10) || lpad(n::text, 12, '0'))::uuid, e.step, e.kind, now(), e.request_id, e.tenant,
                   e.idp, e.issuer, 'sa:denied:' || n % 20 || ':' || repeat('long-name/', 90), e.key, e.reason, e.claims, e.broker,
                   '1.week', n, sha256('before'), sha256(n::text::bytea)
              FROM (SELECT d.* FROM audit.event AS d WHERE d.kind = 'denied' AND d.tenant = 'acme' ORDER BY d.mint_id DESC LIMIT 1) AS e
             CROSS JOIN generate_series(1, 200) AS n;
            ALTER TABLE broker.subject_grant DISABLE TRIGGER USER;
            UPDATE broker.subject_grant SET created_at = now() - interval '60 days' WHERE key = 'job-7' OR id % 3 = 0;
            ALTER TABLE broker.subject_grant ENABLE TRIGGER USER;
            """;

    @Test
    void a_rich_week_fits_every_screen_and_two_sheets_of_paper() {
        assumeTrue(
                ChromiumBrowser.installed().isPresent(),
                "left out: no Chromium here, so the week wasn't tried in a browser");
        try (TestDatabase database = ConsoleWorld.filled();
                ChromiumBrowser chromium = ChromiumBrowser.start()) {
            fill(database);
            ConsoleWorld world = ConsoleWorld.of(database);
            try (var lead = chromium.person()) {
                lead.setExtraHTTPHeaders(Map.of("X-Viewer", "lead"));
                Page page = lead.newPage();
                page.navigate(world.url("/tenants/acme/week").toString());

                for (String kind : List.of("granted", "unused", "approved", "ended", "denied")) {
                    assertShows(
                            page.locator("section[aria-labelledby=%s] .more".formatted(kind))
                                    .innerText(),
                            "and ",
                            " more");
                }
                int sheets = sheets(page);
                assertTrue(sheets <= 2, sheets + " sheets");
                assertEquals(List.of(), ChromiumBrowser.look(page, "week"));
            }
        }
    }

    private static void fill(TestDatabase database) {
        database.admin(ConsoleWorld.script("many.sql"));
        database.admin(RICH);
        database.run(
                Who.APP,
                """
                SELECT internal.request_access('acme', 'acme-k8s', 'system:serviceaccount:jobs:night-' || n, '{}', NULL, NULL, '{job-7}',
                       'INC-' || n || ': ' || repeat('the job has to run again ', 30), 1800, false)
                  FROM generate_series(1, 12) AS n
                """);
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.access_decision (request, verdict, note) SELECT id, 'approve', repeat('looked at it ', 60) FROM broker.access_request");
        database.runAsSuperuser(DENIALS);
    }

    private static int sheets(Page page) {
        byte[] pdf =
                page.pdf(
                        new Page.PdfOptions()
                                .setFormat("A4")
                                .setMargin(
                                        new Margin()
                                                .setTop(MARGIN)
                                                .setBottom(MARGIN)
                                                .setLeft(MARGIN)
                                                .setRight(MARGIN)));
        return (int) SHEET.matcher(new String(pdf, StandardCharsets.ISO_8859_1)).results().count();
    }
}
