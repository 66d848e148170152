package io.mintmark.console.pages.requests;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The lists of requests: each request is on the one on which its reader looks for it. */
class RequestTabsTest {
    private static final String OPEN = "/requests?show=open";
    private static final String DECIDED = "/requests?show=decided";
    private static final String BREAK_GLASS = "/requests?show=break-glass";

    /** One of each status; of those that were decided, more than a page holds. */
    private static final String REQUESTS =
            """
            INSERT INTO broker.access_request (tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals,
                                               expires_at, requested_at, status, grant_id, signed_off_by, signed_off_at)
            SELECT 'acme', 1, 'deploy', 'acme-github', 'https://token.actions.githubusercontent.com', 'repo:acme/shop:' || q.name,
                   'OPS-' || q.name || ': the shop is down', 3600, q.glass, 1, now() + interval '1 day', now() - q.ago * interval '1 minute',
                   q.status, CASE q.status WHEN 'granted' THEN 1 END, q.signed, CASE WHEN q.signed IS NOT NULL THEN now() END
              FROM (VALUES ('waits', false, 'pending', 1, NULL), ('let-in', false, 'granted', 2, NULL),
                           ('turned-down', false, 'refused', 3, NULL), ('glass-open', true, 'granted', 4, NULL),
                           ('glass-signed', true, 'granted', 5, 'grace')) AS q (name, glass, status, ago, signed)
            UNION ALL
            SELECT 'acme', 1, 'deploy', 'acme-github', 'https://token.actions.githubusercontent.com', 'repo:acme/shop:before-' || n || '.',
                   'OPS-1: the shop was down', 3600, false, 1, now(), now() - interval '1 hour' - n * interval '1 minute', 'lapsed', NULL, NULL, NULL
              FROM generate_series(1, 60) AS n;
            """;

    private static TestDatabase database;
    private static ConsoleWorld world;

    @BeforeAll
    static void ask() {
        database = ConsoleWorld.filled();
        world = ConsoleWorld.of(database);
        database.runAsSuperuser("SET session_replication_role = replica; " + REQUESTS);
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @Test
    void each_request_is_on_its_list() {
        String open = world.page("lead", OPEN);
        assertShows(
                open,
                "aria-current=\"page\">Open <b>1</b>",
                ">Break glass <b>1</b>",
                ">repo:acme/shop:waits<");
        assertLacks(open, "let-in", "turned-down", "glass-");
        String decided = world.page("lead", DECIDED);
        assertShows(decided, ">repo:acme/shop:let-in<", "turned-down", "✕ refused", "✕ lapsed");
        assertLacks(decided, "shop:waits", "glass-");
        String glasses = world.page("lead", BREAK_GLASS);
        assertLacks(glasses, "shop:waits", "let-in");
        assertTrue(
                glasses.indexOf("shop:glass-open") < glasses.indexOf("shop:glass-signed"), glasses);
    }

    @Test
    void decided_requests_are_listed_page_by_page_down_to_the_oldest() {
        String newest = world.page("lead", DECIDED);
        assertShows(newest, "shop:before-48.");
        assertLacks(newest, "shop:before-49.");
        String start = "href=\"" + DECIDED + "&amp;before=";
        assertShows(newest, start);
        int at = newest.indexOf(start) + start.length();
        String older = world.page("lead", DECIDED + "&before=" + newest.substring(at, at + 36));
        assertShows(older, "shop:before-49.", "shop:before-60.");
        assertLacks(older, "shop:before-48.", "rel=\"next\"");
    }

    @Test
    void other_tenants_viewers_find_none() {
        assertShows(world.page("other", OPEN), "Open <b>0</b>", "No request is open.");
        assertShows(world.page("other", DECIDED), "No request has been decided yet.");
        assertShows(world.page("other", BREAK_GLASS), "Nobody used break glass.");
    }

    @Test
    void an_unknown_list_is_refused() {
        assertEquals(400, world.get("lead", "/requests?show=all").statusCode());
    }

    /** As many as are asked for, however many a page shows. */
    @Test
    void whatever_waits_for_somebody_is_counted() {
        try (TestDatabase own = ConsoleWorld.filled()) {
            own.admin(
                    """
                    INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                    VALUES ('acme-people', 'acme', 'https://login.example.com', '{console}', '{approver}');
                    INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access)
                    VALUES ('acme', 'deploy', 'acme-github', 'repo:acme/shop:*', 'glob', 1, 7200);
                    INSERT INTO broker.access_approver (rule, idp, subject)
                    SELECT id, 'acme-people', 'audrey' FROM broker.access_rule;
                    """);
            own.runAsSuperuser(
                    """
                    SET session_replication_role = replica;
                    INSERT INTO broker.access_request (tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals, expires_at)
                    SELECT r.tenant, r.id, r.key, r.idp, 'https://token.actions.githubusercontent.com', 'repo:acme/shop:' || n,
                           'OPS-1: the shop is down', 3600, false, 1, now() + interval '1 day'
                      FROM broker.access_rule AS r CROSS JOIN generate_series(1, 320) AS n
                    """);
            String waiting =
                    """
                    SELECT count(*)
                      FROM set_config('mintmark.console_claims',
                                      '{"iss": "https://login.example.com", "aud": "console", "sub": "audrey", "role": "auditor"}',
                                      true) AS claims
                     CROSS JOIN LATERAL internal.waiting_for_viewer(CASE WHEN claims <> '' THEN %d END)
                    """;
            own.assertRows(Who.CONSOLE, waiting.formatted(1001), "320");
            own.assertRows(Who.CONSOLE, waiting.formatted(300), "300");
        }
    }
}
