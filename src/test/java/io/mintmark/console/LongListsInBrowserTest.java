package io.mintmark.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.Page;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Every page with at least 50 rows of each kind, on a phone and on a desk. */
@Tag("heavy")
class LongListsInBrowserTest {
    private static final int HIGHEST = 4_000;

    private static TestDatabase database;
    private static ConsoleWorld world;
    private static ChromiumBrowser chromium;

    @BeforeAll
    static void setUp() {
        assumeTrue(
                ChromiumBrowser.installed().isPresent(),
                "left out: no Chromium here, so long lists weren't tried in a browser");
        database = ConsoleWorld.filled();
        database.admin(ConsoleWorld.script("many.sql"));
        database.runAsSuperuser(ConsoleWorld.script("many_as_superuser.sql"));
        world = ConsoleWorld.of(database);
        chromium = ChromiumBrowser.start();
    }

    @AfterAll
    static void close() {
        if (chromium != null) {
            chromium.close();
            database.close();
        }
    }

    @Test
    void no_page_of_50_rows_is_over_4000_pixels_high_on_a_phone() {
        String mint = ConsoleWorld.mint(database, "tenant = 'acme' AND kind = 'issued'");
        String denial = ConsoleWorld.mint(database, "tenant = 'acme' AND kind = 'denied'");
        Map<String, String> pages =
                Map.ofEntries(
                        Map.entry("overview", "/"),
                        Map.entry("mints", "/mints"),
                        Map.entry("mint", "/mints/" + mint),
                        Map.entry("subjects", "/subjects"),
                        Map.entry("subject", "/subjects?q=system:serviceaccount:shop:checkout"),
                        Map.entry("subject-part", "/subjects?q=serviceaccount"),
                        Map.entry("key", "/keys/acme/job-7"),
                        Map.entry("key-then", "/keys/acme/job-7?at=2026-01-01"),
                        Map.entry("tenants", "/tenants"),
                        Map.entry("tenant", "/tenants/acme"),
                        Map.entry("tenant-filtered", "/tenants/acme?q=job"),
                        Map.entry("tenant-week", "/tenants/acme/week"),
                        Map.entry("tenant-history", "/tenants/acme/history"),
                        Map.entry("history", "/history"),
                        Map.entry("row-history", "/tenants/acme/history?table=key&row=job-1"),
                        Map.entry("person", "/people/test_admin"),
                        Map.entry("reviews", "/reviews"),
                        Map.entry("reviews-all", "/reviews?show=all"),
                        Map.entry("requests", "/requests"),
                        Map.entry("requests-open", "/requests?show=open"),
                        Map.entry("requests-decided", "/requests?show=decided"),
                        Map.entry("requests-break-glass", "/requests?show=break-glass"),
                        Map.entry("requests-of-tenant", "/requests?tenant=acme"),
                        Map.entry("explain", "/explain"),
                        Map.entry("explained-mint", "/explain?mint=" + mint),
                        Map.entry("explained-denial", "/explain?mint=" + denial),
                        Map.entry("proof", "/proof"));
        List<String> faults = new ArrayList<>();
        try (var auditor = chromium.person()) {
            auditor.setExtraHTTPHeaders(Map.of("X-Viewer", "auditor"));
            Page page = auditor.newPage();
            pages.forEach((name, path) -> {
                page.navigate(world.url(path).toString());
                int height = ChromiumBrowser.heightOnAPhone(page);
                if (height > HIGHEST) {
                    faults.add("%s is %d px high".formatted(path, height));
                }
                ChromiumBrowser.look(page, "many-" + name)
                        .forEach(fault -> faults.add(path + ": " + fault));
            });
        }
        assertEquals(List.of(), faults);
    }
}
