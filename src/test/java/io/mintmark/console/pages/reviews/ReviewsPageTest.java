package io.mintmark.console.pages.reviews;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.List;

/** The page of grants to review, and its file. */
@Tag("every-postgres")
class ReviewsPageTest {
    @AutoClose private static TestDatabase database;
    private static ConsoleWorld world;

    @BeforeAll
    static void setUp() {
        database = ConsoleWorld.filled();
        database.admin(
                """
                UPDATE broker.subject_grant SET owner = 'team-shop' WHERE subject = 'repo:acme/shop:ref:refs/heads/main';
                """);
        database.rewrite(
                "subject_grant",
                "created_at = created_at - interval '91 days' WHERE match = 'exact' AND valid_until"
                        + " IS NULL");
        database.admin(
                """
                INSERT INTO broker.grant_review (grant_id, verdict, note)
                SELECT id, 'keep', 'OPS-1' FROM broker.subject_grant WHERE key = 'inventory'
                """);
        world = ConsoleWorld.of(database);
    }

    private static String id(String subject) {
        return database.value(
                "SELECT id FROM broker.subject_grant WHERE subject = '%s'".formatted(subject));
    }

    @Test
    void due_grants_are_listed_with_the_statement_that_reviews_them() {
        String page = world.page("auditor", "/reviews");
        assertShows(
                page,
                "Which grants are due for review?",
                "repo:acme/shop:ref:refs/heads/main",
                "team-shop",
                "project_path:globex/tracking:ref_type:branch:ref:main",
                "<strong class=\"attention\">none</strong>",
                "INSERT INTO broker.grant_review (grant_id, verdict, note)",
                "(%s, 'keep', &lt;note&gt;)".formatted(id("repo:acme/shop:ref:refs/heads/main")));
        assertLacks(page, "repo:acme/*:pull_request");
        assertLacks(page, "system:serviceaccount:shop:checkout");
    }

    @Test
    void all_grants_of_a_tenant_can_be_listed() {
        String page = world.page("auditor", "/reviews?show=all&tenant=acme");
        assertShows(
                page,
                "repo:acme/*:pull_request",
                "system:serviceaccount:shop:checkout",
                "by <b>test_admin</b>");
        assertLacks(page, "globex/tracking");
    }

    @Test
    void viewers_see_the_grants_of_their_tenants() {
        assertShows(world.page("lead", "/reviews"), "repo:acme/shop:ref:refs/heads/main");
        assertLacks(world.page("lead", "/reviews?show=all"), "globex");
        assertShows(
                world.page("lead", "/reviews?show=all&tenant=globex"), "No grant that you may see");
        assertLacks(world.get("lead", "/reviews/download?show=all").body(), "globex");
    }

    @Test
    void owners_are_listed_with_what_is_due_and_lead_to_their_grants() {
        String page = world.page("auditor", "/reviews");
        assertShows(page, "<a href=\"/reviews?show=due&amp;owner=team-shop\">team-shop</a>");
        String owned = world.page("auditor", "/reviews?show=due&owner=team-shop");
        assertShows(owned, "repo:acme/shop:ref:refs/heads/main");
        assertLacks(owned, "project_path:globex/tracking");
        assertLacks(world.page("lead", "/reviews"), "globex");
    }

    @Test
    void where_nothing_is_due_the_page_says_when_the_next_review_is() {
        database.admin(
                """
                INSERT INTO broker.tenant (name, review_days) VALUES ('calm', 30);
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims)
                VALUES ('calm-ci', 'calm', 'https://ci.calm.example', '{mintmark}', '{}');
                INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('calm', 'tokens', 'jwt', '{}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings, owner)
                SELECT 'calm', 'key-' || n, 'tokens', 900, '{"audience": "https://x.example"}', 'team-' || n
                  FROM unnest(ARRAY[10, 9]) AS n;
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'calm', 'calm-ci', 'ci', name FROM broker.key WHERE tenant = 'calm'
                """);

        String page = world.page("auditor", "/reviews?tenant=calm");

        assertShows(page, "No grant that you may see is due for review.", "The next review is due");
        assertTrue(page.indexOf("team-9<") < page.indexOf("team-10<"), page);
    }

    @Test
    void an_owner_without_due_grants_is_told_nothing_of_others() {
        String page = world.page("lead", "/reviews?owner=nobody");
        assertShows(page, "No grant that you may see of this owner is due for review.");
        assertLacks(page, "The next review is due");
    }

    @Test
    void the_file_has_the_same_grants() {
        var file = world.get("auditor", "/reviews/download?show=due&tenant=acme");
        assertEquals(200, file.statusCode());
        List<String> lines = file.body().lines().toList();
        assertEquals(2, lines.size(), file.body());
        assertTrue(lines.getFirst().startsWith("tenant,grant_id,key,subject,"), file.body());
        assertTrue(
                lines.getLast()
                        .startsWith(
                                "\"acme\",\"%s\",\"deploy\",\"repo:acme/shop:ref:refs/heads/main\",\"exact\",\"acme-github\",\"team-shop\","
                                        .formatted(id("repo:acme/shop:ref:refs/heads/main"))),
                file.body());
        assertTrue(lines.getLast().endsWith(",\"true\""), file.body());
    }

    /** A busy grant has millions of uses, and a file of thousands of such grants must come, too. */
    @Test
    void uses_are_counted_up_to_a_thousand() {
        try (TestDatabase own = ConsoleWorld.filled()) {
            ConsoleWorld there = ConsoleWorld.of(own);
            own.runAsSuperuser(
                    """
                    INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                             provider, provider_type, grant_id, grant_revision, expires_at, token_hash, broker,
                                             chain, seq, prev_hash, hash)
                    SELECT (left(e.mint_id::text, 24) || lpad(n::text, 12, '0'))::uuid, 1, e.kind, e.occurred_at, e.request_id, e.tenant,
                           e.idp, e.issuer, e.subject, e.key, e.provider, e.provider_type, e.grant_id, e.grant_revision,
                           e.expires_at, e.token_hash, e.broker, '1.run', n, sha256('before'), sha256('now')
                      FROM generate_series(1, 1001) AS n,
                           (SELECT * FROM audit.event WHERE kind = 'requested' AND grant_id = 1 ORDER BY mint_id LIMIT 1) AS e
                    """);

            String file = there.get("auditor", "/reviews/download?show=all").body();
            assertTrue(file.contains(",\"over 1000\","), file);
            assertShows(there.page("auditor", "/reviews?show=all&tenant=acme"), "over 1,000 times");
        }
    }
}
