package io.mintmark.console.pages.explain;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.concurrent.atomic.AtomicInteger;

/** Why it was decided so, whether it would be now, and what is offered then. */
@Tag("every-postgres")
class PastDecisionsTest {
    private static final AtomicInteger NUMBER = new AtomicInteger(0x6000);

    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);

    @AfterEach
    void forget() {
        database.admin(
                "DELETE FROM broker.subject_grant WHERE subject LIKE 'asker%'; DELETE FROM"
                        + " broker.blocked_subject");
    }

    /** A refusal of just now, and the id that it has. */
    private static String denied(String subject, String key, String reason) {
        String number = "%04x".formatted(NUMBER.incrementAndGet());
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                         reason, claims, broker, user_agent, client_address)
                SELECT overlay(e.mint_id::text PLACING '%s' FROM 33)::uuid, 2, 'denied', clock_timestamp(), 'req-%1$s', e.tenant,
                       e.idp, e.issuer, '%s', '%s', '%s', '{"environment": "staging", "repository_owner_id": "1234567"}', e.broker, e.user_agent, e.client_address
                  FROM audit.event AS e
                 WHERE e.kind = 'issued' AND e.idp = 'acme-github' ORDER BY e.mint_id DESC LIMIT 1
                """
                        .formatted(number, subject, key, reason));
        return database.value(
                "SELECT mint_id FROM audit.event WHERE request_id = 'req-%s'".formatted(number));
    }

    private static String explained(String mint) {
        return world.page("lead", "/explain?mint=" + mint);
    }

    private static void grant(String subject, String more) {
        database.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, enabled) VALUES ('acme', 'acme-github', '%s', 'deploy', %s)"
                        .formatted(subject, more));
    }

    private static String grantOf(String subject) {
        return database.value(
                "SELECT id FROM broker.subject_grant WHERE subject = '%s'".formatted(subject));
    }

    @Test
    void a_denial_begins_with_the_verdict_of_now_on_the_key_that_was_asked_for() {
        String page = explained(denied("asker-1", "deploy", "not_granted"));

        assertShows(
                page,
                "<b>Now it would still be denied.</b>",
                "Nothing of tenant <a class=\"id\" href=\"/tenants/acme\">acme</a>'s configuration"
                        + " was changed since",
                "Keys it may mint instead",
                "Granted: none of 2 other keys.",
                "INSERT INTO broker.subject_grant");
        assertLacks(page, "With the current configuration");
        assertTrue(
                page.indexOf("<b>Now it would still be denied.</b>")
                        < page.indexOf("Keys it may mint instead"),
                page);
    }

    @Test
    void a_denial_names_who_can_help() {
        String mint = denied("asker:9", "deploy", "not_granted");
        assertShows(
                explained(mint),
                "Who can help",
                "No rule lets this subject ask for the key.",
                "Platform admins can grant it");
        database.admin(
                """
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access)
                VALUES ('acme', 'deploy', 'acme-github', 'asker:*', 'glob', 1, 7200),
                       ('acme', 'deploy', 'acme-github', 'somebody-else', 'exact', 1, 7200),
                       ('acme', 'deploy', 'acme-k8s', 'asker:9', 'exact', 1, 7200),
                       ('acme', 'inventory', 'acme-github', 'asker:9', 'exact', 1, 7200);
                INSERT INTO broker.access_approver (rule, role_name)
                SELECT id, 'test_tenant_admin' FROM broker.access_rule WHERE subject = 'asker:*';
                """);
        try {
            String page = explained(mint);

            assertShows(
                    page,
                    "1 approval, for up to 2 hours. Approvers: <b>test_tenant_admin</b>.",
                    "mintmark-client request deploy --reason TEXT",
                    "who can grant it:\n<a class=\"id\" href=\"/people/test_tenant_admin\">");
            assertEquals(1, page.split("The subject may ask for it by", -1).length - 1, page);
            grant("asker:9", "'{}', true");
            assertLacks(explained(mint), "Who can help");
        } finally {
            database.admin(
                    "DELETE FROM broker.access_approver; DELETE FROM broker.access_rule; DELETE"
                            + " FROM broker.tenant_admin WHERE tenant = 'acme'");
        }
    }

    @Test
    void what_another_key_gives_is_no_verdict_on_a_mistyped_one() {
        String page = explained(denied("repo:acme/web:pull_request", "read-onyl", "no_such_key"));

        assertShows(
                page,
                "<b>Now it would still be denied.</b>",
                "The key does not exist now.",
                "Granted: 1 of 3 other keys.");
        assertLacks(page, "INSERT INTO");
    }

    @Test
    void what_was_changed_since_is_counted_and_the_nearest_grant_is_said_to_be_of_now() {
        String mint = denied("asker-2", "deploy", "not_granted");
        grant("asker-2", "'{\"environment\": \"production\"}', true");

        assertShows(
                explained(mint),
                "<b>Now it would still be denied.</b>",
                "<a href=\"/tenants/acme/history\">1 change</a> of tenant",
                "With the current configuration, the nearest is grant <a",
                ">%s</a>: its condition".formatted(grantOf("asker-2")),
                "INSERT INTO broker.subject_grant");
    }

    @Test
    void what_is_granted_by_now_is_offered_no_second_grant_on_either_page() {
        String mint = denied("asker-3", "deploy", "not_granted");
        assertShows(world.page("lead", "/mints/" + mint), "Give this subject the key");
        grant("asker-3", "'{}', true");

        String explained = explained(mint);
        assertShows(explained, "<b>Now it would be granted.</b>", "Other keys it may mint");
        assertLacks(explained, "INSERT INTO");
        String page = world.page("lead", "/mints/" + mint);
        assertShows(page, ">%s</a> gives it now.".formatted(grantOf("asker-3")));
        assertLacks(page, "INSERT INTO broker.subject_grant");
    }

    @Test
    void a_grant_that_was_disabled_is_offered_to_be_enabled_and_hides_no_new_one() {
        String mint = denied("asker-4", "deploy", "not_granted");
        grant("asker-4", "'{}', false");

        for (String page : new String[] {explained(mint), world.page("lead", "/mints/" + mint)}) {
            assertShows(page, "Enable grant " + grantOf("asker-4"), "SET enabled = true");
            assertLacks(page, "INSERT INTO broker.subject_grant");
        }
    }

    @Test
    void a_disabled_grant_whose_claims_the_token_did_not_hold_is_not_offered() {
        String mint = denied("asker-5", "deploy", "not_granted");
        grant("asker-5", "'{\"environment\": \"production\"}', false");

        assertLacks(explained(mint), "SET enabled = true");
        assertShows(world.page("lead", "/mints/" + mint), "INSERT INTO broker.subject_grant");
    }

    /** A lead doesn't see the platform's own blocks, but whether there is one. */
    @ParameterizedTest
    @ValueSource(strings = {"'acme'", "NULL"})
    void a_subject_that_was_blocked_since_is_offered_no_grant(String tenant) {
        String mint = denied("asker-6", "deploy", "not_granted");
        database.admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES (%s, 'asker-6', 'INC-81')"
                        .formatted(tenant));

        assertShows(explained(mint), "<b>Now it would still be denied.</b>", "blocked");
        assertLacks(explained(mint), "INSERT INTO");
        assertShows(world.page("lead", "/mints/" + mint), "blocked now");
        assertLacks(world.page("lead", "/mints/" + mint), "INSERT INTO broker.subject_grant");
    }

    @Test
    void a_grant_gives_nothing_to_a_token_that_lacks_what_its_identity_provider_requires_by_now() {
        String mint = denied("asker-8", "deploy", "not_granted");
        grant("asker-8", "'{}', true");
        String requires =
                "UPDATE broker.identity_provider SET required_claims = '{\"repository_owner_id\":"
                        + " \"%s\"}' WHERE name = 'acme-github'";
        database.admin(requires.formatted("7654321"));
        try {
            assertLacks(world.page("lead", "/mints/" + mint), "gives it by now");
            assertShows(explained(mint), "<b>Now it would still be denied.</b>");
        } finally {
            database.admin(requires.formatted("1234567"));
        }
    }

    @Test
    void an_offered_grant_says_how_it_ends_and_what_it_means_that_nothing_was_written() {
        assertShows(
                explained(denied("asker-7", "deploy", "not_granted")),
                "for a limited time: now() + interval '8 hours'",
                "-- INSERT 0 0 means that this grant exists",
                "&lt;reason&gt;");
    }

    @Test
    void an_issued_mint_is_asked_whether_it_would_be_granted_now() {
        String issued =
                database.value(
                        "SELECT mint_id FROM audit.event WHERE kind = 'issued' AND key ="
                                + " 'inventory' ORDER BY mint_id DESC LIMIT 1");

        String page = explained(issued);

        assertShows(page, "be granted now, as it was", "<b>Now it would be granted, too.</b>");
        assertLacks(page, "decided so");
    }

    /** A request through an actor needs a grant for the actor; others give it nothing. */
    @Test
    void a_request_through_an_actor_is_explained_with_its_actor() {
        String mint = denied("asker:9", "deploy", "not_granted");
        database.alterLog(
                "UPDATE audit.event SET actor_idp = 'acme-k8s', actor_issuer = 'https://k8s.acme.example', actor = 'agent-9' WHERE mint_id = '%s'"
                        .formatted(mint));
        database.admin(
                "UPDATE broker.identity_provider SET accepts = '{subject,actor}' WHERE name ="
                        + " 'acme-k8s'");
        grant("asker:9", "'{}', true");

        String explained = explained(mint);

        assertShows(
                explained,
                "through <a class=\"id\" href=\"/mints?actor=agent-9\">agent-9</a>",
                "<b>Now it would still be denied.</b>",
                "its condition <span class=\"id\">actor</span>",
                "and the token had <span class=\"id wrap\">agent-9 of",
                "key, actor_idp, actor, valid_until, reason)");
        assertShows(
                world.page("lead", "/mints/" + mint),
                "Give this subject the key deploy, through agent-9");

        database.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor)"
                        + " VALUES ('acme', 'acme-github', 'asker:9', 'deploy', 'acme-k8s', 'agent-9')");

        assertLacks(explained(mint), "<b>Now it would still be denied.</b>", "INSERT INTO");
        assertShows(world.page("lead", "/mints/" + mint), " gives it now.");
    }

    @Test
    void a_key_that_exists_by_now_is_not_suggested_in_its_own_place() {
        String page = explained(denied("asker-10", "inventory", "no_such_key"));

        assertShows(
                page,
                "had no key",
                "The tenant has such a key now; the answer above is about that key.");
        assertLacks(page, "Did you mean");
    }

    @Test
    void a_rejected_token_is_asked_about_without_a_key_and_a_subject() {
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, issuer, reason, detail, broker)
                SELECT overlay(e.mint_id::text PLACING '7fff' FROM 33)::uuid, 2, 'rejected', clock_timestamp(), 'req-rejected', e.issuer,
                       'expired', 'it had expired', e.broker
                  FROM audit.event AS e WHERE e.kind = 'issued' ORDER BY e.mint_id DESC LIMIT 1
                """);
        String rejected = database.value("SELECT mint_id FROM audit.event WHERE kind = 'rejected'");

        String page = world.page("auditor", "/explain?mint=" + rejected);

        assertShows(page, "Why was a token", "The token was not accepted");
        assertLacks(page, "?</span>", "It may have", "Now:");
    }
}
