package io.mintmark.console.pages;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.frame.Links;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** What pages say to somebody who looks for the first time, and of times other than now. */
@Tag("every-postgres")
class PageAnswersTest {
    private static final String DEPLOYER = "repo:acme/shop:ref:refs/heads/main";
    private static final Pattern MINT_LINK = Pattern.compile("href=\"/mints/([0-9a-f-]{36})\"");

    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);

    private static String one(String sql) {
        return database.value(sql);
    }

    /** A moment of the past, for an address. */
    private static String moment(String ago) {
        return Links.encoded(
                one(
                        "SELECT to_char((clock_timestamp() - interval '%s') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
                                .formatted(ago)));
    }

    private static List<String> mintsOn(String page) {
        return MINT_LINK.matcher(page).results().map(MatchResult::group).distinct().toList();
    }

    @Test
    void before_a_key_was_made_it_did_not_exist_and_nothing_gives_it() {
        String page = world.page("lead", "/keys/acme/deploy?at=2020-01-01");

        assertShows(
                page,
                "No subject could mint it then: the key did not exist.",
                ">created</a> by <b>test_admin</b>, <time",
                "Who could mint",
                " at 1 Jan 2020, 23:59:59 UTC",
                "of tenant <a class=\"id\" href=\"/tenants/acme\">acme</a>'s configuration since");
        String making =
                one(
                        "SELECT revision + 1 FROM audit.config_change WHERE tenant = 'acme' AND"
                                + " table_name = 'key' AND after ->> 'name' = 'deploy' ORDER BY"
                                + " revision LIMIT 1");
        assertShows(page, "\"/tenants/acme/history?before=%s\"".formatted(making));
        assertLacks(page, "It had been deleted", "The statement below grants it", "INSERT INTO");
    }

    @Test
    void between_its_deletion_and_its_making_anew_a_key_did_not_exist() {
        String make =
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'brief', 'services', 900, '{"audience": "https://x.example"}')
                """;
        database.admin(make);
        String there = moment("0");
        database.admin("DELETE FROM broker.key WHERE name = 'brief'");
        String gone = moment("0");

        String deleted = world.page("lead", "/keys/acme/brief?at=" + gone);
        assertShows(
                deleted,
                "the key did not exist.",
                ">deleted or renamed</a> by <b>test_admin</b>, <time");
        assertLacks(deleted, ">created</a>");
        database.admin(make);
        assertShows(
                world.page("lead", "/keys/acme/brief?at=" + gone),
                ">created</a> by <b>test_admin</b>, <time");
        String granted = world.page("lead", "/keys/acme/brief?at=" + there);
        assertShows(granted, "No subject could mint it then: no grant of it was in force.");
        assertLacks(granted, "did not exist", "The statement below grants it");
        assertShows(world.page("lead", "/keys/acme/brief"), "The statement below grants it");
        database.admin("DELETE FROM broker.key WHERE name = 'brief'");
        String now = world.page("lead", "/keys/acme/brief");
        assertShows(
                now,
                "The key does not exist now: it was <a",
                "No subject may mint it: the key no longer exists.");
        assertLacks(now, "The statement below grants it");
        assertEquals(404, world.get("other", "/keys/acme/brief?at=" + gone).statusCode());
    }

    @Test
    void a_past_moment_lists_the_mints_up_to_it() {
        String newest =
                one(
                        "SELECT max(mint_id::text) FROM audit.event WHERE tenant = 'acme' AND key ="
                                + " 'deploy'");
        String lastThen =
                one(
                        "SELECT max(mint_id::text) FROM audit.event WHERE tenant = 'acme' AND key ="
                                + " 'deploy' AND mint_id < audit.first_mint_id(now() - interval '6"
                                + " hours')");

        String page = world.page("lead", "/keys/acme/deploy?at=" + moment("6 hours"));

        assertShows(page, "Latest mints and refusals up to then", lastThen, "&amp;to=");
        assertLacks(page, newest);
        assertShows(world.page("lead", "/keys/acme/deploy"), newest);
    }

    @Test
    void a_subject_shows_what_it_minted_in_a_day_and_what_lives() {
        String ofIt = " FROM audit.event WHERE subject = '" + DEPLOYER + "' AND ";
        String mints =
                one(
                        "SELECT count(*)"
                                + ofIt
                                + "step = 1 AND occurred_at > now() - interval '24 hours'");
        String living = one("SELECT count(*)" + ofIt + "step = 2 AND expires_at > now()");

        String page = world.page("lead", "/subjects?q=" + Links.encoded(DEPLOYER));

        assertShows(
                page,
                "<b>%s mints</b>".formatted(mints),
                "<b>%s</b> of its credentials are valid".formatted(living),
                " now, the last until ");
    }

    /** A number of the overview leads to just as many lines. */
    @ParameterizedTest
    @CsvSource({
        "minted, step = 1",
        "refused, 'kind IN (''denied'', ''rejected'')'",
        "live, 'kind IN (''issued'', ''withheld'') AND expires_at > now() AND mint_id NOT IN"
                + " (SELECT mint_id FROM audit.event WHERE step = 3)'"
    })
    void a_number_of_the_overview_leads_to_what_it_counts(String outcome, String condition) {
        String count =
                one("SELECT count(*) FROM audit.event WHERE tenant = 'acme' AND " + condition);
        assertShows(
                world.page("lead", "/"),
                "<b>%s</b> <a href=\"/mints?outcome=%s".formatted(count, outcome));

        long found =
                world.get("lead", "/mints/download?outcome=" + outcome)
                        .body()
                        .lines()
                        .filter(line -> line.matches("\"?0.*"))
                        .count();

        assertEquals(count, Long.toString(found));
        assertFalse(mintsOn(world.page("lead", "/mints?outcome=" + outcome)).isEmpty());
    }

    @Test
    void what_stops_mints_says_that_credentials_live_on_and_until_when() {
        String mint =
                one(
                        "SELECT max(mint_id::text) FROM audit.event WHERE kind = 'issued' AND"
                                + " grant_id = 1");

        String page = world.page("lead", "/mints/" + mint);

        assertShows(
                page,
                " credential of this grant ",
                "The last credential of this subject is valid until",
                "Issued credentials stay valid until they expire",
                "choose “Revoke sessions” in the IAM console");
        assertShows(
                world.page("lead", "/tenants/acme/history?table=subject_grant&row=5"),
                "No credential of this grant is active.");
        assertShows(
                world.page("lead", "/keys/acme/deploy"),
                "Disable this key",
                "Issued credentials stay valid");
    }

    @Test
    void a_credential_that_is_not_on_record_may_live_all_the_same() {
        database.runAsSuperuser(
                """
                INSERT INTO audit.event
                SELECT (jsonb_populate_record(NULL::audit.event, to_jsonb(e)
                        || jsonb_build_object('mint_id', overlay(e.mint_id::text PLACING '0000' FROM 33),
                                              'subject', 'lost', 'request_id', 'req-lost',
                                              'token_hash', to_jsonb(decode(repeat('ab', 32), 'hex')),
                                              'expires_at', now() + interval '1 hour'))).*
                  FROM audit.event AS e
                 WHERE e.kind = 'requested' AND e.tenant = 'acme' ORDER BY e.mint_id DESC LIMIT 1
                """);

        assertShows(
                world.page("lead", "/subjects?q=lost"),
                "A credential of this subject may be valid until");
    }

    @Test
    void a_mint_tells_its_latest_possible_end_from_its_real_one() {
        String mint =
                one(
                        "SELECT mint_id FROM audit.event WHERE kind = 'issued' AND tenant = 'acme'"
                                + " LIMIT 1");

        assertShows(
                world.page("lead", "/mints/" + mint),
                "Latest possible end of a credential: <time",
                "Set by the provider.",
                "a credential was made and returned to the client, <time");
    }

    /** Ends a mint that is its subject's alone. */
    private void endOfMint(String subject, String ending, boolean withOutcome) {
        database.runAsSuperuser(
                """
                INSERT INTO audit.event
                SELECT (jsonb_populate_record(NULL::audit.event, to_jsonb(e)
                        || jsonb_build_object('mint_id', overlay(e.mint_id::text PLACING left(md5('%1$s'), 12) FROM 25 FOR 12),
                                              'subject', '%1$s', 'request_id', '%1$s', 'credential_id', NULL,
                                              'token_hash', to_jsonb(sha256('%1$s')), 'expires_at', now() + interval '1 hour')
                        || CASE e.step WHEN 2 THEN '{"credential_id": "%1$s"}' ELSE '{}' END::jsonb)).*
                  FROM audit.event AS e
                  JOIN audit.event AS o ON o.mint_id = e.mint_id AND o.kind = 'issued' AND o.tenant = 'acme'
                 WHERE e.step <= %2$d AND e.occurred_at < now() - interval '1 hour'
                 ORDER BY e.mint_id DESC LIMIT %2$d;
                """
                        .formatted(subject, withOutcome ? 2 : 1));
        if (!ending.isEmpty()) {
            database.runAsSuperuser(
                    """
                    INSERT INTO audit.event (mint_id, step, kind, occurred_at, tenant, key, provider, provider_type,
                                             reason, detail, broker)
                    SELECT mint_id, 3, 'ended', now(), tenant, key, provider, provider_type, '%s', 'words', 'b'
                      FROM audit.event WHERE subject = '%s' AND step = 1
                    """
                            .formatted(ending, subject));
        }
    }

    private String mintOf(String subject) {
        return one(
                "SELECT mint_id FROM audit.event WHERE step = 1 AND subject = '%s'"
                        .formatted(subject));
    }

    @Test
    void a_mint_whose_credential_ended_says_so_and_is_not_active() {
        endOfMint("lives-on", "", true);
        endOfMint("was-ended", "undone", true);
        String lives = world.page("lead", "/mints/" + mintOf("lives-on"));
        String ended = world.page("lead", "/mints/" + mintOf("was-ended"));

        assertLacks(lives, "<b>Ended</b>");
        assertShows(lives, "The credential ends <time");
        assertShows(
                ended,
                "<b>Ended</b>, <time",
                "The broker revoked the credential before a client received it.",
                "The credential was to end <time");
        assertShows(world.page("lead", "/mints?outcome=live&subject=lives-on"), mintOf("lives-on"));
        assertEquals(
                List.of(), mintsOn(world.page("lead", "/mints?outcome=live&subject=was-ended")));
        assertShows(
                world.page("lead", "/subjects?q=lives-on"),
                "The last credential of this subject is valid until");
        assertShows(
                world.page("lead", "/subjects?q=was-ended"),
                "No credential of this subject is active.");
    }

    @Test
    void an_unresolved_mint_that_ended_leaves_no_doubt() {
        endOfMint("doubtful", "", false);
        endOfMint("settled", "disarmed", false);
        assertShows(
                world.page("lead", "/mints/" + mintOf("doubtful")),
                "only the provider knows whether a credential exists");
        assertShows(
                world.page("lead", "/mints/" + mintOf("settled")),
                "A credential, if there was one, has ended",
                "objects of the credential are left at the provider");
    }

    @Test
    void an_id_of_one_mint_leads_to_it_and_anything_else_to_a_list() {
        List<String> ids =
                database.column(
                        "SELECT unnest(ARRAY[mint_id::text, credential_id, request_id,"
                                + " encode(token_hash, 'hex')]) FROM audit.event WHERE mint_id ="
                                + " (SELECT mint_id FROM audit.event WHERE kind = 'issued' AND tenant ="
                                + " 'acme' ORDER BY mint_id DESC LIMIT 1) AND step = 2");
        for (String id : ids) {
            HttpResponse<String> answer = world.get("lead", "/mints?q=" + id);

            assertEquals(303, answer.statusCode(), id);
            assertEquals(
                    "/mints/" + ids.getFirst(),
                    answer.headers().firstValue("Location").orElseThrow());
            assertEquals(List.of(), mintsOn(world.get("other", "/mints?q=" + id).body()));
        }
        assertShows(world.page("lead", "/mints?tenant=acme&q=" + ids.get(1)), ids.getFirst());
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                         reason, claims, broker)
                SELECT (left(mint_id::text, 24) || lpad('77', 12, '0'))::uuid, step, kind, occurred_at, request_id, tenant,
                       idp, issuer, 'asked-once', key, reason, claims, broker
                  FROM audit.event WHERE kind = 'denied' AND tenant = 'acme' ORDER BY mint_id LIMIT 1
                """);
        assertEquals(1, mintsOn(world.page("lead", "/mints?q=asked-once")).size());
        assertShows(world.page("lead", "/mints?q=deploy"), "href=\"/mints/0");
    }

    @Test
    void an_address_without_a_page_says_where_to_go_on() {
        HttpResponse<String> answer = world.get("lead", "/nothing");

        assertEquals(404, answer.statusCode());
        assertShows(
                answer.body(),
                "No page has this URL.",
                "<a href=\"/\">the overview</a>",
                "<a href=\"/subjects\">a subject</a>");
    }

    @Test
    void the_page_of_subjects_says_what_they_look_like_and_who_asked_lately() {
        String page = world.page("lead", "/subjects");

        assertShows(page, "a GitHub workflow", "Latest subjects", Links.subject(DEPLOYER));
        assertLacks(page, "globex");
        assertLacks(world.page("lead", "/subjects?q=x"), "Latest subjects");
    }

    @Test
    void a_denial_says_first_what_it_was_for_want_of() {
        String denied =
                one(
                        "SELECT max(mint_id::text) FROM audit.event WHERE reason = 'not_granted'"
                                + " AND key = 'deploy' AND tenant = 'acme'");

        assertShows(
                world.page("lead", "/explain?mint=" + denied),
                "<b>Now it would still be denied.</b>",
                "<b>because no grant gave it</b>",
                "With the current configuration, the nearest is grant",
                "expects <span",
                "and the token had <span");
    }

    @Test
    void a_denial_of_what_is_granted_by_now_says_so_and_offers_no_second_grant() {
        String denied =
                one(
                        "SELECT max(mint_id::text) FROM audit.event WHERE reason = 'not_granted'"
                                + " AND key = 'inventory' AND tenant = 'acme'");

        String page = world.page("lead", "/explain?mint=" + denied);

        assertShows(page, "<b>Now it would be granted.</b>");
        assertLacks(page, "INSERT INTO");
    }

    @Test
    void a_key_that_there_is_not_is_told_from_the_nearest_ones() {
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                         reason, claims, broker)
                SELECT (left(mint_id::text, 24) || lpad('78', 12, '0'))::uuid, step, kind, occurred_at, request_id, tenant,
                       idp, issuer, subject, 'deplo', 'no_such_key', claims, broker
                  FROM audit.event WHERE kind = 'denied' AND tenant = 'acme' ORDER BY mint_id LIMIT 1
                """);
        String missing = one("SELECT mint_id FROM audit.event WHERE reason = 'no_such_key'");

        assertShows(
                world.page("lead", "/explain?mint=" + missing),
                "because there was no such key:",
                "Did you mean \"deploy\"?");
        HttpResponse<String> mistyped = world.get("lead", "/keys/acme/read-onyl");
        assertEquals(404, mistyped.statusCode());
        assertShows(mistyped.body(), "has no key read-onyl", "Did you mean \"read-only\"?");
        assertLacks(world.get("lead", "/keys/globex/deplo").body(), "Did you mean");
    }
}
