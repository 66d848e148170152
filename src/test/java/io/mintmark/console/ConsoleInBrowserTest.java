package io.mintmark.console;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.PlaywrightException;
import com.microsoft.playwright.Response;
import com.microsoft.playwright.options.AriaRole;

import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.console.SignInStandIn.Person;
import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.console.pages.Pages;
import io.mintmark.console.verification.Proof;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.provider.types.CredentialTypes;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * The console as people use it, in a real browser, from the login on. With {@code -Dpictures=true}
 * it leaves pictures of each page in {@code target/console-pages}.
 */
@Tag("heavy")
class ConsoleInBrowserTest {
    private static final String DEPLOYER = "repo:acme/shop:ref:refs/heads/main";

    private static final DateTimeFormatter THIS_MONTH =
            DateTimeFormatter.ofPattern("MMM uuuu", Locale.ENGLISH).withZone(ZoneOffset.UTC);

    /** Text that does something where it isn't shown as text. */
    private static final String HOSTILE =
            "</td><script>document.title='taken'</script><img src=x"
                    + " onerror=\"document.title='taken'\">'; DROP TABLE x; --\u202Eevil";

    private static final String MISTYPED =
            """
            INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                     reason, claims, broker)
            SELECT (left(mint_id::text, 24) || lpad('78', 12, '0'))::uuid, step, kind, occurred_at, request_id, tenant,
                   idp, issuer, subject, 'deplo', 'no_such_key', claims, broker
              FROM audit.event WHERE kind = 'denied' AND tenant = 'acme' ORDER BY mint_id LIMIT 1
            """;

    private static final Semaphore verifications = new Semaphore(1);

    private static TestDatabase database;
    private static IssuerStandIn issuer;
    private static RunningConsole console;
    private static ChromiumBrowser chromium;

    private final List<String> complaints = new ArrayList<>();
    private BrowserContext context;
    private Page page;

    @BeforeAll
    static void setUp() {
        assumeTrue(
                ChromiumBrowser.installed().isPresent(),
                "left out: no Chromium here, so the console wasn't tried in a browser");
        database = ConsoleWorld.filled();
        database.admin(hostileRows());
        database.runAsSuperuser(MISTYPED);
        issuer = IssuerStandIn.start();
        int port = RunningBroker.freePort();
        new SignInStandIn(
                issuer,
                RunningConsole.CLIENT,
                RunningConsole.SECRET,
                "http://localhost:" + port,
                List.of(
                        new Person("audrey", "auditor", Map.of("role", "auditor")),
                        new Person("lena", "leads acme", Map.of("groups", List.of("acme-leads"))),
                        new Person("sam", "has no access", Map.of())));
        console =
                RunningConsole.start(
                        database, issuer.url(), ConsoleInBrowserTest::pages, port, Map.of());
        chromium = ChromiumBrowser.start();
    }

    private static PageRoutes pages(ViewerDatabase viewers) {
        Proof proof =
                new Proof(
                        viewer -> {
                            verifications.acquireUninterruptibly();
                            verifications.release();
                            return PostgresLog.asViewer(
                                    database.login(Who.CONSOLE),
                                    TestDatabase.ROLES,
                                    viewer.claims());
                        },
                        result -> result.record(database.login(Who.CONSOLE)),
                        Optional.of(() -> new TrustedKeys(List.of())),
                        InstantSource.system());
        return new Pages(
                viewers,
                proof,
                CredentialTypes.byName(),
                Optional.empty(),
                List.of(),
                InstantSource.system());
    }

    private static String hostileRows() {
        String text = HOSTILE.replace("'", "''");
        return """
        INSERT INTO broker.key (tenant, name, provider, max_duration, settings, description)
        VALUES ('acme', 'hostile', 'services', 900, '{"audience": "https://x.example"}', '%1$s');
        INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
        VALUES ('acme', 'acme-k8s', '%1$s', 'hostile', '%1$s'),
               ('acme', 'acme-k8s', repeat('喵', 1024), 'hostile', '%1$s');
        INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, enabled)
        VALUES ('acme', 'acme-k8s', 'system:serviceaccount:shop:retired', 'inventory', 'OPS-3', false);
        INSERT INTO broker.grant_review (grant_id, verdict, note)
        SELECT id, 'keep', 'OPS-90' FROM broker.subject_grant WHERE tenant = 'acme' AND enabled
        """
                .formatted(text);
    }

    @AfterAll
    static void close() {
        if (chromium != null) {
            chromium.close();
            console.close();
            issuer.close();
            database.close();
        }
    }

    @BeforeEach
    void open() {
        context = chromium.person();
        page = context.newPage();
        page.onConsoleMessage(message -> complaints.add(message.type() + ": " + message.text()));
        page.onPageError(complaints::add);
    }

    @AfterEach
    void finish() {
        context.close();
        List<String> ofThePages =
                complaints.stream()
                        .filter(said -> !said.contains("Failed to load resource"))
                        .toList();
        assertEquals(List.of(), ofThePages, "the browser complains");
    }

    private void visit(String path) {
        page.navigate(console.url() + path);
    }

    private void logIn(String person, String path) {
        visit(path);
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(person)).click();
        page.waitForURL(url -> url.startsWith(console.url()));
    }

    private String text() {
        return page.locator("body").innerText();
    }

    private Locator heading() {
        return page.locator("h1");
    }

    private void follow(String link) {
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(link)).first().click();
    }

    /** The page is as people should find it: without faults, and with a picture to look at. */
    private void look(String name) {
        assertEquals(List.of(), ChromiumBrowser.look(page, name), name);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String one(String sql) {
        return database.value(sql);
    }

    @Test
    void an_auditor_finds_a_mint_by_its_access_key_id_and_who_granted_it() {
        String credential =
                one(
                        "SELECT credential_id FROM audit.event WHERE kind = 'issued' AND key ="
                                + " 'deploy' AND tenant = 'acme' ORDER BY mint_id DESC LIMIT 1");
        logIn("audrey", "/");
        look("overview");

        page.locator("main .totals a[href='/mints?outcome=live']").click();
        look("mints");
        page.getByRole(AriaRole.SEARCHBOX).first().fill(credential);
        page.getByRole(AriaRole.SEARCHBOX).first().press("Enter");
        page.waitForURL(url -> url.contains("/mints/0"));
        look("mint");
        assertShows(text(), credential, "was made by test_admin");
        page.locator("main a[href*='table=subject_grant']").first().click();
        look("history");
        assertShows(text(), "reviewed in March");
        visit("/history");
        look("history-platform");
        visit("/mints?q=ASIA%E2%80%A645&subject=repo%3Aacme&from=tomorrow");
        look("mints-wrong");
        assertShows(text(), "'tomorrow' is not a time");
    }

    @Test
    void an_auditor_asks_who_could_mint_a_key_on_a_day() {
        logIn("audrey", "/tenants/acme");
        look("tenant");

        page.locator("a[href='/keys/acme/deploy']").first().click(); // a lint warning names it, too
        look("key");
        page.locator(".as-of > summary").click();
        page.locator("input[name=at]").fill("2026-01-01");
        page.locator("input[name=at]").press("Enter");

        look("key-then");
        assertShows(heading().innerText(), "1 Jan 2026");
        assertShows(text(), "No subject could mint it then");
        visit("/keys/acme/deplo");
        look("key-never");
        assertShows(text(), "Did you mean");
    }

    @Test
    void an_auditor_has_a_denial_explained() {
        logIn("audrey", "/mints?outcome=denied");
        page.locator("main a[href^='/mints/0']").first().click();
        look("refusal");

        page.locator("main a[href^='/explain?mint=']").click();

        look("explain");
        assertShows(heading().innerText(), "Why was");
        visit("/mints?outcome=denied&tenant=acme&key=deploy");
        page.locator("main a[href^='/mints/0']").first().click();
        page.locator("main a[href^='/explain?mint=']").click();
        look("explain-denied");
        assertShows(text(), "Now it would still be denied.");
        visit("/explain?mint=" + one("SELECT mint_id FROM audit.event WHERE key = 'deplo'"));
        look("explain-mistyped");
        visit("/explain");
        look("explain-form");
        follow("explain it");
        look("explain-example");
        assertShows(text(), "What it may mint now");
        page.locator("textarea[name=claims]").fill("{\n  \"sub\": \"x\",,\n}");
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Explain")).click();
        look("explain-wrong");
        assertShows(text(), "Line 2");
    }

    @Test
    void an_auditor_watches_a_verification() {
        logIn("audrey", "/proof");
        waitForVerification();
        look("proof");

        verifications.acquireUninterruptibly();
        try {
            verify();
            assertShows(text(), "A verification is in progress", "This page reloads itself");
            page.setContent(page.content().replaceAll("<meta http-equiv=\"refresh\"[^>]*>", ""));
            look("proof-in-progress");
        } finally {
            verifications.release();
        }

        waitForVerification();
        assertShows(text(), "The last verification");
        look("proof-verified");
    }

    private void verify() {
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Verify the log"))
                .click();
    }

    /** Until a verification ends, its page reloads by itself and can't be examined. */
    private void waitForVerification() {
        Eventually.holds(() -> {
            try {
                visit("/proof");
                return !page.content().contains("This page reloads itself");
            } catch (PlaywrightException e) {
                return false; // it reloaded itself meanwhile
            }
        });
    }

    @Test
    void logging_out_ends_it_and_a_pages_address_leads_back() {
        logIn("audrey", "/keys/acme/deploy");
        String address = page.url();
        follow("Log out");
        assertEquals(console.url() + "/oidc/logged-out", page.url());
        look("logged-out");

        page.navigate(address);
        assertShows(text(), "Who are you?");
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("audrey")).click();

        assertEquals(address, page.url());
        assertShows(heading().innerText(), "deploy");
    }

    @Test
    void a_lead_sees_her_tenant_and_nothing_of_another() {
        String foreign =
                one(
                        "SELECT mint_id FROM audit.event WHERE tenant = 'globex' ORDER BY mint_id"
                                + " DESC LIMIT 1");
        String credential =
                one(
                        "SELECT credential_id FROM audit.event WHERE tenant = 'globex' AND"
                                + " credential_id IS NOT NULL LIMIT 1");
        logIn("lena", "/");
        assertLacks(text(), "globex");
        look("overview-lead");
        for (String path :
                List.of(
                        "/tenants/globex",
                        "/keys/globex/deploy",
                        "/mints/" + foreign,
                        "/tenants/globex/history?table=key&row=deploy")) {
            Response answer = page.navigate(console.url() + path);
            assertEquals(404, answer.status(), path + ": " + text());
        }
        for (String path :
                List.of(
                        "/mints?q=" + credential,
                        "/mints?tenant=globex",
                        "/subjects?q=project_path%3Aglobex%2Ftracking%3Aref_type%3Abranch%3Aref%3Amain",
                        "/tenants",
                        "/explain?mint=" + foreign,
                        "/mints")) {
            visit(path);
            assertEquals(
                    0,
                    page.locator(
                                    "main a[href*='globex']:not([href^='/mints?']), main a[href*='"
                                            + foreign
                                            + "']")
                            .count(),
                    path);
        }
        assertEquals(403, page.navigate(console.url() + "/proof").status());
        look("proof-lead");
        visit("/mints?q=repo:acme");
        look("mints-none");
        visit("/mints?order=oldest&outcome=denied");
        look("mints-oldest");
        visit("/subjects?q=shop");
        look("subject-unknown");
        visit("/reviews?show=all");
        look("reviews");
        visit("/nothing");
        look("nothing");
        assertShows(text(), "No page has this URL");
        visit("/tenants/acme");
        assertShows(text(), "ACME Retail");
    }

    @Test
    void hostile_text_is_shown_as_text() {
        logIn("audrey", "/keys/acme/hostile");
        look("hostile");
        assertShows(text(), "<script>document.title='taken'</script>", "⟨U+202E⟩");
        visit("/subjects?q=" + encoded("喵".repeat(1024)));
        look("long-subject");
        visit("/tenants/acme");
        visit("/mints?q=" + encoded(HOSTILE));

        assertLacks(page.title(), "taken");
        assertEquals(0, page.locator("script, img[src=x]").count());
    }

    @Test
    void whoever_may_see_nothing_is_told_what_to_ask_for() {
        logIn("sam", "/");

        assertShows(text(), "INSERT INTO broker.console_access");
        look("no-access");
    }

    @Test
    void the_overview_shows_an_hour_as_well_as_a_quarter() {
        logIn("audrey", "/");
        for (String range : List.of("Hour", "Week", "Month", "Quarter")) {
            link(range).click();
            assertEquals(
                    range, page.locator("[aria-labelledby=activity] [aria-current]").innerText());
            look("overview-" + range.toLowerCase(Locale.ROOT));
        }
    }

    @Test
    void what_fails_says_what_to_do_next() throws SQLException {
        logIn("audrey", "/");
        assertEquals(400, page.navigate(console.url() + "/keys/acme/deploy?at=soon").status());
        look("failed-400");
        assertEquals(414, page.navigate(console.url() + "/mints?q=" + "x".repeat(30_000)).status());
        look("failed-414");
        assertShows(text(), "The URL is too long.");
        database.runAsSuperuser("REVOKE SELECT ON broker.tenant FROM " + Who.CONSOLE.role());
        try {
            assertEquals(500, page.navigate(console.url() + "/tenants/acme").status());
            look("failed-500");
            assertShows(text(), "This page failed.", "send the request id below to an operator");
        } finally {
            database.runAsSuperuser("GRANT SELECT ON broker.tenant TO " + Who.CONSOLE.role());
        }
        try (Connection busy = database.connect(Who.OWNER)) {
            busy.setAutoCommit(false);
            Query.of("LOCK TABLE broker.tenant IN ACCESS EXCLUSIVE MODE").execute(busy);
            assertEquals(503, page.navigate(console.url() + "/tenants/acme").status());
            look("failed-503");
            assertShows(text(), "Try again in a moment.");
            busy.rollback();
        }
    }

    @Test
    void every_page_works_by_keyboard_alone() {
        logIn("audrey", "/");

        page.keyboard().press("Tab");
        assertEquals("Skip to the content", focused());
        page.keyboard().press("Enter");
        page.keyboard().press("Tab");

        assertTrue(
                (Boolean)
                        page.evaluate(
                                "() =>"
                                        + " document.querySelector('main').contains(document.activeElement)"));
    }

    private String focused() {
        return (String) page.evaluate("() => document.activeElement.textContent.trim()");
    }

    @Test
    void a_subject_is_followed_to_what_it_may_and_what_it_got() {
        logIn("lena", "/subjects");
        look("subjects");
        follow(DEPLOYER);

        look("subject");
        assertShows(text(), "of its credentials are valid", "May mint now", "Block this subject");
        database.admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', '%s', 'INC-81', now() + interval '1 day')"
                        .formatted(DEPLOYER));
        page.reload();
        look("subject-blocked");
        database.admin("DELETE FROM broker.blocked_subject");
        assertShows(text(), "Block this subject without an end");
    }

    /** What people come for, who are denied something, audit, or approve. */
    @Test
    void five_questions_are_answered_within_two_clicks_of_the_overview(TestReporter reporter) {
        database.admin(
                "INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin')");
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.key SET description = 'Counts the stock' WHERE name = 'inventory'");
        somethingToDecide();
        logIn("audrey", "/proof");
        waitForVerification();
        verify();
        waitForVerification();

        question(
                reporter,
                "why was I denied",
                () -> find(DEPLOYER.replace("main", "feature/new-checkout")),
                () -> page.locator("main .lines a[href^='/explain?mint=']"));
        assertShows(heading().innerText(), "Why was deploy denied?");
        assertShows(text(), "Now it would still be denied.");
        question(
                reporter,
                "who had production last week",
                () -> page.locator("main .lines a[href='/keys/acme/deploy']"),
                () -> link("Week"));
        assertEquals(
                1,
                page.locator(
                                "[aria-label='Who asked for the key'] a[title='%s']"
                                        .formatted(DEPLOYER))
                        .count());
        assertShows(
                page.locator(
                                "[aria-label='Grants in force'] tr:has(a[title='%s'])"
                                        .formatted(DEPLOYER))
                        .innerText(),
                "by test_admin",
                "reviewed in March");
        question(
                reporter,
                "what did one admin do in this month",
                () ->
                        page.locator(
                                "[aria-labelledby=changes] .names a[href='/people/test_tenant_admin']"),
                () -> link(THIS_MONTH.format(Instant.now())));
        assertShows(text(), "1 change,", "to Counts the stock of key inventory");
        question(reporter, "is the log intact", () -> page.locator(".state a[href='/proof']"));
        assertShows(heading().innerText(), "Is the log intact?");
        assertShows(page.locator(".verdict").first().innerText(), "NOT intact");
        assertShows(text(), "No checkpoint is valid, so nothing is proven");
        question(reporter, "what needs me today", () -> page.locator(".state a[href='/requests']"));
        assertShows(heading().innerText(), "What waits for you?");
        assertShows(
                page.locator("article.request").first().innerText(),
                "asks for deploy of acme",
                "INC-82: the shop is down, and its deploy has to be rolled back",
                "0 of 1 approval");
        look("requests");
    }

    /** A request that the auditor may decide. */
    private void somethingToDecide() {
        database.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('acme-people', 'acme', '%s', '{%s}', '{approver}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access)
                VALUES ('acme', 'deploy', 'acme-github', 'repo:acme/shop:*', 'glob', 1, 7200);
                INSERT INTO broker.access_approver (rule, idp, subject)
                SELECT id, 'acme-people', 'audrey' FROM broker.access_rule;
                """
                        .formatted(issuer.url(), RunningConsole.CLIENT));
        database.runAsSuperuser(
                """
                SET session_replication_role = replica;
                INSERT INTO broker.access_request (tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals, expires_at)
                SELECT r.tenant, r.id, r.key, r.idp, 'https://token.actions.githubusercontent.com', 'repo:acme/shop:environment:incident',
                       'INC-82: the shop is down, and its deploy has to be rolled back', 3600, false, 1, now() + interval '1 day'
                  FROM broker.access_rule AS r
                """);
    }

    /** Follows at most two links from the overview, and reports how long the pages took. */
    @SafeVarargs
    private void question(TestReporter reporter, String name, Supplier<Locator>... clicks) {
        assertTrue(clicks.length <= 2, name);
        visit("/");
        List<String> times = new ArrayList<>(List.of(loaded(name)));
        for (Supplier<Locator> click : clicks) {
            click.get().first().click();
            page.waitForLoadState();
            times.add(loaded(name));
        }
        reporter.publishEntry(
                name, "%d clicks, %s".formatted(clicks.length, String.join(" + ", times)));
    }

    /** How long the browser took for the page, which nobody should wait for. */
    private String loaded(String name) {
        double took =
                ((Number)
                                page.evaluate(
                                        "() => performance.getEntriesByType('navigation')[0].duration"))
                        .doubleValue();
        assertTrue(took < 5_000, "%s took %.0f ms at %s".formatted(name, took, page.url()));
        return "%.0f ms".formatted(took);
    }

    /** The search field of every page, filled. */
    private Locator find(String text) {
        page.locator("header input[name=q]").fill(text);
        return page.locator("header form.find button");
    }

    private Locator link(String name) {
        return page.getByRole(
                AriaRole.LINK, new Page.GetByRoleOptions().setName(name).setExact(true));
    }
}
