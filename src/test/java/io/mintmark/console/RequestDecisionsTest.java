package io.mintmark.console;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;
import static io.mintmark.console.CookieJar.location;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.BoundingBox;
import com.microsoft.playwright.options.ViewportSize;

import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.SignInStandIn.Person;
import io.mintmark.console.pages.Pages;
import io.mintmark.console.pages.requests.BrokerRoutes;
import io.mintmark.console.verification.Proof;
import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.World;
import io.mintmark.provider.types.CredentialTypes;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Requests for access that people decide in the console: a broker and a console, over HTTP. */
class RequestDecisionsTest {
    private static final String REASON = "Ticket 4711: the nightly export is stuck";
    private static final Pattern REVISIONS =
            Pattern.compile("name=\"revisions\" value=\"([^\"]+)\"");

    private static World world;
    private static RunningConsole console;

    /** Approves, and may ask too. */
    private static CookieJar bea;

    /** Sees the tenant, and approves nothing. */
    private static CookieJar otto;

    /** May request a key. */
    private static CookieJar rita;

    private static SignInStandIn signIn;

    @BeforeAll
    static void start() {
        world = new World();
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('console-people', 'acme', '%1$s', '{mintmark-console}', '{approver}'),
                       ('agents', 'acme', '%1$s', '{mintmark-agents}', '{actor}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass)
                VALUES ('acme', 'spare', 'ci', 'ci:*', 'glob', 1, 7200, false),
                       ('acme', 'spare', 'ci', 'bea', 'exact', 1, 7200, false),
                       ('acme', 'spare', 'ci', 'rita', 'exact', 1, 7200, false),
                       ('acme', 'api', 'ci', 'ci:*', 'glob', 0, 7200, true);
                INSERT INTO broker.access_approver (rule, idp, subject)
                SELECT id, 'console-people', 'bea' FROM broker.access_rule;
                INSERT INTO broker.access_approver (rule, idp, subject)
                SELECT id, 'console-people', 'ben' FROM broker.access_rule WHERE subject = 'bea';
                INSERT INTO broker.console_access (tenant, claim, value)
                VALUES ('acme', 'sub', '"bea"'), ('acme', 'sub', '["otto", "rita", "cleo"]');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent)
                VALUES ('acme', 'spare', 'ci', 'cleo', 7200, true);
                """
                        .formatted(world.issuer().url()));
        int port = RunningBroker.freePort();
        signIn =
                new SignInStandIn(
                        world.issuer(),
                        RunningConsole.CLIENT,
                        RunningConsole.SECRET,
                        "http://localhost:" + port,
                        List.of(
                                new Person("bea", Map.of()),
                                new Person("cleo", Map.of()),
                                new Person("otto", Map.of()),
                                new Person("rita", Map.of())));
        console =
                RunningConsole.start(
                        world.database(),
                        world.issuer().url(),
                        RequestDecisionsTest::pages,
                        port,
                        Map.of());
        bea = loggedIn("bea");
        otto = loggedIn("otto");
        rita = loggedIn("rita");
    }

    private static PageRoutes pages(ViewerDatabase viewers) {
        Proof proof =
                new Proof(
                        viewer ->
                                PostgresLog.asViewer(
                                        world.database().login(Who.CONSOLE),
                                        TestDatabase.ROLES,
                                        viewer.claims()),
                        result -> result.record(world.database().login(Who.CONSOLE)),
                        Optional.empty(),
                        InstantSource.system());
        return new Pages(
                viewers,
                proof,
                CredentialTypes.byName(),
                Optional.of(new BrokerRoutes(world.broker().url(), http())),
                List.of(),
                InstantSource.system());
    }

    private static GuardedHttp http() {
        return new GuardedHttp(new Destinations(List.of("localhost", "127.0.0.1")));
    }

    @AfterAll
    static void stop() {
        bea.close();
        otto.close();
        rita.close();
        console.close();
        world.close();
    }

    private static CookieJar loggedIn(String person) {
        CookieJar browser = new CookieJar();
        browser.open(location(browser.get(console.url() + "/requests")) + "&as=" + person);
        return browser;
    }

    private static String asked(String subject, String key, boolean breakGlass, String... headers) {
        Answer answer =
                world.broker()
                        .send(
                                world.broker()
                                        .request("/access-requests")
                                        .header(
                                                "Authorization",
                                                "Bearer "
                                                        + world.issuer()
                                                                .sign(subject, World.AUDIENCE))
                                        .headers(
                                                Stream.concat(
                                                                Stream.of(
                                                                        "Content-Type",
                                                                        "application/json"),
                                                                Stream.of(headers))
                                                        .toArray(String[]::new))
                                        .POST(
                                                BodyPublishers.ofString(
                                                        """
                                                        {"keys":["%s"],"reason":"%s","seconds":3600,"breakGlass":%s}
                                                        """
                                                                .formatted(
                                                                        key, REASON, breakGlass))));
        assertEquals(202, answer.status(), answer::toString);
        return answer.at("/requests/0/id");
    }

    private static String page(CookieJar browser) {
        return page(browser, "");
    }

    private static String page(CookieJar browser, String query) {
        HttpResponse<String> answer = browser.get(console.url() + "/requests" + query);
        assertEquals(200, answer.statusCode(), answer.body());
        return answer.body();
    }

    private static HttpResponse<String> choose(
            CookieJar browser, String id, String verdict, String... headers) {
        return browser.submit(
                console.url() + "/requests",
                "id=%s&note=for+the+export+only&verdict=%s".formatted(id, verdict),
                headers);
    }

    private static void assertStatus(String expected, String id) {
        world.assertRows(
                "SELECT status FROM broker.access_request WHERE id = '%s'".formatted(id), expected);
    }

    @Test
    void an_approver_decides_in_the_console_and_the_log_names_the_person() {
        String id = asked("ci:nightly", "spare", false);
        int waiting = countOf(page(bea), ">Approve</button>");
        assertShows(
                bea.get(console.url() + "/").body(),
                "<b>%s</b> <a href=\"/requests\">%s for you</a>"
                        .formatted(waiting, waiting == 1 ? "request" : "requests"));
        assertShows(
                otto.get(console.url() + "/").body(),
                "<b>0</b> <a href=\"/requests\">requests for you</a>");
        assertShows(page(bea), REASON, "value=\"%s\"".formatted(id), ">Approve</button>");
        assertLacks(page(otto), ">Approve</button>");

        HttpResponse<String> answer = choose(bea, id, "approve");
        assertEquals(303, answer.statusCode(), answer.body());
        assertEquals("/requests/" + id, location(answer));
        String after = bea.get(console.url() + location(answer)).body();
        assertShows(after, "✓ granted");
        assertShows(after, "bea approved: for the export only");
        world.assertRows(
                "SELECT idp || ' ' || subject || ' ' || note FROM broker.access_decision WHERE request = '%s'"
                        .formatted(id),
                "console-people bea for the export only");
        assertMints("ci:nightly", 200);
        String mint =
                world.value(
                        "SELECT mint_id FROM audit.event WHERE subject = 'ci:nightly' AND kind ="
                                + " 'issued' LIMIT 1");
        assertShows(bea.get(console.url() + "/mints/" + mint).body(), "/requests/" + id);
        assertShows(
                otto.get(console.url() + "/requests?tenant=acme&key=spare").body(),
                "bea approved: for the export only");
    }

    @Test
    void what_the_key_gives_is_shown_and_another_revision_is_not_approved() {
        String id = asked("ci:revisions", "spare", false);
        String page = bea.get(console.url() + "/requests/" + id).body();
        assertShows(page, "<dt>It gives</dt>", ", with ", "<dt>The key's settings</dt>");
        Matcher revisions = REVISIONS.matcher(page);
        assertTrue(revisions.find(), page);
        String settings =
                world.value(
                        "SELECT jsonb_object_keys(settings) FROM broker.key WHERE tenant = 'acme' AND name = 'spare' LIMIT 1");
        assertTrue(page.matches("(?s).*\\{[^<]*" + settings + "[^<]*\\}</dd>.*"), page);
        assertShows(page(bea), "<small>It gives ");
        assertTrue(
                page(bea)
                        .matches(
                                "(?s).*The key's settings: <span class=\"id\">\\{[^<]*"
                                        + settings
                                        + "[^<]*\\}</span>.*"),
                page);
        world.admin(
                "UPDATE broker.key SET description = 'another' WHERE tenant = 'acme' AND name = 'spare'");

        HttpResponse<String> answer =
                browserSends(id, revisions.group(1).replaceAll("&#34;|&quot;", "\""));
        assertEquals(409, answer.statusCode(), answer.body());
        assertShows(
                answer.body(),
                "The request is void, because these have changed since you saw it: key.");
        assertStatus("void", id);
        assertEquals(400, browserSends(id, "{").statusCode());
    }

    private static HttpResponse<String> browserSends(String id, String revisions) {
        return bea.submit(
                console.url() + "/requests",
                "id=%s&verdict=approve&revisions=%s"
                        .formatted(id, URLEncoder.encode(revisions, StandardCharsets.UTF_8)));
    }

    /** From the question to its end, by person, and nobody else's. */
    @Test
    void a_requests_page_tells_what_came_of_it_in_its_order() {
        String id = asked("ci:object", "spare", false);
        String pending = bea.get(console.url() + "/requests/" + id).body();
        assertShows(pending, "0 of 1 approval", "Lapses unless it is decided", ">Approve</button>");
        choose(bea, id, "approve");
        assertMints("ci:object", 200);
        assertMints("ci:object", 200);

        String page = otto.get(console.url() + "/requests/" + id).body();

        assertInOrder(
                page,
                "ci:object asked for 60 minutes",
                "bea approved: for the export only",
                ">by token; ",
                "Granted",
                "First minted",
                "2 mints under grant",
                "Access ends");
        assertLacks(page, ">Approve</button>");
        assertShows(otto.get(console.url() + "/requests?id=" + id).body(), "2 mints under grant");
        assertEquals(
                404,
                otto.get(console.url() + "/requests/00000000-0000-0000-0000-000000000000")
                        .statusCode());
        assertEquals(404, otto.get(console.url() + "/requests/nothing").statusCode());
    }

    @Test
    void the_page_of_access_that_ended_early_lists_credentials_that_work_on() {
        String id = asked("ci:back", "spare", false);
        choose(bea, id, "approve");
        assertMints("ci:back", 200);
        assertLacks(
                otto.get(console.url() + "/requests/" + id).body(),
                "What became of its credentials");
        world.admin("UPDATE broker.subject_grant SET enabled = false WHERE subject = 'ci:back'");
        assertShows(
                otto.get(console.url() + "/requests/" + id).body(),
                "What became of its credentials",
                "cannot be ended early, ends by itself in ");
    }

    @Test
    void an_approver_withdraws_access_on_its_page_and_others_see_the_statement() {
        String id = asked("ci:ended", "spare", false);
        choose(bea, id, "approve");
        String address = console.url() + "/requests/" + id;
        assertShows(bea.get(address).body(), ">Withdraw the access</button>");
        String others = otto.get(address).body();
        assertLacks(others, ">Withdraw the access</button>");
        assertShows(
                others,
                "Withdraw the access with a token or a login",
                "mintmark-client withdraw " + id);
        assertEquals(404, choose(otto, id, "end").statusCode());
        assertStatus("granted", id);

        assertEquals(303, choose(bea, id, "end").statusCode());

        assertStatus("withdrawn", id);
        String page = otto.get(address).body();
        assertInOrder(
                page, "Granted", "bea withdrew the access: for the export only", ">by token; ");
        assertLacks(page, "Withdrawn by the requester");
        assertLacks(bea.get(address).body(), ">Withdraw the access</button>");
        assertShows(
                otto.get(
                                console.url()
                                        + "/explain?idp=ci&claims=%7B%22sub%22%3A%22ci%3Aended%22%7D")
                        .body(),
                "false: bea of console-people withdrew the access of request " + id);
        assertShows(
                otto.get(console.url() + "/tenants/acme/history?table=access_request").body(),
                "withdrew the access of ci:ended to key spare");
        assertShows(
                otto.get(console.url() + "/tenants/acme/history?table=access_decision").body(),
                "withdrew access under the request of ci:ended for key spare");
    }

    private static void assertInOrder(String page, String... parts) {
        int at = 0;
        for (String part : parts) {
            int next = page.indexOf(part, at);
            assertTrue(next >= at, () -> "%s is missing or too early in %s".formatted(part, page));
            at = next;
        }
    }

    private static int countOf(String page, String part) {
        return page.split(part, -1).length - 1;
    }

    @Test
    void the_page_of_a_key_says_what_a_reason_must_be_like_and_how_access_ends() {
        world.admin(
                """
                INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint, end_credentials, end_access, enabled)
                VALUES ('acme', 'spare', 'ci', 'ci:terms', 7200, 'INC-**', 'Start with the ticket', true, true, false);
                INSERT INTO broker.access_approver (rule, idp, subject, program, max_access)
                SELECT id, 'ci', 'ci:gate', true, 900 FROM broker.access_rule WHERE subject = 'ci:terms'
                """);
        assertShows(
                otto.get(console.url() + "/keys/acme/spare").body(),
                "for a reason like INC-** (Start with the ticket); an early end also ends its credentials; a change of the rule ends its access",
                "program (up to 900 s) ci:gate of ci");
    }

    @Test
    void a_pending_request_shows_the_step_and_the_people_that_it_lacks() {
        world.admin(
                """
                INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access)
                VALUES ('acme', 'api', 'ci', 'steps', 7200);
                INSERT INTO broker.access_approver (rule, idp, subject, step, program)
                SELECT r.id, a.idp, a.subject, a.step, a.program
                  FROM broker.access_rule AS r
                 CROSS JOIN (VALUES ('console-people', 'bea', 2, false), ('console-people', 'ben', 1, false),
                                    ('ci', 'gate', 1, true)) AS a (idp, subject, step, program)
                 WHERE r.subject = 'steps'
                """);
        String id = asked("steps", "api", false);
        String address = console.url() + "/requests/" + id;
        assertShows(
                otto.get(address).body(),
                "0 of 2 approvals in 2 steps; approvals are missing in step 1, 2");
        assertEquals(
                200,
                world.broker()
                        .send(
                                world.broker()
                                        .request("/access-requests/" + id + "/decision")
                                        .header(
                                                "Authorization",
                                                "Bearer "
                                                        + world.issuer()
                                                                .sign("gate", World.AUDIENCE))
                                        .header("Content-Type", "application/json")
                                        .POST(
                                                BodyPublishers.ofString(
                                                        "{\"verdict\":\"approve\",\"note\":\"INC-7\"}")))
                        .status());
        assertShows(
                otto.get(address).body(),
                "gate approved as a program: INC-7",
                "1 of 2 approvals in 2 steps; approvals are missing in step 2; people must still give 1");
        assertShows(page(bea), "approvals are missing in step 2; people must still give 1");
        choose(bea, id, "approve");
        assertStatus("granted", id);
        assertLacks(otto.get(address).body(), "missing in step");
    }

    @Test
    void an_approver_finds_the_access_that_may_be_withdrawn_in_a_list() {
        String id = asked("ci:findable", "spare", false);
        String list = "?show=withdrawable";
        assertLacks(page(bea, list), id);
        choose(bea, id, "approve");
        assertShows(page(bea, list), id, ">Withdraw the access</button>");
        assertLacks(page(otto, list), id);
        assertShows(page(otto, list), "There is no access in force that you may withdraw.");
        choose(bea, id, "end");
        assertLacks(page(bea, list), id);
    }

    @Test
    void a_person_requests_a_key_by_a_form_and_mints_with_the_token_of_their_client() {
        String form = rita.get(console.url() + "/requests/new").body();
        assertShows(form, "value=\"spare\"", "61 seconds to 2 hours, needs 1 approval");
        assertLacks(form, "value=\"api\"");
        assertShows(page(rita), "href=\"/requests/new\"");

        HttpResponse<String> answer = ask(rita, "spare", "The+form+of+the+console");
        assertEquals(303, answer.statusCode(), answer.body());
        String address = location(answer);
        assertShows(rita.get(console.url() + address).body(), "The form of the console", "by you");
        String id = address.substring("/requests/".length());
        world.assertRows(
                "SELECT concat_ws(' ', status, idp, subject, key, access, reason) FROM broker.access_request WHERE id = '%s'"
                        .formatted(id),
                "pending ci rita spare 3600 The form of the console");
        assertEquals(303, choose(bea, id, "approve").statusCode());
        assertMints("rita", 200);
        assertEquals(303, choose(rita, id, "withdraw").statusCode());
    }

    private static HttpResponse<String> ask(
            CookieJar browser, String key, String reason, String... headers) {
        return browser.submit(
                console.url() + "/requests/new",
                "key=%s&minutes=60&reason=%s".formatted(key, reason),
                headers);
    }

    @Test
    void the_form_shows_what_a_reason_must_be_like_and_keeps_what_was_written() {
        world.admin(
                """
                INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint)
                VALUES ('acme', 'deploy', 'ci', 'rita', 7200, 'INC-**', 'Start with the <ticket>.');
                INSERT INTO broker.access_approver (rule, idp, subject)
                SELECT id, 'console-people', 'bea' FROM broker.access_rule WHERE key = 'deploy'
                """);
        String form = rita.get(console.url() + "/requests/new?key=deploy").body();
        assertShows(form, "Reason: Start with the &lt;ticket&gt;.", "checked", ">Other keys</a>");
        assertLacks(form, "value=\"spare\"");

        HttpResponse<String> answer = ask(rita, "deploy", "Because+%3Cb%3E+I+can");
        assertEquals(400, answer.statusCode());
        assertShows(
                answer.body(),
                "must match the pattern \"INC-**\". Start with the &lt;ticket&gt;.",
                "Because &lt;b&gt; I can</textarea>",
                "role=\"alert\"");
        assertEquals(303, ask(rita, "deploy", "INC-7+is+open").statusCode());
    }

    @Test
    void who_may_request_nothing_gets_no_form_and_the_brokers_refusal() {
        assertShows(
                otto.get(console.url() + "/requests/new").body(),
                "No access rule lets you request a key");
        HttpResponse<String> answer = ask(otto, "spare", "A+form+of+my+own");
        assertEquals(403, answer.statusCode());
        assertShows(answer.body(), "No rule allows you to ask for key");
        assertEquals(400, otto.submit(console.url() + "/requests/new", "key=spare").statusCode());
        assertEquals(
                400,
                otto.submit(console.url() + "/requests/new", "key=spare&minutes=43201")
                        .statusCode());
    }

    @Test
    void another_site_cant_have_a_person_request() {
        for (String site : List.of("cross-site", "same-site")) {
            assertEquals(
                    403,
                    ask(rita, "spare", "Forged+elsewhere", "Sec-Fetch-Site", site).statusCode());
        }
        assertEquals(
                403,
                ask(rita, "spare", "Forged+elsewhere", "Origin", "https://evil.example")
                        .statusCode());
        world.assertRows(
                "SELECT count(*) FROM broker.access_request WHERE reason = 'Forged elsewhere'",
                "0");
    }

    @Test
    void a_refusal_ends_it_and_a_second_decision_is_refused_in_words() {
        String id = asked("ci:refused", "spare", false);
        assertEquals(303, choose(bea, id, "refuse").statusCode());
        assertStatus("refused", id);
        HttpResponse<String> again = choose(bea, id, "approve");
        assertEquals(409, again.statusCode());
        assertShows(again.body(), "role=\"alert\"");
        assertShows(again.body(), "You have already decided on this request: refuse.");
    }

    @Test
    void who_is_no_approver_gets_the_brokers_refusal() {
        String id = asked("ci:others", "spare", false);
        HttpResponse<String> answer = choose(otto, id, "approve");
        assertEquals(404, answer.statusCode());
        assertShows(answer.body(), "There is no such request for access");
        assertShows(answer.body(), "mintmark-client approve " + id);
        assertStatus("pending", id);
    }

    @Test
    void a_requester_sees_their_request_cant_approve_it_and_gives_it_back() {
        String id = asked("bea", "spare", false);
        String page = page(bea);
        assertShows(page, "by you");
        HttpResponse<String> own = choose(bea, id, "approve");
        assertEquals(403, own.statusCode());
        assertShows(own.body(), "You are the requester or the actor of this request");
        assertShows(page, ">Withdraw</button>");
        assertEquals(303, choose(bea, id, "withdraw").statusCode());
        assertStatus("withdrawn", id);
        assertShows(
                otto.get(console.url() + "/tenants/acme/history?table=access_request").body(),
                "<a class=\"login\" href=\"/people/bea\">bea</a>",
                "withdrew the request for key spare",
                "asked for key spare: " + REASON);
    }

    @Test
    void another_site_cant_have_a_person_decide() {
        String id = asked("ci:forged", "spare", false);
        for (String site : List.of("cross-site", "same-site")) {
            assertEquals(403, choose(bea, id, "approve", "Sec-Fetch-Site", site).statusCode());
        }
        assertEquals(
                403, choose(bea, id, "approve", "Origin", "https://evil.example").statusCode());
        assertStatus("pending", id);
    }

    private static String askedByAnAgent() {
        return asked(
                "cleo",
                "spare",
                false,
                "Mintmark-Actor-Token",
                world.issuer().sign("agent:bot", "mintmark-agents"));
    }

    @Test
    void consent_shows_what_is_asked_for_and_needs_a_new_login() {
        String id = askedByAnAgent();
        String address = console.url() + "/requests/" + id;
        signIn.further(Map.of("iat", Instant.now().getEpochSecond() - 302));
        try (CookieJar cleo = loggedIn("cleo")) {
            assertShows(page(cleo), ">agent:bot</span> of <span class=\"id\">agents</span>");
            assertShows(
                    cleo.get(address).body(),
                    "waits for the consent of cleo",
                    ">agent:bot</a> of <span class=\"id\">agents</span>",
                    ">spare</a>",
                    "https://spare.example.com",
                    "60 minutes of access",
                    REASON,
                    "Only you can decide this, within five minutes after a login.");

            HttpResponse<String> old = choose(cleo, id, "approve");
            assertEquals(403, old.statusCode());
            assertShows(
                    old.body(),
                    "Consent needs a token that was issued at most five minutes ago.",
                    "Nothing was decided yet. <a href=\"/login?to=%2Frequests%2F" + id);
            assertStatus("pending", id);

            signIn.further(Map.of());
            HttpResponse<String> back = cleo.open(console.url() + "/login?to=%2Frequests%2F" + id);
            assertEquals(address, back.uri().toString());
            assertEquals(303, choose(cleo, id, "approve").statusCode());
            assertStatus("granted", id);
            assertShows(cleo.get(address).body(), "cleo", "approved");
            choose(cleo, id, "withdraw");
        } finally {
            signIn.further(Map.of());
        }
    }

    @Test
    void nobody_else_is_offered_to_consent() {
        String id = askedByAnAgent();
        String address = console.url() + "/requests/" + id;
        String page = bea.get(address).body();
        assertShows(page, "Only cleo can decide this", "mintmark-client approve " + id);
        assertLacks(page, ">Approve</button>", "INSERT INTO broker.access_decision");
        assertEquals(404, choose(bea, id, "approve").statusCode());
        assertStatus("pending", id);
    }

    /** So a console that somebody takes over can't mint either. */
    @Test
    void the_consoles_tokens_mint_nothing() {
        String token = world.issuer().sign("bea", RunningConsole.CLIENT);
        Answer answer = world.broker().mint(token, "spare");
        assertEquals(401, answer.status(), answer::toString);
        HttpRequest.Builder ask =
                world.broker()
                        .request("/access-requests?for=decision")
                        .header("Authorization", "Bearer " + token)
                        .GET();
        assertEquals(200, world.broker().send(ask).status());
    }

    @Test
    void without_an_identity_provider_row_the_page_shows_commands() {
        String id = asked("ci:commands", "spare", false);
        world.admin(
                "UPDATE broker.identity_provider SET enabled = false WHERE name = 'console-people'");
        try {
            assertShows(page(bea), "no identity provider accepts the token of your session");
            String page = page(bea, "?show=open");
            assertLacks(page, ">Approve</button>");
            assertShows(page, "mintmark-client approve " + id);
            assertShows(page, "INSERT INTO broker.access_decision");
            assertShows(page, "ARRAY['mintmark-console'], '{approver}'");
            Eventually.holds(() -> choose(bea, id, "approve").statusCode() == 403);
            assertShows(
                    choose(bea, id, "approve").body(),
                    "The broker does not accept the token of your session");
            assertStatus("pending", id);
        } finally {
            world.admin(
                    "UPDATE broker.identity_provider SET enabled = true WHERE name ="
                            + " 'console-people'");
            Eventually.holds(() -> choose(bea, id, "refuse").statusCode() == 303);
        }
    }

    @Test
    void an_open_break_glass_is_listed_with_its_sign_off() {
        String id = asked("ci:glass", "api", true);
        String page = page(otto, "?show=break-glass");
        assertShows(page, "used break glass");
        assertShows(page, id);
        assertShows(page, "INSERT INTO broker.grant_review");
        assertLacks(page(otto, "?show=decided"), id);
    }

    /** In Chromium: somebody approves, the requester uses the access and gives it back. */
    @Test
    @Tag("heavy")
    void in_a_browser_a_request_is_approved_used_and_given_back() {
        assumeTrue(
                ChromiumBrowser.installed().isPresent(),
                "left out: no Chromium here, so no request was decided in a browser");
        String id = asked("rita", "spare", false);
        try (ChromiumBrowser chromium = ChromiumBrowser.start()) {
            Page approver = opened(chromium.phone(), "bea");
            approver.locator("#r-" + id + " input[name=note]").fill("until noon");
            Locator approve = approver.locator("#r-" + id + " button[value=approve]");
            assertFitsAThumb(approve);
            approve.tap();
            approver.waitForURL(url -> url.endsWith("/requests/" + id));
            assertShows(
                    approver.locator("#r-" + id).innerText(),
                    "granted",
                    "bea approved: until noon");
            assertEquals(List.of(), ChromiumBrowser.look(approver, "request"), "request");
            assertMints("rita", 200);

            Page requester = opened(chromium.person(), "rita");
            assertEquals(List.of(), ChromiumBrowser.look(requester, "requests"), "requests");
            requester.getByText("Request access").click();
            assertEquals(List.of(), ChromiumBrowser.look(requester, "ask"), "ask");
            requester.locator("input[value=spare]").check();
            requester.locator("input[name=minutes]").fill("90");
            requester.locator("textarea").fill("To see the form in a browser");
            requester.locator("main button").click();
            requester.waitForURL(url -> url.matches(".*/requests/[0-9a-f-]{36}"));
            assertShows(
                    requester.locator("article").innerText(), "for 90 minutes", "0 of 1 approval");
            requester.locator("button[value=withdraw]").click();
            requester.navigate(console.url() + "/requests");
            requester.locator("#r-" + id + " button[value=withdraw]").click();
            requester.waitForURL(url -> url.endsWith("/requests/" + id));
            assertShows(requester.locator("#r-" + id).innerText(), "withdrawn");
            assertMints("rita", 403);
        }
    }

    /** The button is in a phone's window, and at least 24 pixels high and wide. */
    private static void assertFitsAThumb(Locator button) {
        button.scrollIntoViewIfNeeded();
        BoundingBox box = button.boundingBox();
        ViewportSize window = button.page().viewportSize();
        assertTrue(
                box.height >= 24 && box.width >= 24, "%s by %s".formatted(box.width, box.height));
        assertTrue(box.x >= 0 && box.x + box.width <= window.width, "at " + box.x);
    }

    private static Page opened(BrowserContext person, String name) {
        Page page = person.newPage();
        page.navigate(console.url() + "/requests");
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(name)).click();
        page.waitForURL(url -> url.startsWith(console.url()));
        return page;
    }

    private static void assertMints(String subject, int status) {
        Eventually.holds(() ->
                world.broker().mint(world.issuer().sign(subject, World.AUDIENCE), "spare").status()
                        == status);
    }
}
