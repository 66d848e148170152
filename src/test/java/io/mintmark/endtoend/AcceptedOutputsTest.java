package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A client that names the outputs that it accepts gets no credential with others, and one that
 * names outputs which it can use once gets no two credentials with them.
 */
class AcceptedOutputsTest {
    private static final String HEADER = "Mintmark-Accept-Outputs";
    private static final String DISTINCT = "Mintmark-Distinct-Outputs";

    @AutoClose private static World world;

    @BeforeAll
    static void start() {
        world = new World();
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'hook', 'webhook',
                        '{"endpoint": "https://hook.example.com", "fields": ["NPM_TOKEN", "REGISTRY_USER"]}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'npm', 'hook', 600, '{"target": "registry/push"}'),
                       ('acme', 'jobs', 'own', 600, '{"audience": "https://jobs.example.com"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:main', 'npm'), ('acme', 'ci', 'ci:main', 'jobs')
                """);
    }

    private static Answer mint(String key, String... accepted) {
        String[] headers = new String[2 + 2 * accepted.length];
        headers[0] = "Authorization";
        headers[1] = "Bearer " + world.token();
        for (int i = 0; i < accepted.length; i++) {
            headers[2 + 2 * i] = HEADER;
            headers[3 + 2 * i] = accepted[i];
        }
        return world.broker().post("{\"keys\":[\"%s\"]}".formatted(key), headers);
    }

    private static void assertRefused(String key, String outputs, String... accepted) {
        String requested = "SELECT count(*) FROM audit.event WHERE kind = 'requested'";
        String before = world.value(requested);
        Answer answer = mint(key, accepted);
        assertEquals(400, answer.status(), answer::toString);
        assertEquals("INVALID_REQUEST", answer.at("/error"));
        assertEquals(HEADER, answer.at("/details/field"));
        assertEquals(outputs, answer.body().at("/details/outputs").toString());
        world.assertRows(requested, before);
    }

    private static Answer mintDistinct(String keys, String distinct) {
        return world.broker()
                .post(
                        "{\"keys\":[%s]}".formatted(keys),
                        "Authorization",
                        "Bearer " + world.token(),
                        DISTINCT,
                        distinct);
    }

    @Test
    void an_output_of_two_keys_that_the_client_can_use_once_is_not_minted() {
        String requested = "SELECT count(*) FROM audit.event WHERE kind = 'requested'";
        String before = world.value(requested);
        Answer answer =
                mintDistinct("\"api\",\"deploy\",\"jobs\"", "ACCESS_TOKEN,TOKEN_EXPIRY OTHER");
        assertEquals(400, answer.status(), answer::toString);
        assertEquals(DISTINCT, answer.at("/details/field"));
        assertEquals(
                "[\"ACCESS_TOKEN\",\"TOKEN_EXPIRY\"]",
                answer.body().at("/details/outputs").toString());
        assertTrue(answer.at("/details/reason").startsWith("Key 'jobs' and "), answer::toString);
        world.assertRows(requested, before);
    }

    @Test
    void outputs_of_one_key_and_outputs_that_are_not_named_are_minted() {
        assertEquals(200, mintDistinct("\"api\",\"deploy\"", "ACCESS_TOKEN").status());
        assertEquals(200, mintDistinct("\"api\",\"jobs\"", "AWS_SESSION_TOKEN").status());
        assertEquals(200, mintDistinct("\"api\",\"jobs\"", "").status());
    }

    @Test
    void all_outputs_accepted_is_a_mint() {
        assertEquals(200, mint("api", "OTHER ACCESS_TOKEN  TOKEN_EXPIRY").status());
        assertEquals(200, mint("api").status());
    }

    @Test
    void default_outputs_of_the_type_that_are_not_accepted_are_not_minted() {
        assertRefused("api", "[\"TOKEN_EXPIRY\"]", "ACCESS_TOKEN");
        assertRefused("api", "[\"ACCESS_TOKEN\",\"TOKEN_EXPIRY\"]", "access_token");
    }

    @Test
    void fields_of_a_webhook_that_are_not_accepted_are_not_minted() {
        assertRefused("npm", "[\"REGISTRY_USER\"]", "NPM_TOKEN ACCESS_TOKEN");
    }

    @Test
    void a_list_in_the_form_of_http_is_the_same() {
        assertEquals(200, mint("api", "ACCESS_TOKEN,TOKEN_EXPIRY").status());
        assertEquals(200, mint("api", "ACCESS_TOKEN", "TOKEN_EXPIRY").status());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", ",", "ACCESS_TOKEN;TOKEN_EXPIRY", "A\u00e9"})
    void a_header_without_such_names_accepts_nothing(String given) {
        assertRefused("api", "[\"ACCESS_TOKEN\",\"TOKEN_EXPIRY\"]", given);
    }
}
