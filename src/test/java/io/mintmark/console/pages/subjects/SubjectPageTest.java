package io.mintmark.console.pages.subjects;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.console.pages.frame.Links;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

/** What a subject may mint and what it got, as its page shows it. */
@Tag("every-postgres")
class SubjectPageTest {
    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);

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
    void who_has_only_a_pending_request_is_known_by_it() {
        try (TestDatabase own = ConsoleWorld.filled()) {
            own.runAsSuperuser(
                    """
                    SET session_replication_role = replica;
                    INSERT INTO broker.access_request (id, tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals,
                                                       expires_at, actor_idp, actor_issuer, actor)
                    VALUES ('4f0f6f58-7d7c-4a57-b7c9-0d7a61c2a003', 'acme', 1, 'deploy', 'acme-github', 'https://token.actions.githubusercontent.com',
                            'person:rita', 'OPS-412: the export is stuck', 3600, false, 1, now() + interval '1 day',
                            'acme-k8s', 'https://agents.example', 'agent:bot')
                    """);
            ConsoleWorld there = ConsoleWorld.of(own);
            for (String name : List.of("person:rita", "agent:bot")) {
                String page = there.page("lead", "/subjects?q=" + Links.encoded(name));
                assertShows(
                        page,
                        "href=\"/requests/4f0f6f58-7d7c-4a57-b7c9-0d7a61c2a003\">deploy of acme</a>",
                        ">pending</span>",
                        "OPS-412: the export is stuck",
                        "<a href=\"/people/%s\">".formatted(Links.encoded(name)));
                assertLacks(page, "It has no grant");
                assertShows(
                        there.page("other", "/subjects?q=" + Links.encoded(name)),
                        "It has no grant, request, mint or refusal that you may see.");
            }
        }
    }

    @Test
    void the_examples_have_a_workflow_in_the_form_with_ids() {
        assertShows(
                world.page("lead", "/subjects"),
                ">repo:acme@1234567/shop@7654321:ref:refs/heads/main</span>");
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

    /** However few rows are read: they are the subject's own. */
    @ParameterizedTest
    @CsvSource({"subject, quiet:one, 1", "key, quiet-key, 1", "key, deploy, 20"})
    void failures_are_counted_beside_more_of_others(String by, String value, String failures) {
        try (TestDatabase own = ConsoleWorld.filled()) {
            own.runAsSuperuser(
                    """
                    INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                             provider, provider_type, grant_id, grant_revision, reason, expires_at, token_hash, broker)
                    SELECT (left(audit.first_mint_id(now())::text, 14) || '7000-8000-' || lpad(n::text, 12, '0'))::uuid, e.step, e.kind,
                           now(), e.request_id, e.tenant, e.idp, e.issuer, CASE n WHEN 61 THEN 'quiet:one' ELSE 'noisy' END,
                           CASE n WHEN 61 THEN 'quiet-key' ELSE 'deploy' END, e.provider, e.provider_type, e.grant_id,
                           e.grant_revision, e.reason, e.expires_at, e.token_hash, e.broker
                      FROM generate_series(1, 61) AS n, audit.event AS e
                     WHERE e.mint_id = (SELECT f.mint_id FROM audit.event AS f WHERE f.kind = 'failed' AND f.tenant = 'acme' LIMIT 1)
                    """);
            assertEquals(
                    failures,
                    own.column(
                                    Who.CONSOLE,
                                    """
                                    SELECT set_config('mintmark.console_claims', '{"role": "auditor"}', false);
                                    SELECT least(a.failures, 20)
                                      FROM internal.activity('%s', '%s', NULL, date_trunc('second', now()) - interval '1 second',
                                                             interval '1 minute', 1, 20) AS a
                                    """
                                            .formatted(by, value))
                            .getLast());
        }
    }

    @Test
    void a_subject_that_any_admin_blocked_may_mint_nothing() {
        String subject = "repo:acme/web:pull_request";
        String path = "/subjects?q=" + Links.encoded(subject);
        for (String tenant : List.of("'acme'", "NULL")) {
            database.admin(
                    "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES (%s, '%s', 'INC-81')"
                            .formatted(tenant, subject));
            try {
                String page = world.page("lead", path);

                assertShows(page, tenant.equals("NULL") ? "Blocked in all tenants" : "INC-81");
                assertFalse(page.contains("repo:acme/*:pull_request"), page);
            } finally {
                database.admin("DELETE FROM broker.blocked_subject");
            }
        }
        assertShows(world.page("lead", path), "repo:acme/*:pull_request");
    }
}
