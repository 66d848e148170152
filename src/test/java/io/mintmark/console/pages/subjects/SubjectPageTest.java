package io.mintmark.console.pages.subjects;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.console.pages.frame.Links;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

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
