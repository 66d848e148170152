package io.mintmark.development;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;

import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.ChromiumBrowser;
import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Takes a picture of every page of the console as wide as a phone, a tablet and a desk, in both
 * themes and four states, into {@code target/pictures}. Not a test: {@code .ci/pictures every} runs
 * it, for whoever changed pages and wants to look at all of them.
 */
class EveryPagePictures {
    private static final Path PICTURES = Path.of("target", "pictures");
    private static final int HEIGHT = 900;
    private static final Map<String, Integer> WIDTHS =
            Map.of("phone", 390, "tablet", 800, "desk", 1440);

    private static final String MINT = "main a[href^='/mints/0']";
    private static final String REQUEST = "main a[href^='/requests/']:not([href*='new'])";
    private static final String TENANT = "main a[href^='/tenants/']";

    /**
     * A page.
     *
     * @param from a page by its address
     * @param link what selects a link of it, which leads to the pictured page; empty: itself
     * @param further what is added to the link's address
     */
    private record Shot(String name, String from, String link, String further) {
        private Shot(String name, String path) {
            this(name, path, "", "");
        }

        private Shot(String name, String from, String link) {
            this(name, from, link, "");
        }
    }

    private static final List<Shot> SHOTS =
            List.of(
                    new Shot("overview", "/"),
                    new Shot("overview-month", "/?range=month"),
                    new Shot("mints", "/mints"),
                    new Shot("mints-none", "/mints?q=nothing-like-it"),
                    new Shot("mint", "/mints?outcome=issued", MINT),
                    new Shot("mint-denied", "/mints?outcome=denied", MINT),
                    new Shot("mint-failed", "/mints?outcome=failed", MINT),
                    new Shot("search", "/mints?q=OPS"),
                    new Shot("subjects", "/subjects"),
                    new Shot("subject", "/mints?outcome=issued", "main a[href^='/subjects?']"),
                    new Shot("key", "/mints?outcome=issued", "main a[href^='/keys/']"),
                    new Shot(
                            "key-then",
                            "/mints?outcome=issued",
                            "main a[href^='/keys/']",
                            "?at=2026-01-01"),
                    new Shot("key-asked", "/requests?show=decided", "main a[href^='/keys/']"),
                    new Shot("reviews", "/reviews?show=all"),
                    new Shot("requests", "/requests"),
                    new Shot("requests-open", "/requests?show=open"),
                    new Shot("requests-decided", "/requests?show=decided"),
                    new Shot("requests-break-glass", "/requests?show=break-glass"),
                    new Shot("request-open", "/requests?show=open", REQUEST),
                    new Shot("request-decided", "/requests?show=decided", REQUEST),
                    new Shot("request-break-glass", "/requests?show=break-glass", REQUEST),
                    new Shot("request-new", "/requests/new"),
                    new Shot("tenants", "/tenants"),
                    new Shot("tenant", "/tenants", TENANT),
                    new Shot("tenant-history", "/tenants", TENANT, "/history"),
                    new Shot("tenant-week", "/tenants", TENANT, "/week"),
                    new Shot("history", "/history"),
                    new Shot("person", "/", "main a[href^='/people/']"),
                    new Shot("explain", "/explain"),
                    new Shot("explain-denied", "/", "main a[href^='/explain?mint=']"),
                    new Shot("proof", "/proof"),
                    new Shot("nothing", "/nothing"));

    private static final String LONG_NAMES =
            """
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
            SELECT 'acme', 'acme-k8s', 'sa:' || n || ':' || repeat('long-name/', 100), 'job-' || n, 'OPS-' || n || ': ' || repeat('a long reason ', 70)
              FROM generate_series(1, 12) AS n;
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings, description, owner)
            VALUES ('acme', repeat('a-very-long-name-of-a-key-', 2) || 'x', 'services', 900, '{"audience": "https://jobs.acme.example"}', repeat('long words ', 60), 'team-1');
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
            VALUES ('acme', 'acme-k8s', 'system:serviceaccount:shop:checkout', repeat('a-very-long-name-of-a-key-', 2) || 'x', 'OPS-1');
            """;

    private static final String TROUBLE =
            """
            SET session_replication_role = replica;
            INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass)
            VALUES ('acme', 'deploy', 'acme-github', 'repo:acme/*', 'glob', 1, 7200, true);
            INSERT INTO broker.access_request (tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals,
                                               expires_at, requested_at, status, grant_id)
            SELECT 'acme', r.id, 'deploy', r.idp, 'https://token.actions.githubusercontent.com', 'repo:acme/shop:environment:incident-' || n,
                   'INC-' || n || ': the shop is down', 3600, n < 3, 1, now() + interval '1 day', now() - n * interval '50 minutes',
                   CASE WHEN n < 3 THEN 'granted' ELSE 'pending' END, CASE WHEN n < 3 THEN n END
              FROM broker.access_rule AS r CROSS JOIN generate_series(1, 4) AS n;
            ALTER TABLE broker.subject_grant DISABLE TRIGGER USER;
            UPDATE broker.subject_grant SET created_at = now() - interval '400 days' WHERE id % 2 = 1;
            ALTER TABLE broker.subject_grant ENABLE TRIGGER USER;
            INSERT INTO broker.console_access (tenant, all_tenants, claim, value, reason)
            VALUES (NULL, true, 'preferred_username', '"eve"', 'an exception');
            INSERT INTO broker.blocked_subject (tenant, subject, reason)
            VALUES ('acme', 'system:serviceaccount:shop:checkout', 'INC-81: its token was printed'), (NULL, 'repo:acme/web:pull_request', 'INC-82');
            UPDATE broker.key SET enabled = false WHERE name = 'read-only';
            INSERT INTO runtime.ending (mint_id, tenant, provider, provider_type, key, outcome, due, next_try, tries, last_reason)
            SELECT mint_id, tenant, provider, provider_type, key, 'issued', now() - interval '1 hour', now(), 3, 'provider_timeout'
              FROM audit.event WHERE tenant = 'acme' AND kind = 'issued' LIMIT 1;
            """;

    @TempDir private Path directory;

    @Test
    void normal() throws Exception {
        try (ChromiumBrowser browser = ChromiumBrowser.start()) {
            demo(browser);
        }
    }

    @Test
    void empty() {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.admin(
                    "INSERT INTO broker.console_access (all_tenants, claim, value, reason) VALUES"
                            + " (true, 'role', '\"auditor\"', 'OPS-1')");
            world("empty", database);
        }
    }

    @Test
    void much() {
        try (TestDatabase database = ConsoleWorld.filled()) {
            database.admin(ConsoleWorld.script("many.sql"));
            database.runAsSuperuser(ConsoleWorld.script("many_as_superuser.sql"));
            database.admin(LONG_NAMES);
            world("much", database);
        }
    }

    @Test
    void trouble() {
        try (TestDatabase database = ConsoleWorld.filled()) {
            database.runAsSuperuser(TROUBLE);
            world("trouble", database);
        }
    }

    /** The normal state, which has logging in, too. */
    private void demo(ChromiumBrowser browser) throws Exception {
        try (DemoProcess demo = DemoProcess.start(directory);
                BrowserContext person = browser.person();
                BrowserContext stranger = browser.person()) {
            var _ = demo.printed();
            Page page = person.newPage();
            page.navigate(demo.console() + "/");
            shoot(page, "normal", "login");
            logIn(page, demo, "audrey");
            shots(page, demo.console(), "normal");
            Page other = stranger.newPage();
            other.navigate(demo.console() + "/requests");
            logIn(other, demo, "lea");
            shoot(other, "normal", "requests-lead");
            other.locator(REQUEST).first().click();
            shoot(other, "normal", "request-lead");
            other.navigate(demo.console() + "/proof");
            shoot(other, "normal", "proof-lead");
            other.navigate(demo.console() + "/logout");
            shoot(other, "normal", "logged-out");
            other.navigate(demo.console() + "/");
            logIn(other, demo, "sam");
            shoot(other, "normal", "no-access");
        }
    }

    private static void logIn(Page page, DemoProcess demo, String name) {
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(name)).click();
        page.waitForURL(url -> url.startsWith(demo.console()));
    }

    private static void world(String state, TestDatabase database) {
        try (ChromiumBrowser browser = ChromiumBrowser.start();
                ConsoleWorld world =
                        new ConsoleWorld(
                                database.login(Who.CONSOLE),
                                Optional.of(() -> new TrustedKeys(List.of())));
                BrowserContext auditor = browser.person()) {
            auditor.setExtraHTTPHeaders(Map.of("X-Viewer", "auditor"));
            if (!"empty".equals(state)) {
                world.post("auditor", "/proof");
                Eventually.holds(() -> !world.page("auditor", "/proof").contains("in progress"));
            }
            shots(auditor.newPage(), world.url("").toString(), state);
        }
    }

    private static void shots(Page page, String console, String state) {
        for (Shot shot : SHOTS) {
            page.navigate(console + shot.from());
            if (!shot.link().isEmpty()) {
                Locator link = page.locator(shot.link());
                if (link.count() == 0) {
                    continue; // a page that this state doesn't have
                }
                page.navigate(console + link.first().getAttribute("href") + shot.further());
            }
            shoot(page, state, shot.name());
        }
    }

    private static void shoot(Page page, String state, String name) {
        for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
            page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(scheme));
            WIDTHS.forEach((window, width) -> {
                page.setViewportSize(width, HEIGHT);
                page.screenshot(
                        new Page.ScreenshotOptions()
                                .setPath(
                                        PICTURES.resolve(state)
                                                .resolve(
                                                        "%s-%s-%s.png"
                                                                .formatted(
                                                                        name,
                                                                        window,
                                                                        scheme.name()
                                                                                .toLowerCase(
                                                                                        Locale
                                                                                                .ROOT))))
                                .setFullPage(true));
            });
        }
    }
}
