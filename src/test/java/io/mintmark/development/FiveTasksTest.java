package io.mintmark.development;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;

import io.mintmark.console.ChromiumBrowser;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Five tasks of the console's users, in the README's demo: the answer to each is at most three
 * clicks away from the overview, along links and buttons of the pages.
 */
@Tag("heavy")
class FiveTasksTest {
    private static final int MOST_CLICKS = 3;

    @TempDir private static Path directory;

    private static DemoProcess demo;
    private static ChromiumBrowser chromium;

    private BrowserContext context;
    private Page page;
    private int clicks;

    @BeforeAll
    static void start() throws IOException {
        assumeTrue(
                ChromiumBrowser.installed().isPresent(),
                "left out: no Chromium here, so the five tasks weren't tried");
        demo = DemoProcess.start(directory);
        var _ = demo.printed();
        chromium = ChromiumBrowser.start();
    }

    @AfterAll
    static void stop() {
        if (chromium != null) {
            chromium.close();
            demo.close();
        }
    }

    @BeforeEach
    void open() {
        context = chromium.person();
        page = context.newPage();
    }

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void who_can_touch_production_and_who_let_them() {
        onTheOverview("audrey");

        click(page.locator("main a[href='/keys/demo/demo-production']"));

        assertShows(
                table("Grants in force"),
                "person:rita",
                "by lea",
                "OPS-412: the nightly export is stuck",
                "break glass by person:kim",
                "INC-82: the shop is down, and nobody answers");
        assertShows(table("Table of rules"), "person:*", "1 approval", "lea of demo-console");
    }

    @Test
    void why_was_this_denied_and_who_can_help() {
        onTheOverview("audrey");

        click(
                page.locator("[aria-labelledby=denied] tr")
                        .filter(
                                new Locator.FilterOptions()
                                        .setHas(page.locator("a[href$='q=laptop%3Aeve']")))
                        .first()
                        .locator("a[href^='/explain?mint=']"));

        assertShows(
                page.locator("main").innerText(),
                "Why was demo-api denied?",
                "subject: expected ci:**, seen laptop:eve");
        assertShows(
                section("help"),
                "No rule lets this subject ask for the key.",
                "Admins of demo, who can grant it: lea");
    }

    @Test
    void what_did_this_agent_do_for_whom() {
        onTheOverview("audrey");

        click(link("agent:helper"));

        assertShows(
                table("Mints and refusals, newest first"),
                "issued",
                "agent:helper for person:ada",
                "demo / demo-bucket");
    }

    @Test
    void approve_from_a_phone() {
        context.close();
        context = chromium.phone();
        page = context.newPage();
        onTheOverview("lea");

        click(page.locator(".needs a[href='/requests']"));
        assertShows(page.locator("article.request").innerText(), "person:max asks for");
        click(page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Approve")));

        assertShows(
                page.locator("article.request").innerText(),
                "granted, ends in",
                "person:max asked for 60 minutes",
                "lea approved");
    }

    @Test
    void is_the_log_intact_and_since_when() {
        onTheOverview("audrey");

        click(page.locator(".state a[href='/proof']"));
        click(
                page.getByRole(
                        AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Verify the log")));

        page.locator(".verdict").waitFor(); // the page reloads itself until then
        assertShows(
                page.locator("main").innerText(),
                "Nothing was changed up to checkpoint",
                "0 wrong",
                "The log begins\n30 days ago");
    }

    private void onTheOverview(String person) {
        page.navigate(demo.console() + "/");
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(person)).click();
        page.waitForURL(demo.console() + "/");
    }

    private void click(Locator target) {
        clicks++;
        assertTrue(clicks <= MOST_CLICKS, clicks + " clicks");
        target.first().click();
        page.waitForLoadState();
    }

    private Locator link(String name) {
        return page.getByRole(
                AriaRole.LINK, new Page.GetByRoleOptions().setName(name).setExact(true));
    }

    private String table(String label) {
        return page.locator("[aria-label='%s']".formatted(label))
                .innerText()
                .replaceAll("\\s+", " ");
    }

    private String section(String label) {
        return page.locator("[aria-labelledby=%s]".formatted(label))
                .innerText()
                .replaceAll("\\s+", " ");
    }
}
