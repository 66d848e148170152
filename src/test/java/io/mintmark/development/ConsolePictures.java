package io.mintmark.development;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;

import io.mintmark.console.ChromiumBrowser;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

/**
 * Takes the pictures of the console in {@code docs/reference/console.md}, from the demo that the
 * README starts. Not a test: {@code .ci/pictures} runs it when pages have changed.
 */
class ConsolePictures {
    private static final Path PICTURES = Path.of("docs", "reference");

    @TempDir private Path directory;

    @Test
    void take() throws Exception {
        try (DemoProcess demo = DemoProcess.start(directory);
                ChromiumBrowser browser = ChromiumBrowser.start();
                BrowserContext person = browser.person()) {
            var _ = demo.printed();
            String url = demo.console();
            Page page = person.newPage();
            page.navigate(url + "/");
            page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("audrey")).click();
            page.waitForURL(to -> to.startsWith(url));
            shoot(page, "console");
            page.navigate(url + "/requests?show=decided");
            page.locator("main a[href^='/requests/']").last().click();
            shoot(page, "console-request");
            page.navigate(url + "/mints?outcome=denied");
            page.locator("main a[href^='/mints/0']").first().click();
            page.locator("main a[href^='/explain?mint=']").click();
            shoot(page, "console-explain");
            page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(ColorScheme.DARK));
            page.navigate(url + "/mints?actor=agent%3Ahelper");
            page.locator("main a[href^='/mints/0']").first().click();
            shoot(page, "console-mint");
        }
    }

    private static void shoot(Page page, String name) {
        page.screenshot(
                new Page.ScreenshotOptions()
                        .setPath(PICTURES.resolve(name + ".png"))
                        .setFullPage(true));
    }
}
