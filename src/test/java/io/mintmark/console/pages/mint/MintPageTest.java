package io.mintmark.console.pages.mint;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the page of a mint or of a refusal tells, and to whom. */
@Tag("every-postgres")
class MintPageTest {
    private static final String DEPLOYER = "repo:acme/shop:ref:refs/heads/main";

    @AutoClose private static TestDatabase database;
    private static ConsoleWorld world;

    @BeforeAll
    static void setUp() {
        database = ConsoleWorld.filled();
        ConsoleWorld.refusedFor(database, "no_such_key", 2);
        world = ConsoleWorld.of(database);
    }

    @Test
    void a_mint_is_found_by_its_access_key_id_and_leads_to_its_grant_and_who_made_it() {
        String mint =
                ConsoleWorld.mint(
                        database, "kind = 'issued' AND key = 'deploy' AND tenant = 'acme'");
        String credential =
                database.value(
                        "SELECT credential_id FROM audit.event WHERE step = 2 AND mint_id = '%s'"
                                .formatted(mint));

        assertEquals("/mints/" + mint, world.leadsTo("/mints?q=" + credential));
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

    @ParameterizedTest
    @CsvSource({
        "not_granted, have the subject request access",
        "no_such_key, Compare the name that the client asks for with the keys of the tenant.",
    })
    void a_denied_mint_says_what_to_do(String reason, String advice) {
        String page =
                world.page(
                        "lead",
                        "/mints/"
                                + ConsoleWorld.mint(
                                        database,
                                        "tenant = 'acme' AND reason = '%s'".formatted(reason)));
        assertShows(page, "<b>What to do:</b> ", advice);
    }

    @Test
    void a_denied_mint_says_which_condition_denies_it_now_until_a_grant_gives_it() {
        String path =
                "/mints/"
                        + ConsoleWorld.mint(
                                database, "tenant = 'globex' AND reason = 'not_granted'");
        String denied = "<b>Now: still denied.</b>";
        assertShows(world.page("other", path), denied, "namespace_id", ">\"42\"</span>");

        database.runAsSuperuser(
                """
                ALTER TABLE broker.identity_provider DISABLE TRIGGER ALL;
                UPDATE broker.identity_provider SET name = 'renamed' WHERE name = 'globex-gitlab';
                """);
        assertLacks(world.page("other", path), denied);
        database.runAsSuperuser(
                """
                UPDATE broker.identity_provider SET name = 'globex-gitlab', required_claims = '{}' WHERE name = 'renamed';
                ALTER TABLE broker.identity_provider ENABLE TRIGGER ALL;
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
                SELECT tenant, idp, subject, key, 'GLX-9' FROM audit.event WHERE mint_id = '%s';
                """
                        .formatted(path.substring("/mints/".length())));
        String granted = world.page("other", path);
        assertLacks(granted, denied);
        assertShows(granted, "gives it now.", "Why was it refused, and would it be now?");
    }

    /** One chain has the rows of all tenants: its numbers would count those of the others. */
    @Test
    void where_a_row_stands_among_others_is_told_to_those_alone_who_see_them() {
        String path = "/mints/" + ConsoleWorld.mint(database, "reason = 'no_such_key'");

        assertShows(
                world.page("auditor", path),
                "Row 2 of chain <span class=\"id\">1.run</span>",
                "<details><summary>Proof of this row</summary>",
                ", of the row before <span");
        String shown = world.page("lead", path);
        assertShows(shown, "By broker <span");
        assertLacks(shown, "Row ", "chain", "of the row before");
        String file = "/mints/download?outcome=denied";
        assertShows(world.get("auditor", file).body(), ",\"1.run\",\"2\",\r\n");
        assertLacks(world.get("lead", file).body(), "1.run");
    }
}
