package io.mintmark.console.pages.subjects;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.console.pages.frame.Links;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/** What pages say to somebody whose subject's token was stolen: until when, and what ends it. */
@Tag("every-postgres")
class StolenSubjectTest {
    private static final Pattern UNTIL = Pattern.compile("until ([0-9A-Za-z ,:]+ UTC) \\(in ");
    private static final AtomicInteger NUMBER = new AtomicInteger(0x5000);

    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);

    @AfterEach
    void lift() {
        database.admin("DELETE FROM broker.blocked_subject");
    }

    /**
     * A mint of a subject's, begun just now.
     *
     * @param outcome kind and reason of the second row; without, there is none
     */
    private static void minted(String subject, String type, String grant, String... outcome) {
        String like =
                """
                INSERT INTO audit.event
                SELECT (jsonb_populate_record(NULL::audit.event, to_jsonb(e)
                        || jsonb_build_object('mint_id', overlay(e.mint_id::text PLACING '%s' FROM 33),
                                              'subject', '%s', 'provider_type', '%s', 'grant_id', %s,
                                              'token_hash', to_jsonb(decode(repeat('ab', 32), 'hex')), 'chain', NULL, 'seq', NULL)
                        || '%s' || jsonb_build_object('expires_at', %s))).*
                  FROM audit.event AS e
                 WHERE e.tenant = 'acme' AND e.kind = '%s' ORDER BY e.mint_id DESC LIMIT 1
                """;
        String number = "%04x".formatted(NUMBER.incrementAndGet());
        database.runAsSuperuser(
                like.formatted(
                        number,
                        subject,
                        type,
                        grant,
                        "{}",
                        "now() + interval '70 minutes'",
                        "requested"));
        if (outcome.length > 0) {
            String kind = outcome[0];
            database.runAsSuperuser(
                    like.formatted(
                            number,
                            subject,
                            type,
                            grant,
                            kind.equals("issued")
                                    ? "{}"
                                    : "{\"kind\": \"failed\", \"reason\": \"%s\", \"credential_id\": null, \"issued_at\": null}"
                                            .formatted(outcome[1]),
                            kind.equals("issued") ? "now() + interval '50 minutes'" : "NULL",
                            "issued"));
        }
    }

    private static String page(String subject) {
        return world.page("lead", "/subjects?q=" + Links.encoded(subject));
    }

    /** Each moment once. */
    private static List<String> ends(String page) {
        return UNTIL.matcher(page).results().map(found -> found.group(1)).distinct().toList();
    }

    private static String mintOf(String subject) {
        return "/mints/"
                + database.value(
                        "SELECT mint_id FROM audit.event WHERE subject = '%s' ORDER BY mint_id DESC LIMIT 1"
                                .formatted(subject));
    }

    @Test
    void a_page_tells_one_end_and_that_is_the_real_one() {
        minted("stolen-1", "aws-sts", "9001", "issued");

        String page = page("stolen-1");

        assertEquals(1, ends(page).size(), page);
        assertShows(
                page,
                "<b>1</b> of its credentials is valid now, the last until " + ends(page).getFirst(),
                "Blocking stops new ones; it doesn't end this one.",
                "The last credential of this subject is valid until " + ends(page).getFirst());
        String mint = world.page("lead", mintOf("stolen-1"));
        assertEquals(ends(page), ends(mint), mint);
    }

    @Test
    void a_grants_fold_tells_the_real_end_too() {
        database.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme',"
                        + " 'acme-github', 'stolen-2', 'deploy')");
        String grant =
                database.value("SELECT id FROM broker.subject_grant WHERE subject = 'stolen-2'");
        minted("stolen-2", "aws-sts", grant, "issued");

        String history =
                world.page("lead", "/tenants/acme/history?table=subject_grant&row=" + grant);

        assertShows(history, "The last credential of this grant is valid until");
        assertEquals(ends(page("stolen-2")), ends(history));
    }

    @ParameterizedTest
    @CsvSource({"provider_timeout, true", "provider_unreachable, true", "provider_rejected, false"})
    void a_failed_mint_may_have_made_a_credential_where_its_provider_did_not_answer(
            String reason, boolean may) {
        String subject = "failed-" + reason;
        minted(subject, "gcp", "9002", "failed", reason);

        String page = page(subject);

        assertShows(
                page,
                may
                        ? "A credential of this subject may be valid until"
                        : "No credential of this subject is active.");
        assertEquals(may, page.contains("To end a credential of type gcp early"), page);
        assertShows(
                world.page("lead", mintOf(subject)),
                may ? "so a credential may exist" : "the provider gave no credential");
    }

    @Test
    void the_page_says_what_ends_what_lives_by_the_type_of_its_provider() {
        minted("stolen-3", "jwt", "9003", "issued");
        minted("stolen-3", "s3-sts", "9003");

        String page = page("stolen-3");

        assertShows(
                page,
                "To end a credential of type jwt early: Only the service can reject a token early,"
                        + " by its jti",
                "To end a credential of type s3-sts early: In MinIO",
                "A credential of this subject may be valid until");
        assertLacks(page, "To end a credential of type aws-sts early", "docs/admin.md");
    }

    @Test
    void a_block_names_its_scope() {
        minted("stolen-4", "jwt", "9004", "issued");

        assertShows(
                page("stolen-4"),
                "Block this subject with tokens from any identity provider of tenant acme",
                "VALUES ('acme', NULL,");
        assertShows(
                world.page("lead", mintOf("stolen-4")),
                "Block this subject with tokens from identity provider acme-",
                "of tenant acme");
    }

    @Test
    void a_subject_that_is_blocked_without_an_end_is_offered_no_block() {
        minted("stolen-5", "jwt", "9005", "issued");
        block("stolen-5", "NULL", "NULL");

        assertLacks(page("stolen-5"), "INSERT INTO", "UPDATE broker.blocked_subject");
        String mint = world.page("lead", mintOf("stolen-5"));
        assertShows(mint, "blocked now");
        assertLacks(mint, "INSERT INTO broker.blocked_subject");
    }

    @Test
    void a_block_with_an_end_is_made_longer_and_the_page_says_what_that_replaces() {
        minted("stolen-6", "jwt", "9006", "issued");
        block("stolen-6", "NULL", "now() + interval '1 hour'");

        String page = page("stolen-6");

        assertShows(
                page,
                "This removes the end of the existing block",
                "UPDATE broker.blocked_subject");
        assertLacks(page, "INSERT INTO broker.blocked_subject");
    }

    @Test
    void a_block_of_one_identity_providers_tokens_says_so_and_leaves_the_wider_one_to_offer() {
        minted("stolen-7", "jwt", "9007", "issued");
        block("stolen-7", "'acme-k8s'", "NULL");

        assertShows(
                page("stolen-7"),
                "with tokens from identity provider <span class=\"id\">acme-k8s</span>",
                "INSERT INTO broker.blocked_subject");
    }

    private static void block(String subject, String idp, String until) {
        database.admin(
                "INSERT INTO broker.blocked_subject (tenant, idp, subject, reason, until) VALUES ('acme', %s, '%s', 'INC-81', %s)"
                        .formatted(idp, subject, until));
    }

    @Test
    void of_a_subject_without_anything_each_viewer_is_told_what_they_can_know() {
        String other = "project_path:globex/tracking:ref_type:branch:ref:main";

        assertShows(page(other), "It has no grant, request, mint or refusal that you may see");
        assertLacks(page(other), "does not appear in the log");
        assertShows(
                world.page("auditor", "/subjects?q=nobody"),
                "It has no grant, made no request, and does not appear in the log as a subject.",
                "as an actor is in <a href=\"/mints?actor=nobody\">its own list</a>");
    }
}
