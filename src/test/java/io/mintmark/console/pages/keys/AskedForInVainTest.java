package io.mintmark.console.pages.keys;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.console.pages.frame.Links;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Pages of keys that never were, and of mints and refusals as they were then. */
@Tag("every-postgres")
class AskedForInVainTest {
    @AutoClose private static TestDatabase database;
    private static ConsoleWorld world;

    @BeforeAll
    static void setUp() {
        database = ConsoleWorld.filled();
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                         reason, claims, broker, client_address, user_agent)
                SELECT (left(mint_id::text, 24) || lpad('78', 12, '0'))::uuid, step, kind, occurred_at, request_id, tenant,
                       idp, issuer, subject, 'deplo', 'no_such_key', claims, broker, client_address, user_agent
                  FROM audit.event WHERE kind = 'denied' AND tenant = 'acme' ORDER BY mint_id LIMIT 1
                """);
        world = ConsoleWorld.of(database);
    }

    private static String mint(String condition) {
        return database.value(
                "SELECT mint_id FROM audit.event WHERE %s ORDER BY mint_id DESC LIMIT 1"
                        .formatted(condition));
    }

    @Test
    void a_key_that_never_was_has_no_history_no_grant_and_no_statement() {
        String now =
                database.value(
                        "SELECT to_char(now() AT TIME ZONE 'UTC',"
                                + " 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')");
        for (String path :
                new String[] {"/keys/acme/deplo", "/keys/acme/deplo?at=" + Links.encoded(now)}) {
            String page = world.page("lead", path);

            assertShows(
                    page,
                    "This key does not exist. The part of the history",
                    "Did you mean \"deploy\"?",
                    "there",
                    "no such key.");
            assertLacks(
                    page,
                    "table=key&amp;row=deplo\"",
                    "The statement below grants it",
                    "the statement",
                    "What can be done, as SQL");
        }
    }

    @Test
    void a_mint_says_what_its_key_named_then() {
        String revision =
                database.value(
                        "SELECT max(revision) FROM audit.config_change WHERE tenant = 'acme'");
        database.runAsSuperuser(
                """
                INSERT INTO audit.event
                SELECT (jsonb_populate_record(NULL::audit.event, to_jsonb(e)
                        || jsonb_build_object('mint_id', overlay(e.mint_id::text PLACING '0001' FROM 33), 'grant_revision', %s,
                                              'request_id', 'req-then', 'chain', NULL, 'seq', NULL,
                                              'token_hash', to_jsonb(decode(repeat('ab', 32), 'hex'))))).*
                  FROM audit.event AS e
                 WHERE e.kind = 'requested' AND e.tenant = 'acme' AND e.key = 'read-only' ORDER BY e.mint_id DESC LIMIT 1
                """
                        .formatted(revision));
        String issued = mint("request_id = 'req-then'");
        String then = "arn:aws:iam::123456789012:role/shop-read";
        assertShows(
                world.page("lead", "/mints/" + issued),
                "target then: <span class=\"id wrap\">" + then);
        assertLacks(world.page("lead", "/mints/" + issued), "names now:");

        database.admin(
                "UPDATE broker.key SET settings = '{\"role_arn\":"
                        + " \"arn:aws:iam::123456789012:role/other\"}' WHERE tenant = 'acme' AND name ="
                        + " 'read-only'");

        assertShows(
                world.page("lead", "/mints/" + issued),
                "target then: <span class=\"id wrap\">" + then,
                "target now: <span class=\"id wrap\">arn:aws:iam::123456789012:role/other");
    }

    @Test
    void a_refusal_says_of_what_its_key_names_that_it_is_of_now() {
        assertShows(
                world.page(
                        "lead",
                        "/mints/"
                                + mint(
                                        "reason = 'not_granted' AND tenant = 'acme' AND key ="
                                                + " 'deploy'")),
                "target now: <span");
    }

    @Test
    void a_refusal_and_a_failure_are_marked_as_such_in_their_timeline() {
        assertShows(
                world.page("lead", "/mints/" + mint("kind = 'denied' AND tenant = 'acme'")),
                "<li class=\"bad\">");
        assertShows(
                world.page("lead", "/mints/" + mint("kind = 'failed' AND tenant = 'acme'")),
                "<li class=\"bad\">");
        assertLacks(
                world.page("lead", "/mints/" + mint("kind = 'issued' AND tenant = 'acme'")),
                "<li class=\"bad\">");
    }

    @Test
    void the_user_agent_stands_by_itself() {
        assertShows(
                world.page("lead", "/mints/" + mint("kind = 'issued' AND tenant = 'acme'")),
                "<dt>User agent</dt><dd>actions/runner 2.330.0 (linux; x64)</dd>");
    }

    @Test
    void a_number_of_one_has_no_plural() {
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('solo');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('solo-idp', 'solo', 'https://solo.example', '{m}');
                INSERT INTO broker.access_provider (tenant, name, type) VALUES ('solo', 'own', 'jwt');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('solo', 'only', 'own', 900, '{"audience": "https://x.example"}')
                """);

        String page =
                world.page(
                        "auditor",
                        "/explain?idp=solo-idp&claims=" + Links.encoded("{\"sub\": \"x\"}"));

        assertShows(page, "Granted: none of the tenant's 1 key.");
        assertEquals(1, page.split("Granted: none", -1).length - 1);
    }
}
