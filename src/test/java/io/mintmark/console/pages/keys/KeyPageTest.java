package io.mintmark.console.pages.keys;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.console.pages.frame.Links;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Stream;

/** Who may mint a key, and who could. */
@Tag("every-postgres")
class KeyPageTest {
    private static final String DEPLOYER = "repo:acme/shop:ref:refs/heads/main";

    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);

    @Test
    void a_key_shows_who_may_mint_it_now() {
        String page = world.page("lead", "/keys/acme/deploy");

        assertShows(
                page,
                "2 grants in force",
                DEPLOYER,
                "INC-77: Grace mends the checkout until tonight",
                "by <b>test_admin</b><small> in SQL</small>,");
    }

    @Test
    void who_may_mint_comes_first_then_who_may_ask_then_use_then_history_then_statements() {
        String page = world.page("lead", "/keys/acme/deploy");

        List<Integer> places =
                Stream.of(
                                "2 grants in force",
                                "id=\"rules\"",
                                "id=\"mints\"",
                                "id=\"history\"",
                                "id=\"statements\"")
                        .map(page::indexOf)
                        .toList();
        assertEquals(places.stream().sorted().toList(), places);
        assertTrue(places.getFirst() > 0, page);
        String history = page.substring(places.get(3), places.get(4));
        assertShows(
                history,
                "changed max_duration from 3600 to 1800 of key deploy",
                "let repo:acme/shop:environment:hotfix mint deploy");
        assertLacks(history, "inventory", "read-only");
        assertLacks(world.page("lead", "/keys/acme/deploy?at=2026-01-01"), "id=\"history\"");
    }

    @Test
    void who_approved_a_grant_is_named_with_the_way_in_small_print() {
        try (TestDatabase own = ConsoleWorld.filled()) {
            own.runAsSuperuser(
                    """
                    SET session_replication_role = replica;
                    ALTER TABLE broker.access_decision DISABLE TRIGGER USER;
                    INSERT INTO broker.access_request (id, tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals,
                                                       expires_at, status, grant_id)
                    VALUES ('4f0f6f58-7d7c-4a57-b7c9-0d7a61c2a002', 'acme', 1, 'deploy', 'acme-github', 'https://token.actions.githubusercontent.com',
                            'person:rita', 'OPS-412: the export is stuck', 3600, false, 2, now() + interval '1 day', 'granted', 1);
                    INSERT INTO broker.access_decision (id, tenant, request, verdict, idp, issuer, subject, decided_by)
                    VALUES (1, 'acme', '4f0f6f58-7d7c-4a57-b7c9-0d7a61c2a002', 'approve', 'acme-github', 'https://token.actions.githubusercontent.com', 'person:bea', NULL),
                           (2, 'acme', '4f0f6f58-7d7c-4a57-b7c9-0d7a61c2a002', 'approve', NULL, NULL, NULL, 'grace');
                    UPDATE broker.subject_grant SET request_id = '4f0f6f58-7d7c-4a57-b7c9-0d7a61c2a002' WHERE id = 1;
                    """);
            ConsoleWorld there = ConsoleWorld.of(own);
            String bea =
                    "<b><a href=\"/people/person%3Abea\">person:bea</a></b><small> by token</small>, ";
            String grace = "<b><a href=\"/people/grace\">grace</a></b><small> in SQL</small>";
            assertShows(there.page("lead", "/keys/acme/deploy"), "by " + bea + grace);
            String mint = ConsoleWorld.mint(own, "kind = 'issued' AND grant_id = 1");
            assertShows(there.page("lead", "/mints/" + mint), bea + grace + " approved");
        }
    }

    @Test
    void a_key_shows_who_could_mint_it_at_a_moment_of_the_past() {
        String then =
                database.value(
                        "SELECT to_char(now() AT TIME ZONE 'UTC',"
                                + " 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')");
        database.admin("UPDATE broker.subject_grant SET enabled = false WHERE id = 1");
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
            database.admin("UPDATE broker.subject_grant SET enabled = true WHERE id = 1");
        }
    }

    @Tag("heavy")
    @Test
    void a_key_of_very_many_grants_shows_some_of_them_and_how_to_list_all() {
        database.admin(
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
            assertShows(
                    world.page("auditor", "/tenants/globex"),
                    "Lint warnings <small>over 49",
                    "over 1,000");
            assertEquals(404, world.get("lead", "/keys/globex/busy?at=2026-01-01").statusCode());
        } finally {
            database.admin(
                    "DELETE FROM broker.subject_grant WHERE key = 'busy'; DELETE FROM broker.key"
                            + " WHERE name = 'busy'");
        }
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
    void a_keys_page_says_who_asked_for_it_and_how_often() {
        String mints =
                database.value(
                        "SELECT count(*) FROM audit.event WHERE step = 1 AND tenant = 'acme' AND key = 'deploy' AND subject = '%s'"
                                .formatted(DEPLOYER));
        String denials =
                database.value(
                        "SELECT count(*) FROM audit.event WHERE kind = 'denied' AND tenant = 'acme' AND key = 'deploy'");

        String page = world.page("lead", "/keys/acme/deploy?range=week");

        String table = page.substring(page.indexOf("aria-label=\"Who asked for the key\""));
        assertShows(
                table,
                "&amp;subject=%s&amp;from=".formatted(Links.encoded(DEPLOYER)),
                ">%s</a></td><td class=\"number\">0</td>".formatted(mints),
                ">0</a></td><td class=\"number\">%s</td>".formatted(denials));
        assertFalse(table.contains("globex"), table);
    }
}
