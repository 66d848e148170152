package io.mintmark.console.pages.mints;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Who acted for whom, in lists and on the page of a mint. */
@Tag("every-postgres")
class MintPartiesTest {
    private static final String DELEGATED =
            """
            INSERT INTO audit.event
            SELECT (jsonb_populate_record(NULL::audit.event, to_jsonb(e)
                    || jsonb_build_object('mint_id', overlay(e.mint_id::text PLACING '0ac7' FROM 33),
                                          'actor', 'agent:release', 'actor_idp', 'acme-k8s',
                                          'actor_issuer', 'https://agents.example',
                                          'subject', 'lea@acme.example'))).*
              FROM audit.event AS e
             WHERE e.mint_id = (SELECT max(n.mint_id::text)::uuid FROM audit.event AS n
                                 WHERE n.tenant = 'acme' AND n.kind = 'issued')
            """;

    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);

    @Test
    void an_agent_and_the_person_it_acts_for_stand_in_one_line() {
        database.runAsSuperuser(DELEGATED);
        String mint = ConsoleWorld.mint(database, "actor = 'agent:release'");
        String both =
                "<a class=\"id\" href=\"/mints?actor=agent%3Arelease\">agent:release</a> <small";

        String list = world.page("lead", "/mints?actor=agent%3Arelease");

        assertShows(list, both, ">lea@acme.example</a>", "<b>1 entry</b>", "/mints/" + mint);
        assertShows(world.page("lead", "/mints/" + mint), both, "Actor and subject");
        assertShows(
                world.get("lead", "/mints/download?actor=agent%3Arelease").body(),
                "lea@acme.example",
                "agent:release");
        assertLacks(world.page("other", "/mints?actor=agent%3Arelease"), "lea@acme.example", mint);
        assertShows(world.page("lead", "/mints?range=hour&outcome=issued"), both);
    }
}
