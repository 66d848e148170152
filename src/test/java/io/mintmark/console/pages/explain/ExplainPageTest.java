package io.mintmark.console.pages.explain;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;

/** Which refusals and which claims are explained, and what is offered then. */
@Tag("every-postgres")
class ExplainPageTest {
    private static final String DEPLOYER = "repo:acme/shop:ref:refs/heads/main";

    @AutoClose private static TestDatabase database;
    private static ConsoleWorld world;

    @BeforeAll
    static void setUp() {
        database = ConsoleWorld.filled();
        ConsoleWorld.refusedFor(database, "subject_blocked", 1);
        ConsoleWorld.refusedFor(database, "no_such_key", 2);
        world = ConsoleWorld.of(database);
    }

    @Test
    void a_denial_is_explained_with_the_statement_that_would_allow_it() {
        String denied =
                ConsoleWorld.mint(
                        database, "reason = 'not_granted' AND key = 'deploy' AND tenant = 'acme'");

        assertShows(
                world.page("lead", "/explain?mint=" + denied),
                "refs/heads/feature/new-checkout",
                "INSERT INTO broker.subject_grant",
                "ON CONFLICT DO NOTHING");
    }

    @Test
    void a_refusal_of_a_blocked_subject_offers_no_grant_and_no_second_block() {
        String blocked = ConsoleWorld.mint(database, "reason = 'subject_blocked'");

        String mint = world.page("lead", "/mints/" + blocked);
        assertShows(mint, "the subject was blocked, which overrides every grant");
        assertLacks(mint, "INSERT INTO broker.");
        String explained = world.page("lead", "/explain?mint=" + blocked);
        assertShows(explained, "a block overrides every grant");
        assertLacks(explained, "INSERT INTO broker.subject_grant");
    }

    @Test
    void a_refusal_of_a_key_that_there_is_not_offers_no_grant_of_it() {
        String missing = ConsoleWorld.mint(database, "reason = 'no_such_key'");

        String explained = world.page("lead", "/explain?mint=" + missing);
        assertShows(explained, "because there was no such key");
        assertLacks(explained, "INSERT INTO broker.subject_grant");
        assertLacks(world.page("lead", "/mints/" + missing), "INSERT INTO broker.subject_grant");
    }

    @Test
    void claims_are_explained_and_a_token_in_an_address_is_refused() {
        String claims =
                Links.encoded(
                        "{\"sub\": \"%s\", \"repository_owner_id\": \"1234567\", \"environment\": \"production\"}"
                                .formatted(DEPLOYER));

        assertShows(
                world.page("lead", "/explain?idp=acme-github&claims=" + claims),
                "✓</span> yes",
                "Granted: 1 of the tenant's 3 keys");
        assertShows(
                world.page("lead", "/explain?idp=acme-github&claims=eyJhbGciOiJub25lIn0.e30."),
                "A token is a secret");
        assertShows(
                world.page("lead", "/explain?claims=" + claims),
                "No identity provider that you may see has");
    }

    @Test
    void a_token_in_the_form_is_decoded_and_gets_no_address() {
        String claims =
                "{\"sub\": \"%s\", \"repository_owner_id\": \"1234567\", \"environment\": \"production\"}"
                        .formatted(DEPLOYER);
        String token =
                "eyJhbGciOiJSUzI1NiJ9.%s.c2lnbmF0dXJlLXRoYXQtaXMtc2VjcmV0"
                        .formatted(
                                Base64.getUrlEncoder()
                                        .withoutPadding()
                                        .encodeToString(claims.getBytes(StandardCharsets.UTF_8)));

        HttpResponse<String> answer =
                world.submit("lead", "/explain", "idp=acme-github&subject=&claims=" + token);

        assertEquals(200, answer.statusCode());
        assertShows(
                answer.body(), DEPLOYER + " may mint deploy now.", "Granted: 1 of the tenant's 3");
        assertLacks(answer.body(), "c2lnbmF0dXJl", token);
    }

    @Test
    void a_subject_and_claims_by_name_are_explained() {
        HttpResponse<String> answer =
                world.submit(
                        "lead",
                        "/explain",
                        "idp=acme-github&subject=%s&claims=%s"
                                .formatted(
                                        Links.encoded(DEPLOYER),
                                        Links.encoded(
                                                "environment=production\nrepository_owner_id = 1234567")));

        assertEquals(303, answer.statusCode());
        assertShows(
                world.page("lead", answer.headers().firstValue("Location").orElseThrow()),
                DEPLOYER + " may mint deploy now.");
        assertShows(
                world.page("lead", "/explain?subject=" + Links.encoded(DEPLOYER)),
                "name=\"subject\" value=\"" + DEPLOYER + "\"");
    }

    @Test
    void every_condition_of_the_nearest_grant_is_met_or_not_with_what_was_expected_and_seen() {
        String grant =
                database.value(
                        "SELECT id FROM broker.subject_grant WHERE subject = '%s'"
                                .formatted(DEPLOYER));
        database.admin(
                "UPDATE broker.subject_grant SET claims = '{\"environment\": \"production\", \"ref\":"
                        + " \"refs/heads/main\", \"actor\": [\"ada\", \"bob\"]}' WHERE id = "
                        + grant);
        String page =
                world.page(
                        "lead",
                        "/explain?idp=acme-github&claims="
                                + Links.encoded(
                                        "{\"sub\": \"%s\", \"repository_owner_id\": \"1234567\", \"environment\": \"staging\", \"ref\": \"refs/heads/main\", \"actor\": \"eve\"}"
                                                .formatted(DEPLOYER)));

        assertEquals(
                List.of(
                        "met: subject: " + DEPLOYER,
                        "met: the grant is enabled: true",
                        "not met: claim actor [\"ada\", \"bob\"] \"eve\"",
                        "not met: claim environment \"production\" \"staging\"",
                        "met: claim ref: \"refs/heads/main\"",
                        "not met: subject repo:acme/*:pull_request " + DEPLOYER,
                        "met: the grant is enabled: true"),
                conditions(page));
        String statement = statement(page, "Let grant " + grant + " accept these claims, too");
        database.admin(statement.replace("<reason>", "'OPS-99'"));
        assertEquals(
                "{\"ref\": \"refs/heads/main\", \"actor\": [\"ada\", \"bob\", \"eve\"],"
                        + " \"environment\": [\"production\", \"staging\"]}",
                database.value("SELECT claims FROM broker.subject_grant WHERE id = " + grant));
        database.admin(
                "UPDATE broker.subject_grant SET claims = '{\"environment\": \"production\"}'"
                        + " WHERE id = "
                        + grant);
    }

    /** Neither is what the token lacks, nor a grant that is off for other reasons. */
    @Test
    void a_claim_that_the_token_lacks_is_not_met_and_no_statement_widens_it() {
        String page =
                world.page(
                        "lead",
                        "/explain?idp=acme-github&claims="
                                + Links.encoded(
                                        "{\"sub\": \"%s\", \"repository_owner_id\": \"1234567\"}"
                                                .formatted(DEPLOYER)));

        assertShows(page, "not met: ", "<span class=\"id wrap\">nothing</span>");
        assertLacks(page, "accept these claims");
    }

    /** The first cross is what broker.explain says, whatever is wrong with the grant. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "enabled = false",
                "valid_from = now() + interval '1 day'",
                "valid_from = now() - interval '2 days', valid_until = now() + interval '1 second'",
                "enabled = false, claims = '{\"ref\": \"x\"}'",
                "actor_idp = 'acme-github', actor = 'agent:bot', actor_match = 'exact'",
                "claims = '{\"ref\": \"x\", \"a\": 1}'",
                "claims = '{}'"
            })
    void the_first_condition_that_is_not_met_is_the_one_that_explain_names(String change) {
        String subject = "sa:" + change.hashCode();
        database.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'acme-k8s', '%1$s', 'inventory');
                UPDATE broker.subject_grant SET %2$s WHERE subject = '%1$s'
                """
                        .formatted(subject, change));

        assertEquals(
                "t",
                database.value(
                        """
                        SELECT concat_ws(' ', e.condition, e.expected, e.seen) =
                               coalesce((SELECT concat_ws(' ', c.condition, c.expected, c.seen)
                                           FROM internal.explain_grant(e.grant_id, '%1$s', '{"ref": "y"}', now())
                                                WITH ORDINALITY AS c (condition, met, expected, seen, widened, place)
                                          WHERE NOT c.met ORDER BY c.place LIMIT 1), '')
                          FROM broker.explain('acme-k8s', '%1$s', '{"ref": "y"}') AS e WHERE e.key = 'inventory'
                        """
                                .formatted(subject)));
    }

    private static List<String> conditions(String page) {
        return Pattern.compile("<li><span class=\"outcome.*</li>")
                .matcher(page)
                .results()
                .map(item ->
                        item.group()
                                .replaceAll("<span aria-hidden=\"true\">.</span>", "")
                                .replaceAll("<[^>]*>", "")
                                .replaceAll(" +", " ")
                                .replace(": expected", "")
                                .replace(", seen", "")
                                .replace("&#34;", "\""))
                .toList();
    }

    private static String statement(String page, String summary) {
        String from = page.substring(page.indexOf(summary));
        return from.substring(from.indexOf("<code>") + "<code>".length(), from.indexOf("</code>"))
                .replace("&#34;", "\"")
                .replace("&#39;", "'")
                .replace("&lt;", "<")
                .replace("&gt;", ">");
    }

    /** What the broker refuses in a token is explained by nobody. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"sub\": \"x\", \"a\": 1E-2147483649}",
                "{\"sub\": \"x\", \"a\": 1e999999999}",
                "{\"sub\": \"nobody\", \"sub\": \"x\"}",
                "{\"sub\": \"x\"} and more {",
                "{\"sub\": \"x\\ud800\"}",
                "{\"sub\": \"x\", \"a\": NaN}"
            })
    void claims_that_no_token_may_have_are_not_explained(String claims) {
        String page =
                world.page("lead", "/explain?idp=acme-github&claims=" + Links.encoded(claims));

        assertShows(page, "not a valid JSON object");
        assertLacks(page, "Granted:");
    }
}
