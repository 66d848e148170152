package io.mintmark.console;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.Media;
import com.microsoft.playwright.options.ReducedMotion;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The machine's own Chromium, without a window; Playwright downloads none. */
public final class ChromiumBrowser implements AutoCloseable {
    private static final Path PICTURES = Path.of("target", "console-pages");
    private static final boolean WITH_PICTURES = Boolean.getBoolean("pictures");
    private static final String AXE = "/axe.min.js";
    private static final int DESKTOP = 1200;
    private static final int PHONE = 360;

    /** A4 without margins of 1 cm, at 96 pixels an inch. */
    private static final int PAPER = 718;

    private static final int HEIGHT = 900;

    /**
     * After this, in milliseconds, a browser hangs. Beside all other suites, one that works needed
     * more than Playwright's 30 seconds for one step.
     */
    private static final double PATIENCE = 180_000;

    /** Colours have come to what they are to be. */
    private static final String SETTLED =
            """
            async scheme => {
                while (!matchMedia(`(prefers-color-scheme: ${scheme})`).matches
                        || document.getAnimations().length > 0) {
                    await new Promise(requestAnimationFrame);
                }
                await new Promise(requestAnimationFrame);
            }
            """;

    private final Playwright playwright;
    private final Browser browser;

    private ChromiumBrowser(Path program) {
        this.playwright =
                Playwright.create(
                        new Playwright.CreateOptions()
                                .setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        this.browser =
                playwright
                        .chromium()
                        .launch(
                                new BrowserType.LaunchOptions()
                                        .setExecutablePath(program)
                                        // containers run tests as root
                                        .setArgs(
                                                List.of(
                                                        "--no-sandbox",
                                                        "--disable-dev-shm-usage",
                                                        "--disable-gpu")));
    }

    /** Where a Chromium is, if there is one. */
    public static Optional<Path> installed() {
        return Stream.of(
                        System.getProperty("chromium", ""),
                        "/usr/bin/chromium",
                        "/usr/bin/chromium-browser")
                .filter(path -> !path.isEmpty())
                .map(Path::of)
                .filter(Files::isExecutable)
                .findFirst();
    }

    public static ChromiumBrowser start() {
        return new ChromiumBrowser(installed().orElseThrow());
    }

    /** Somebody's browser, with cookies of its own and nothing that moves. */
    public BrowserContext person() {
        BrowserContext person =
                browser.newContext(
                        new Browser.NewContextOptions()
                                .setViewportSize(DESKTOP, HEIGHT)
                                .setReducedMotion(ReducedMotion.REDUCE));
        person.setDefaultTimeout(PATIENCE);
        return person;
    }

    /** Somebody's phone, which is touched. */
    public BrowserContext phone() {
        BrowserContext phone =
                browser.newContext(
                        new Browser.NewContextOptions()
                                .setViewportSize(PHONE, HEIGHT)
                                .setHasTouch(true)
                                .setIsMobile(true)
                                .setReducedMotion(ReducedMotion.REDUCE));
        phone.setDefaultTimeout(PATIENCE);
        return phone;
    }

    /**
     * What doesn't fit into the window: the page itself, or labels of cells that are drawn by CSS.
     */
    private static final String MISFITS =
            """
            () => {
              const found = [];
              const wide = document.documentElement.scrollWidth;
              if (wide > window.innerWidth) found.push(`the page is ${wide} px wide`);
              if (document.querySelector('h1').getBoundingClientRect().left < 8) found.push('the edge is touched');
              const desk = window.innerWidth > 1000;
              const header = document.querySelector('body > header');
              if (desk && header && header.offsetHeight > 70) found.push('the header has a second row');
              if (!desk && header && header.offsetHeight > 96) found.push('the header has a third row');
              for (const target of desk ? [] : document.querySelectorAll('body > header a, body > header input, main nav a, main button, main summary, .lines a.main, .cards a, article.request a')) {
                const box = (target.matches('a.main') ? target.closest('tr') : target).getBoundingClientRect();
                if (target.checkVisibility() && (box.height < 23.5 || box.width < 23.5))
                  found.push(`the target ${target.textContent.trim() || target.name} is ${Math.round(box.width)} by ${Math.round(box.height)} px`);
              }
              for (const table of document.querySelectorAll('.scroll:has(.cards)'))
                if (table.scrollWidth > table.clientWidth + 1)
                  found.push(`the table ${table.ariaLabel} is ${table.scrollWidth} px wide`);
              for (const select of document.querySelectorAll('select')) {
                const whole = select.cloneNode(true);
                whole.value = select.value;
                whole.style.cssText = 'position: absolute; width: auto; min-width: 0';
                for (const option of [...whole.options]) if (!option.selected) option.remove();
                select.parentElement.append(whole);
                if (whole.offsetWidth > select.offsetWidth + 1) found.push(`the choice ${whole.value} is cut`);
                whole.remove();
              }
              for (const text of document.querySelectorAll('.cards .cut'))
                if (!desk && text.textContent.length < 100 && (text.scrollWidth > text.clientWidth + 1 || text.scrollHeight > text.clientHeight + 1))
                  found.push(`${text.textContent} is cut`);
              for (const word of document.querySelectorAll('.cards td .attention'))
                if (!word.textContent.includes(' ') && word.getClientRects().length > 1)
                  found.push(`the word ${word.textContent} is broken`);
              for (const text of document.querySelectorAll('.cards .cut:has(+ br + small)')) {
                const next = text.nextElementSibling.nextElementSibling.getBoundingClientRect();
                if (next.top - text.getBoundingClientRect().bottom > 8)
                  found.push(`a gap follows ${text.textContent}`);
              }
              for (const name of document.querySelectorAll('.roomy .mid')) {
                const head = name.querySelector('.head'), cell = name.closest('td');
                const room = cell.getBoundingClientRect().right - name.parentElement.lastElementChild.getBoundingClientRect().right;
                if (head.scrollWidth > head.clientWidth + 1 && room > 40)
                  found.push(`${name.title} is cut with ${Math.round(room)} px of room`);
              }
              const list = document.querySelector('.columns');
              if (list && list.offsetWidth < document.querySelector('h1').offsetWidth - 1)
                found.push(`the columns are ${list.offsetWidth} px wide`);
              for (const cell of document.querySelectorAll('.cards td, .cards tbody th')) {
                const label = getComputedStyle(cell, '::before');
                const content = label.content !== 'none' && label.display !== 'none';
                if (content && cell.offsetHeight > 0 && parseFloat(label.height) > cell.clientHeight + 1)
                  found.push(`the label ${label.content} is higher than its cell`);
              }
              return found;
            }
            """;

    /**
     * Looks at a page as it is: light, dark, as wide as a phone, and on paper. Takes pictures if
     * {@code -Dpictures=true}.
     *
     * @return what doesn't fit into a window of either width, and what axe-core finds wrong: by all
     *     of its rules, and in the dark by colours
     */
    static List<String> look(Page page, String name) {
        page.evaluate(axe());
        show(page, ColorScheme.LIGHT);
        page.setViewportSize(PHONE, HEIGHT);
        shoot(page, name + "-phone");
        List<String> faults = new ArrayList<>(misfits(page, "on a phone"));
        page.setViewportSize(DESKTOP, HEIGHT);
        shoot(page, name + "-light");
        faults.addAll(misfits(page, "on a desk"));
        faults.addAll(faults(page, ColorScheme.LIGHT, "{}"));
        show(page, ColorScheme.DARK);
        shoot(page, name + "-dark");
        faults.addAll(
                faults(
                        page,
                        ColorScheme.DARK,
                        "{ runOnly: { type: 'rule', values: ['color-contrast'] } }"));
        faults.addAll(print(page, name));
        return faults;
    }

    /** What is cut on paper, where nothing can be scrolled, unfolded or pointed at. */
    private static final String CUT_ON_PAPER =
            """
            () => {
              const found = [];
              if (document.documentElement.scrollWidth > window.innerWidth)
                found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
              for (const table of document.querySelectorAll('.scroll table'))
                if (table.checkVisibility() && table.offsetWidth > table.parentElement.clientWidth + 1)
                  found.push(`the table ${table.parentElement.ariaLabel} is ${table.offsetWidth} px wide`);
              for (const text of document.querySelectorAll('.mid, .mid .head, .cut, .clamp, .roomy td, .did'))
                if (text.getClientRects().length && getComputedStyle(text).overflow !== 'visible' && text.scrollWidth > text.clientWidth + 1)
                  found.push(`${text.textContent} is cut`);
              for (const row of document.querySelectorAll('.rest > .scroll > table > tbody > tr, .rest > .changes > li'))
                if (!row.checkVisibility()) { found.push('rows are folded'); break; }
              for (const field of document.querySelectorAll('header input, main form button'))
                if (field.checkVisibility()) found.push(`a ${field.tagName} is printed`);
              return found;
            }
            """;

    /** As it is on paper, in a light scheme, as browsers print. */
    private static List<String> print(Page page, String name) {
        page.emulateMedia(
                new Page.EmulateMediaOptions()
                        .setMedia(Media.PRINT)
                        .setColorScheme(ColorScheme.LIGHT));
        page.setViewportSize(PAPER, HEIGHT);
        shoot(page, name + "-print");
        List<String> cut =
                ((List<?>) page.evaluate(CUT_ON_PAPER))
                        .stream().map(what -> "on paper: " + what).toList();
        page.emulateMedia(new Page.EmulateMediaOptions().setMedia(Media.SCREEN));
        page.setViewportSize(DESKTOP, HEIGHT);
        return cut;
    }

    /** How high the page is in a phone's window, in pixels. */
    static int heightOnAPhone(Page page) {
        page.setViewportSize(PHONE, HEIGHT);
        return (Integer) page.evaluate("() => document.documentElement.scrollHeight");
    }

    private static List<String> misfits(Page page, String where) {
        page.waitForSelector("h1"); // a page that loads itself again has none for a moment
        return ((List<?>) page.evaluate(MISFITS))
                .stream().map(what -> where + ": " + what).toList();
    }

    private static void show(Page page, ColorScheme scheme) {
        page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(scheme));
        page.evaluate(SETTLED, scheme.name().toLowerCase(Locale.ROOT));
    }

    private static void shoot(Page page, String name) {
        if (!WITH_PICTURES) {
            return;
        }
        page.screenshot(
                new Page.ScreenshotOptions()
                        .setPath(PICTURES.resolve(name + ".png"))
                        .setFullPage(true));
    }

    private static List<String> faults(Page page, ColorScheme scheme, String options) {
        String found =
                (String)
                        page.evaluate(
                                """
                                () => axe.run(%s).then(r => JSON.stringify(r.violations.flatMap(v =>
                                    v.nodes.map(n => v.id + ' at ' + n.target.join(' ') + ': ' + v.help))))
                                """
                                        .formatted(options));
        return list(found).stream().map(fault -> scheme + ": " + fault).toList();
    }

    private static List<String> list(String json) {
        try {
            List<String> texts = new ArrayList<>();
            for (JsonNode text : new JsonMapper().readTree(json)) {
                texts.add(text.asText());
            }
            return texts;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String axe() {
        try (InputStream stream = ChromiumBrowser.class.getResourceAsStream(AXE)) {
            if (stream == null) {
                throw new IllegalStateException(AXE + " isn't on the class path");
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        browser.close();
        playwright.close();
    }
}
