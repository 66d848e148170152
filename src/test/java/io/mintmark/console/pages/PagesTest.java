package io.mintmark.console.pages;

import static io.mintmark.console.pages.ConsoleWorld.assertLacks;
import static io.mintmark.console.pages.ConsoleWorld.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.console.pages.frame.Links;
import io.mintmark.postgres.TestDatabase;
import io.mintmark.postgres.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.http.HttpResponse;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What each address answers, and to whom. */
@Tag("every-postgres")
class PagesTest {
    private static final String DEPLOYER = "repo:acme/shop:ref:refs/heads/main";

    @AutoClose private static TestDatabase database;
    private static ConsoleWorld world;

    @BeforeAll
    static void setUp() {
        database = ConsoleWorld.filled();
        refusedFor("subject_blocked", 1);
        refusedFor("no_such_key", 2);
        world = database.closing(new ConsoleWorld(database.login(Who.CONSOLE), Optional.empty()));
    }

    /** Another refusal like one that there is. */
    private static void refusedFor(String reason, int number) {
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                         reason, claims, broker, chain, seq, prev_hash, hash)
                SELECT (left(mint_id::text, 24) || lpad('%1$d', 12, '0'))::uuid, step, kind, occurred_at, request_id, tenant,
                       idp, issuer, subject, key, '%2$s', claims, broker,
                       '1.run', %1$d, sha256('before'), sha256('%2$s')
                  FROM audit.event WHERE kind = 'denied' AND tenant = 'acme' ORDER BY mint_id LIMIT 1
                """
                        .formatted(number, reason));
    }

    private static String id(String condition) {
        return database.column(
                        "SELECT mint_id FROM audit.event WHERE %s ORDER BY mint_id DESC LIMIT 1"
                                .formatted(condition))
                .getFirst();
    }

    @Test
    void a_login_may_return_to_every_page_of_the_navigation() {
        Set<String> entries =
                Pattern.compile("<a href=\"(/[a-z]*)\"")
                        .matcher(world.page("auditor", "/").split("</nav>", 2)[0])
                        .results()
                        .map(link -> link.group(1))
                        .collect(Collectors.toSet());

        assertTrue(entries.containsAll(Set.of("/", "/mints", "/reviews")), entries.toString());
        assertTrue(world.paths().containsAll(entries), entries + " of " + world.paths());
    }

    @Test
    void the_overview_counts_what_was_minted_and_refused() {
        String page = world.page("auditor", "/");
        String mints =
                database.column("SELECT count(*) FROM audit.event WHERE kind = 'requested'")
                        .getFirst();
        String denied =
                database.column("SELECT count(*) FROM audit.event WHERE kind = 'denied'")
                        .getFirst();
        String alive =
                database.column(
                                "SELECT count(*) FROM audit.event WHERE expires_at > now() AND kind IN ('issued', 'withheld')")
                        .getFirst();

        assertShows(
                page,
                "<b>" + mints + "</b> <a href=\"/mints?outcome=minted",
                "<b>" + denied + "</b> <a href=\"/mints?outcome=refused",
                "<b>" + alive + "</b> <a href=\"/mints?outcome=live",
                "<svg");
    }

    @Test
    void a_lead_is_counted_her_own_tenant_alone() {
        String mints =
                database.column(
                                "SELECT count(*) FROM audit.event WHERE kind = 'requested' AND tenant = 'acme'")
                        .getFirst();

        String page = world.page("lead", "/");

        assertShows(page, "<b>" + mints + "</b> <a href=\"/mints?outcome=minted");
        assertFalse(page.contains("globex"));
    }

    @Test
    void a_mint_is_found_by_its_access_key_id_and_leads_to_its_grant_and_who_made_it() {
        String mint = id("kind = 'issued' AND key = 'deploy' AND tenant = 'acme'");
        String credential =
                database.column(
                                "SELECT credential_id FROM audit.event WHERE step = 2 AND mint_id = '%s'"
                                        .formatted(mint))
                        .getFirst();

        assertEquals("/mints/" + mint, leadsTo("/mints?q=" + credential));
        String page = world.page("auditor", "/mints/" + mint);
        assertShows(
                page,
                credential,
                "OPS-12: the shop deploys itself",
                "<b>test_admin</b>",
                DEPLOYER,
                "aws cloudtrail lookup-events");
        assertShows(
                page,
                "/tenants/acme/history?table=subject_grant&amp;row=1",
                "/tenants/acme/history?table=identity_provider&amp;row=acme-github",
                "/tenants/acme/history?table=access_provider&amp;row=");
        assertShows(
                world.page("auditor", "/tenants/acme/history?table=subject_grant&row=1"),
                "1200",
                "reviewed in March");
    }

    /** One chain has the rows of all tenants: its numbers would count those of the others. */
    @Test
    void where_a_row_stands_among_others_is_told_to_those_alone_who_see_them() {
        String path = "/mints/" + id("reason = 'no_such_key'");

        assertShows(
                world.page("auditor", path),
                "Row 2 of chain <span class=\"id\">1.run</span>",
                ", of the row before <span");
        String shown = world.page("lead", path);
        assertShows(shown, "By broker <span");
        assertLacks(shown, "Row ", "chain", "of the row before");
        String file = "/mints/download?outcome=denied";
        assertShows(world.get("auditor", file).body(), ",\"1.run\",\"2\",\r\n");
        assertLacks(world.get("lead", file).body(), "1.run");
    }

    @Test
    void a_mints_id_leads_to_the_mint() {
        String mint = id("kind = 'issued'");

        assertEquals("/mints/" + mint, leadsTo("/mints?q=" + mint));
    }

    /** Where an address sends to. */
    private static String leadsTo(String path) {
        HttpResponse<String> answer = world.get("auditor", path);
        assertEquals(303, answer.statusCode(), path);
        return answer.headers().firstValue("Location").orElseThrow();
    }

    @Test
    void a_key_shows_who_may_mint_it_now() {
        String page = world.page("lead", "/keys/acme/deploy");

        assertShows(
                page,
                "2 grants in force",
                DEPLOYER,
                "INC-77: Grace mends the checkout until tonight");
    }

    @Test
    void a_subject_shows_what_it_may_mint_by_name_and_by_glob_and_what_it_got() {
        assertShows(
                world.page("auditor", "/subjects?q=repo%3Aacme%2Fweb%3Apull_request"),
                "repo:acme/*:pull_request",
                "read-only",
                "issued");
        assertShows(
                world.page("auditor", "/subjects?q=nobody"),
                "Subjects are compared complete and case-sensitive");
    }

    @Test
    void a_key_shows_who_could_mint_it_at_a_moment_of_the_past() {
        String then =
                database.column(
                                "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
                        .getFirst();
        database.run(Who.ADMIN, "UPDATE broker.subject_grant SET enabled = false WHERE id = 1");
        try {
            assertFalse(world.page("lead", "/keys/acme/deploy").contains(DEPLOYER + "</a><br>"));
            assertShows(
                    world.page("lead", "/keys/acme/deploy?at=" + Links.encoded(then)),
                    "Who could mint",
                    DEPLOYER,
                    "OPS-12");
            assertShows(
                    world.page("lead", "/keys/acme/deploy?at=2020-01-01"),
                    "No subject could mint it then");
            assertShows(
                    world.page("lead", "/keys/acme/deploy?at=9000-01-01"),
                    "Who may mint",
                    "is in the future");
            assertShows(
                    world.page("lead", "/keys/acme/deploy?at=2020-01-01"), "As configured now: ");
            assertFalse(world.page("lead", "/keys/acme/deploy").contains("As configured now: "));
        } finally {
            database.run(Who.ADMIN, "UPDATE broker.subject_grant SET enabled = true WHERE id = 1");
        }
    }

    @Test
    void a_key_of_very_many_grants_shows_some_of_them_and_how_to_list_all() {
        database.run(
                Who.ADMIN,
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('globex', 'busy', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/busy"}');
                UPDATE broker.tenant SET max_grants = 10000 WHERE name = 'globex';
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'globex', 'globex-gitlab', 'project_path:globex/p' || n || ':ref:main', 'busy'
                  FROM generate_series(1, 2001) AS n
                """);
        try {
            assertShows(
                    world.page("auditor", "/keys/globex/busy"),
                    "200 of more than 250 grants",
                    "SELECT * FROM broker.who_can_mint",
                    "project_path:globex/p");
            assertShows(
                    world.page("auditor", "/keys/globex/busy?at=2026-01-01"),
                    "more than a page reads",
                    "SELECT * FROM audit.who_could_mint");
            assertShows(world.page("auditor", "/tenants/globex"), "50 or more", "over 1,000");
            assertEquals(404, world.get("lead", "/keys/globex/busy?at=2026-01-01").statusCode());
        } finally {
            database.run(
                    Who.ADMIN,
                    "DELETE FROM broker.subject_grant WHERE key = 'busy'; DELETE FROM broker.key WHERE name = 'busy'");
        }
    }

    @Test
    void subjects_that_asked_lately_are_said_to_be_the_last_of_them() {
        assertLacks(world.page("lead", "/subjects"), "the last 8");
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                         reason, claims, broker)
                SELECT (left((SELECT max(l.mint_id::text) FROM audit.event AS l), 24) || 'ffffffffff' || n)::uuid, e.step, e.kind, now(), e.request_id,
                       e.tenant, e.idp, e.issuer, 'lately:' || n, e.key, e.reason, e.claims, e.broker
                  FROM (SELECT * FROM audit.event WHERE kind = 'denied' AND tenant = 'globex' ORDER BY mint_id DESC LIMIT 1) AS e,
                       generate_series(10, 20) AS n
                """);

        String page = world.page("auditor", "/subjects");

        assertShows(page, "the last 8", "lately:20");
    }

    @Test
    void a_blocked_subject_may_mint_nothing_whoever_blocked_it() {
        String subject = "repo:acme/web:pull_request";
        String path = "/subjects?q=" + Links.encoded(subject);
        for (String tenant : List.of("'acme'", "NULL")) {
            database.run(
                    Who.ADMIN,
                    "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES (%s, '%s', 'INC-81')"
                            .formatted(tenant, subject));
            try {
                String page = world.page("lead", path);

                assertShows(page, tenant.equals("NULL") ? "Blocked in all tenants" : "INC-81");
                assertFalse(page.contains("repo:acme/*:pull_request"), page);
            } finally {
                database.run(Who.ADMIN, "DELETE FROM broker.blocked_subject");
            }
        }
        assertShows(world.page("lead", path), "repo:acme/*:pull_request");
    }

    @Test
    void a_tenant_shows_who_is_blocked_and_who_sees_it_here() {
        assertShows(
                world.page("lead", "/tenants/acme"),
                "Blocked subjects <small>0, in force</small></h2>\n<p class=\"empty\">None.",
                "leads of acme",
                "acme-leads");
        database.run(
                Who.ADMIN,
                """
                INSERT INTO broker.blocked_subject (tenant, subject, match, reason) VALUES
                    ('acme', 'repo:acme/leaked:ref', 'exact', 'INC-90'), ('globex', 'foreign:x', 'exact', 'INC-91'),
                    (NULL, 'everywhere:*', 'glob', 'INC-92');
                """);
        try {
            String lead = world.page("lead", "/tenants/acme");
            String auditor = world.page("auditor", "/tenants/acme");

            assertShows(lead, "INC-90", "Viewers of all tenants see it, too");
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
            database.run(Who.ADMIN, "DELETE FROM broker.blocked_subject");
        }
    }

    @Test
    void the_overview_says_since_when_it_counts() {
        ZonedDateTime since =
                ZonedDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.HOURS).minusHours(23);
        String page = world.page("auditor", "/");

        assertShows(
                page,
                "since %s?</h1>"
                        .formatted(
                                since.format(
                                        DateTimeFormatter.ofPattern(
                                                "d MMM uuuu, HH:mm 'UTC'", Locale.ENGLISH))),
                "/mints?outcome=minted&amp;from="
                        + since.format(DateTimeFormatter.ISO_LOCAL_DATE)
                        + "%20");
    }

    @Test
    void what_is_hardly_meant_stands_with_its_tenant() {
        assertShows(world.page("lead", "/tenants/acme"), "Lint warnings", "whole organisation");
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
    void who_sees_all_tenants_sees_how_what_belongs_to_none_came_to_be_so() {
        String setUp =
                database.column(
                                "SELECT max(revision) + 1 FROM audit.config_change WHERE tenant IS NULL AND table_name <> 'blocked_subject'")
                        .getFirst();
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
                "Configuration history of <code>provider_type</code> <span class=\"id\">aws-sts</span>");
        assertShows(world.page("auditor", "/tenants"), "href=\"/history\"");
        assertEquals("/tenants/acme/history", leadsTo("/history?tenant=acme"));
    }

    @Test
    void the_history_of_what_belongs_to_no_tenant_goes_on_with_older_changes() {
        database.run(
                Who.ADMIN,
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

    @Test
    void a_denial_is_explained_with_the_statement_that_would_allow_it() {
        String denied = id("reason = 'not_granted' AND key = 'deploy' AND tenant = 'acme'");

        assertShows(
                world.page("lead", "/explain?mint=" + denied),
                "refs/heads/feature/new-checkout",
                "INSERT INTO broker.subject_grant",
                "ON CONFLICT DO NOTHING");
    }

    @Test
    void a_refusal_of_a_blocked_subject_offers_no_grant_and_no_second_block() {
        String blocked = id("reason = 'subject_blocked'");

        String mint = world.page("lead", "/mints/" + blocked);
        assertShows(mint, "the subject was blocked, which overrides every grant");
        assertFalse(mint.contains("INSERT INTO broker."), mint);
        String explained = world.page("lead", "/explain?mint=" + blocked);
        assertShows(explained, "a block overrides every grant");
        assertFalse(explained.contains("INSERT INTO broker.subject_grant"), explained);
    }

    @Test
    void a_refusal_of_a_key_that_there_is_not_offers_no_grant_of_it() {
        String missing = id("reason = 'no_such_key'");

        String explained = world.page("lead", "/explain?mint=" + missing);
        assertShows(explained, "because there was no such key");
        assertFalse(explained.contains("INSERT INTO broker.subject_grant"), explained);
        assertFalse(
                world.page("lead", "/mints/" + missing)
                        .contains("INSERT INTO broker.subject_grant"));
    }

    @Test
    void claims_are_explained_and_a_token_is_refused() {
        String claims =
                Links.encoded(
                        "{\"sub\": \"%s\", \"repository_owner_id\": \"1234567\", \"environment\": \"production\"}"
                                .formatted(DEPLOYER));

        assertShows(
                world.page("lead", "/explain?idp=acme-github&claims=" + claims),
                "✓</span> yes",
                "Granted: 1 of the tenant's 3 keys");
        assertShows(
                world.page("lead", "/explain?idp=acme-github&claims=eyJhbGciOiJub25lIn0.e30."),
                "A token is a secret");
        assertShows(
                world.page("lead", "/explain?claims=" + claims),
                "lead to no identity provider that you may see");
    }

    /** What the broker refuses in a token is explained by nobody. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"sub\": \"x\", \"a\": 1E-2147483649}",
                "{\"sub\": \"x\", \"a\": 1e999999999}",
                "{\"sub\": \"nobody\", \"sub\": \"x\"}",
                "{\"sub\": \"x\"} and more {",
                "{\"sub\": \"x\\ud800\"}",
                "{\"sub\": \"x\", \"a\": NaN}"
            })
    void claims_that_no_token_may_have_are_not_explained(String claims) {
        String page =
                world.page("lead", "/explain?idp=acme-github&claims=" + Links.encoded(claims));

        assertShows(page, "not a valid JSON object");
        assertLacks(page, "Granted:");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/mints?q", "/mints?tenant&key&subject&outcome&from&to&before", "/mints/download?q",
                "/subjects?q", "/tenants?q", "/keys/acme/deploy?at",
                "/tenants/acme/history?table&before", "/explain?claims&idp&mint"
            })
    void a_parameter_without_a_value_is_as_if_it_were_not_there(String path) {
        assertEquals(200, world.get("auditor", path).statusCode());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/", "/mints", "/mints/download", "/keys/acme/deploy", "/style/pico.css"})
    void a_page_can_be_asked_about_without_its_body(String path) {
        assertEquals(200, world.head("lead", path).statusCode());
        assertEquals(404, world.head("lead", "/nowhere").statusCode());
    }

    @Test
    void what_was_searched_for_can_be_downloaded() {
        HttpResponse<String> answer = world.get("lead", "/mints/download?outcome=failed");

        List<String> lines = answer.body().lines().toList();
        String failed =
                database.column(
                                "SELECT count(*) FROM audit.event WHERE kind = 'failed' AND tenant = 'acme'")
                        .getFirst();
        assertEquals(Integer.parseInt(failed) + 1, lines.size());
        assertEquals(
                "attachment; filename=\"mints-%s-outcome-failed.csv\""
                        .formatted(LocalDate.now(ZoneOffset.UTC)),
                answer.headers().firstValue("Content-Disposition").orElseThrow());
    }

    @Test
    void a_downloaded_line_leads_to_its_grant_and_its_token() {
        String mint = id("kind = 'issued' AND tenant = 'acme'");
        String last =
                database.column(
                                """
                                SELECT concat_ws('","', o.grant_id, host(o.client_address), encode(o.token_hash, 'hex'))
                                  FROM audit.event AS o WHERE o.step = 2 AND o.mint_id = '%s'
                                """
                                        .formatted(mint))
                        .getFirst();

        List<String> lines = world.get("lead", "/mints/download").body().lines().toList();

        assertTrue(
                lines.getFirst()
                        .endsWith(
                                ",request_id,grant_id,client_address,token_hash,chain,seq,ended_at"));
        String line = lines.stream().filter(one -> one.contains(mint)).findFirst().orElseThrow();
        assertShows(line, last + "\",,,");
    }

    @Test
    void a_downloaded_file_is_named_by_what_was_looked_for_in_plain_letters() {
        String name =
                world.get(
                                "lead",
                                "/mints/download?q="
                                        + Links.encoded("a\"\r\n/../x;" + "é".repeat(300)))
                        .headers()
                        .firstValue("Content-Disposition")
                        .orElseThrow();

        assertTrue(
                name.matches("attachment; filename=\"mints-[A-Za-z0-9._-]{1,115}\\.csv\""), name);
    }

    /** By typed addresses, each of which shows it to an auditor. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/tenants/globex",
                "/tenants/globex/history",
                "/keys/globex/deploy",
                "/tenants/globex/history?table=subject_grant&row=4"
            })
    void a_lead_sees_nothing_of_another_tenant_and_is_not_told_whether_there_is_one(String path) {
        assertShows(world.page("auditor", path), "globex");

        HttpResponse<String> theirs = world.get("lead", path);
        HttpResponse<String> nobodys = world.get("lead", path.replace("globex", "nowhere"));

        assertEquals(404, theirs.statusCode());
        assertEquals(nobodys.statusCode(), theirs.statusCode());
        assertEquals(withoutTimes(nobodys.body()), withoutTimes(theirs.body()));
    }

    private static String withoutTimes(String page) {
        return page.replaceAll("<time.*?</time>|<code>[0-9a-f-]{36}</code>", "");
    }

    @Test
    void a_lead_finds_nothing_of_another_tenant_by_any_id_of_its_mints() {
        String mint = id("kind = 'issued' AND tenant = 'globex'");
        List<String> ids =
                database.column(
                        "SELECT unnest(ARRAY[credential_id, request_id, encode(token_hash, 'hex'), subject]) FROM audit.event WHERE step = 2 AND mint_id = '%s'"
                                .formatted(mint));

        assertEquals(404, world.get("lead", "/mints/" + mint).statusCode());
        assertShows(
                world.page("lead", "/explain?mint=" + mint),
                "The mint does not exist, or you may not see it");
        for (String one : ids) {
            assertShows(
                    world.page("auditor", "/mints?tenant=globex&q=" + Links.encoded(one)), mint);
            assertFalse(world.page("lead", "/mints?q=" + Links.encoded(one)).contains(mint), one);
            assertFalse(
                    world.page("lead", "/subjects?q=" + Links.encoded(one)).contains(mint), one);
        }
        assertShows(
                world.page("lead", "/mints?tenant=globex"), "Nothing that you may see matches.");
        assertFalse(world.page("lead", "/tenants").contains("globex"));
        assertShows(
                world.page(
                        "lead",
                        "/explain?idp=globex-gitlab&claims=%7B%22sub%22:%22x%22%7D"
                                .replace(":", "%3A")),
                "There is no identity provider");
        assertFalse(world.get("lead", "/mints/download").body().contains("globex"));
    }

    @Test
    void a_lead_does_not_see_the_proof() {
        assertEquals(403, world.get("lead", "/proof").statusCode());
        assertFalse(world.page("lead", "/").contains("href=\"/proof\""));
        assertFalse(world.get("lead", "/mints?before=x").body().contains("href=\"/proof\""));
        assertShows(world.page("auditor", "/mints"), "href=\"/proof\"");
    }

    @Test
    void nobody_sees_nothing() {
        for (String path : List.of("/", "/mints", "/mints/download", "/tenants/acme", "/proof")) {
            HttpResponse<String> answer = world.get("nobody", path);

            assertEquals(500, answer.statusCode());
            assertFalse(answer.body().contains("acme"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/mints?before=x",
                "/mints?q=a&q=b",
                "/tenants/acme/history?table=subject_grant&row=x",
                "/tenants/acme?after=-1",
                "/mints?q=%00"
            })
    void what_cannot_be_meant_is_refused_with_a_sentence(String path) {
        HttpResponse<String> answer = world.get("auditor", path);

        assertEquals(400, answer.statusCode());
        assertShows(answer.body(), "Error");
    }

    @Test
    void a_wrong_time_is_told_beside_its_field_and_the_form_loses_nothing() {
        HttpResponse<String> answer =
                world.get(
                        "auditor",
                        "/mints?q=x%3Ay&tenant=acme&key=deploy&outcome=denied&from=tomorrow&to=21%20Nov%202026");

        assertEquals(400, answer.statusCode());
        assertShows(
                answer.body(),
                "value=\"x:y\"",
                "value=\"acme\"",
                "value=\"deploy\"",
                "<option value=\"denied\" selected>",
                "value=\"tomorrow\"",
                "aria-describedby=\"from-fault\"",
                "id=\"from-fault\">'tomorrow' is not a time",
                "value=\"21 Nov 2026\"");
        assertEquals(400, world.get("auditor", "/mints/download?from=tomorrow").statusCode());
        assertShows(
                world.get("auditor", "/mints?from=2026-03-02&to=2026-03-01").body(),
                "id=\"to-fault\">The start is after the end");
    }

    @Test
    void a_wrong_moment_of_a_key_is_told_beside_its_field_above_who_may_mint_it_now() {
        HttpResponse<String> answer = world.get("auditor", "/keys/acme/deploy?at=2026-13-01");

        assertEquals(400, answer.statusCode());
        assertShows(
                answer.body(),
                "value=\"2026-13-01\"",
                "id=\"at-fault\">'2026-13-01' is not a time",
                "2 grants in force");
        assertShows(
                world.page("auditor", "/keys/acme/deploy?at=1+Jan+2026"), "value=\"1 Jan 2026\"");
    }

    @Test
    void a_day_stays_as_it_was_typed() {
        String page = world.page("auditor", "/mints?outcome=denied&from=1%20Jan%202026");

        assertShows(
                page,
                "value=\"1 Jan 2026\"",
                "/mints/download?outcome=denied&amp;from=1%20Jan%202026\"");
    }

    @Test
    void a_filter_that_the_form_has_no_field_for_is_shown_and_can_be_removed() {
        String page =
                world.page("auditor", "/mints?tenant=acme&subject=" + Links.encoded(DEPLOYER));

        assertShows(
                page,
                "Mints and refusals of subject <span class=\"id\">" + DEPLOYER,
                "<a href=\"/mints?tenant=acme\" aria-label=\"Without the filter Subject\">remove");
        assertLacks(world.page("auditor", "/mints?tenant=acme"), "class=\"chips\"");
        assertShows(
                world.page("auditor", "/mints?outcome=bogus"),
                "<a href=\"/mints\" aria-label=\"Without the filter Outcome\">");
    }

    @Test
    void a_cut_id_is_told_to_be_one() {
        assertShows(
                world.page("auditor", "/mints?q=ASIA0123%E2%80%A64567CDEF"),
                "This looks like a shortened id");
        assertLacks(world.page("auditor", "/mints?q=ASIA0123"), "that was cut");
    }

    @Test
    void a_page_says_the_whole_day_it_was_made_on() {
        assertTrue(
                Pattern.compile("As of <time [^>]*>[0-9]+ [A-Z][a-z]{2} [0-9]{4}, [0-9:]{8} UTC<")
                        .matcher(world.page("auditor", "/"))
                        .find());
    }

    @Test
    void pages_load_nothing_from_elsewhere_and_have_no_script_and_no_style_of_their_own() {
        String page = world.page("auditor", "/");

        assertFalse(page.contains("<script"));
        assertFalse(page.matches("(?s).*(src|href)=\"(?!/|#).*"));
        assertFalse(page.contains(" style="));
    }

    @Test
    void an_outcome_that_there_is_not_is_told_from_nothing_found() {
        assertShows(world.page("auditor", "/mints?outcome=bogus"), "</span>. Use one of issued,");
        assertShows(world.page("auditor", "/mints?q=nobody"), "Nothing that you may see matches.");
    }

    @Test
    void an_id_that_is_not_found_is_told_to_be_written_whole_and_as_it_is() {
        String id =
                database.column(
                                "SELECT credential_id FROM audit.event WHERE credential_id LIKE 'ASIA%' LIMIT 1")
                        .getFirst();

        assertShows(
                world.page("auditor", "/mints?q=" + id.toLowerCase(Locale.ROOT)),
                "Ids must be complete and are case-sensitive");
        assertEquals(leadsTo("/mints?q=" + id), leadsTo("/mints?q=%20" + id + "%0A"));
    }

    @Test
    void there_is_no_other_page() {
        assertEquals(404, world.get("auditor", "/mint").statusCode());
        assertEquals(404, world.get("auditor", "/keys/acme/a%00b").statusCode());
        for (String path : List.of("/nowhere", "/style/x", "/style/console")) {
            assertEquals(404, world.get("nobody", path).statusCode(), path);
        }
        assertEquals(404, world.post("nobody", "/style/console.css").statusCode());
    }

    @Test
    void styles_are_sent_once_and_then_only_asked_about() {
        HttpResponse<String> style = world.get("nobody", "/style/console.css");

        assertEquals(200, style.statusCode());
        assertTrue(style.headers().firstValue("ETag").orElseThrow().matches("\"[0-9a-f]{32}\""));
        assertEquals(
                304,
                world.getIfChanged("/style/console.css", style.headers().firstValue("ETag").get())
                        .statusCode());
        assertEquals(404, world.get("auditor", "/style/pico.scss").statusCode());
    }
}
