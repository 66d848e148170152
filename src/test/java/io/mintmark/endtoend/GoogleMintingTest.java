package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.outbound.Secret;
import io.mintmark.provider.gcp.GoogleAnswer;
import io.mintmark.provider.gcp.GoogleStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

class GoogleMintingTest {
    @AutoClose private static World world;
    @AutoClose private static GoogleStandIn google;

    @BeforeAll
    static void start() {
        world = new World();
        google =
                GoogleStandIn.trusting(world.broker().url().toString(), world.broker()::keySet)
                        .binding("tenant:acme:key:cloud", GoogleStandIn.ACCOUNT);
        world.admin(google.accessProvider());
        world.admin(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'cloud', 'google', 1800, '{"service_account": "%1$s"}'),
                       ('acme', 'unbound', 'google', 1800, '{"service_account": "%1$s"}'),
                       ('acme', 'direct', 'google', 60, '{}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:main', 'cloud'),
                       ('acme', 'ci', 'ci:main', 'unbound'),
                       ('acme', 'ci', 'ci:main', 'direct');
                """
                        .formatted(GoogleStandIn.ACCOUNT));
    }

    @Test
    void a_client_gets_a_token_of_the_service_account_for_as_long_as_the_key_says() {
        Answer answer = mint("token", "cloud");

        assertEquals(200, answer.status(), answer.toString());
        JsonNode credential = answer.body().at("/credentials/cloud");
        String token = credential.path("GOOGLE_OAUTH_ACCESS_TOKEN").asText();
        assertEquals(3, credential.size());
        assertEquals(Optional.of(GoogleStandIn.ACCOUNT), google.holder(token));
        assertEquals("acme-prod", credential.path("GOOGLE_PROJECT_ID").asText());
        assertEquals(answer.at("/expiresAt"), credential.path("GOOGLE_TOKEN_EXPIRY").asText());
        Instant latest = Instant.parse(answer.at("/issuedAt")).plus(Duration.ofMinutes(30));
        assertFalse(Instant.parse(answer.at("/expiresAt")).isAfter(latest));
    }

    @Test
    void the_audit_log_has_the_tokens_hash_and_googles_has_the_mint_id() {
        Answer answer = mint("joined", "cloud");

        String token = answer.at("/credentials/cloud/GOOGLE_OAUTH_ACCESS_TOKEN");
        assertEquals(
                List.of(HexFormat.of().formatHex(new Secret(token).hash())),
                audited("joined", "credential_id"));
        assertEquals(
                List.of(google.calls().getLast().reason().orElseThrow()),
                audited("joined", "mint_id"));
    }

    @Test
    void a_federated_token_is_given_for_no_longer_than_the_key_says() {
        Answer answer = mint("direct", "direct");

        assertEquals(200, answer.status(), answer.toString());
        assertEquals(
                Optional.of("tenant:acme:key:direct"),
                google.holder(answer.at("/credentials/direct/GOOGLE_OAUTH_ACCESS_TOKEN")));
        Instant latest = Instant.parse(answer.at("/issuedAt")).plus(Duration.ofMinutes(1));
        assertFalse(Instant.parse(answer.at("/expiresAt")).isAfter(latest));
    }

    @Test
    void what_google_says_to_a_key_that_is_not_bound_stays_in_the_audit_log() {
        Answer answer = mint("unbound", "unbound");

        assertEquals(500, answer.status());
        assertEquals("CREDENTIAL_MINT_FAILED", answer.at("/error"));
        assertEquals("provider_rejected", answer.at("/details/reason"));
        assertFalse(answer.toString().contains("getAccessToken"), answer.toString());
        assertTrue(
                audited("unbound", "detail")
                        .getFirst()
                        .contains("iam.serviceAccounts.getAccessToken"));
    }

    @Test
    void a_token_that_outlives_the_key_is_withheld() {
        google.next(
                new GoogleAnswer.AsAsked(),
                new GoogleAnswer.Saying(
                        200,
                        "{\"accessToken\":\"ya29.long\",\"expireTime\":\"%s\"}"
                                .formatted(Instant.now().plus(Duration.ofSeconds(1900)))));

        Answer answer = mint("long", "cloud");

        assertEquals("provider_error", answer.at("/details/reason"));
        assertEquals(List.of("withheld"), audited("long", "kind"));
    }

    private static Answer mint(String requestId, String key) {
        return world.broker()
                .post(
                        "{\"keys\":[\"" + key + "\"]}",
                        "Authorization",
                        "Bearer " + world.token(),
                        "X-Request-ID",
                        requestId);
    }

    /** A column of the outcome's row. */
    private static List<String> audited(String requestId, String column) {
        return world.column(
                "SELECT %s FROM audit.event WHERE request_id = '%s' AND step = 2"
                        .formatted(column, requestId));
    }
}
