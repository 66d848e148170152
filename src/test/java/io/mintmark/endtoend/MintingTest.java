package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.provider.sts.StsAnswer;
import io.mintmark.provider.sts.StsCall;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

@Tag("every-postgres")
class MintingTest {
    @AutoClose private static final World world = new World(Map.of("PROVIDER_TIMEOUT", "PT10S"));

    private static Answer mint(String requestId, String token, String... keys) {
        return world.broker()
                .post(
                        "{\"keys\":[\"" + String.join("\",\"", keys) + "\"]}",
                        "Authorization",
                        "Bearer " + token,
                        "X-Request-ID",
                        requestId);
    }

    @Test
    void a_granted_subject_gets_credentials_of_every_key_and_every_step_is_on_record() {
        Answer answer = mint("all", world.token(), "deploy", "api");
        assertEquals(200, answer.status(), answer.toString());
        assertEquals(World.SUBJECT, answer.at("/subject"));
        JsonNode deploy = answer.body().at("/credentials/deploy");
        assertTrue(deploy.path("AWS_ACCESS_KEY_ID").asText().startsWith("ASIA"));
        assertEquals("eu-central-1", deploy.path("AWS_REGION").asText());
        assertEquals(4, deploy.size());
        assertEquals("no-store", answer.header("Cache-Control"));
        world.assertAudited(
                "all", "requested deploy", "issued deploy", "requested api", "issued api");
        world.assertRows(
                "SELECT credential_id FROM audit.event WHERE request_id = 'all'"
                        + " AND kind = 'issued' AND key = 'deploy'",
                deploy.path("AWS_ACCESS_KEY_ID").asText());
    }

    @Test
    void the_answer_expires_with_the_first_of_its_credentials() {
        Answer answer = mint("earliest", world.token(), "deploy", "api");
        Instant issuedAt = Instant.parse(answer.at("/issuedAt"));
        Instant expiresAt = Instant.parse(answer.at("/expiresAt"));
        assertTrue(expiresAt.isBefore(issuedAt.plus(Duration.ofSeconds(601))));
    }

    @Test
    void the_session_at_aws_is_named_by_the_mint_id() {
        mint("session", world.token(), "deploy");
        StsCall call = world.sts().calls().getLast();
        world.assertRows(
                "SELECT mint_id FROM audit.event WHERE request_id = 'session'" + " AND step = 1",
                call.parameter("RoleSessionName").orElseThrow());
        assertEquals("3600", call.parameter("DurationSeconds").orElseThrow());
    }

    @Test
    void a_jwt_credential_verifies_against_the_brokers_key_set_and_is_the_tenants()
            throws Exception {
        Answer answer = mint("jwt", world.token(), "api");
        SignedJWT jwt = SignedJWT.parse(answer.at("/credentials/api/ACCESS_TOKEN"));
        String keys = world.broker().keySet();
        var key = JWKSet.parse(keys).getKeyByKeyId(jwt.getHeader().getKeyID());
        assertTrue(jwt.verify(new ECDSAVerifier(key.toECKey())));
        assertEquals(world.broker().url() + "/tenants/acme", jwt.getJWTClaimsSet().getIssuer());
        assertEquals(World.SUBJECT, jwt.getJWTClaimsSet().getSubject());
        assertEquals(List.of("https://api.example.com"), jwt.getJWTClaimsSet().getAudience());
    }

    @Test
    void one_key_that_is_not_granted_refuses_them_all_before_any_provider_is_called() {
        int calls = world.sts().calls().size();
        Answer answer = mint("denied", world.token(), "deploy", "spare");
        assertEquals("403 FORBIDDEN ", answer.verdict());
        assertEquals(World.SUBJECT, answer.at("/details/subject"));
        assertEquals(List.of("spare"), answer.texts("/details/deniedKeys"));
        assertEquals(List.of("api", "deploy"), answer.texts("/details/allowedKeys"));
        world.assertAudited("denied", "denied spare not_granted");
        assertEquals(calls, world.sts().calls().size());
    }

    @Test
    void a_key_that_the_tenant_does_not_have_is_missing() {
        Answer answer = mint("missing", world.token(), "deploy", "nothing");
        assertEquals(404, answer.status());
        assertEquals("NOT_FOUND", answer.at("/error"));
        assertEquals(List.of("nothing"), answer.texts("/details/missingKeys"));
        world.assertAudited("missing", "denied nothing no_such_key");
    }

    @Test
    void with_a_denied_and_a_missing_key_only_the_denied_one_is_told() {
        Answer answer = mint("both", world.token(), "spare", "nothing");
        assertEquals(403, answer.status());
        assertEquals(List.of("spare"), answer.texts("/details/deniedKeys"));
        world.assertAudited("both", "denied spare not_granted", "denied nothing no_such_key");
    }

    @Test
    void a_stranger_can_not_find_out_which_keys_there_are() {
        String stranger = world.issuer().sign("ci:stranger", World.AUDIENCE);
        for (String key : List.of("deploy", "nothing")) {
            Answer answer = mint("stranger", stranger, key);
            assertEquals(403, answer.status());
            assertEquals(List.of(key), answer.texts("/details/deniedKeys"));
            assertEquals(List.of(), answer.texts("/details/allowedKeys"));
        }
        assertEquals("404 SUBJECT_NOT_FOUND ", world.broker().keys(stranger).verdict());
    }

    @Test
    void the_list_of_keys_has_what_could_be_minted_now() {
        Answer answer = world.broker().keys(world.token());
        assertEquals(200, answer.status());
        assertEquals("ci", answer.at("/idp"));
        assertEquals("api", answer.at("/keys/0/name"));
        assertEquals("own", answer.at("/keys/0/provider"));
        assertEquals("The API", answer.at("/keys/0/description"));
        assertEquals("600", answer.at("/keys/0/maxDuration"));
        assertEquals("deploy", answer.at("/keys/1/name"));
        assertEquals(2, answer.body().at("/keys").size());
    }

    @Test
    void a_provider_that_fails_fails_the_request_and_the_other_credential_is_withheld() {
        world.sts().next(new StsAnswer.Refusing(403, "AccessDenied", "secret words of AWS"));
        Answer answer = mint("failed", world.token(), "deploy", "api");
        assertEquals("500 CREDENTIAL_MINT_FAILED provider_rejected", answer.verdict());
        assertEquals("aws", answer.at("/details/provider"));
        assertEquals("deploy", answer.at("/details/key"));
        assertFalse(answer.response().body().contains("secret words"));
        world.assertAudited(
                "failed",
                "requested deploy",
                "failed deploy provider_rejected",
                "requested api",
                "withheld api other_key_failed");
        assertTrue(
                world.value(
                                "SELECT detail FROM audit.event WHERE kind = 'failed'"
                                        + " AND request_id = 'failed'")
                        .contains("secret words of AWS"));
    }

    @Test
    void a_provider_that_hangs_costs_its_request_the_deadline_and_nobody_else() {
        world.sts().next(new StsAnswer.Hanging());
        var hanging =
                java.util.concurrent.CompletableFuture.supplyAsync(
                        () -> mint("hangs", world.token(), "deploy"));
        assertEquals(200, mint("meanwhile", world.token(), "api").status());
        assertEquals("500 CREDENTIAL_MINT_FAILED provider_timeout", hanging.join().verdict());
        world.assertAudited("hangs", "requested deploy", "failed deploy provider_timeout");
    }

    @Test
    void a_credential_that_lives_much_longer_than_asked_is_withheld() {
        world.sts().next(new StsAnswer.Longer(Duration.ofHours(1)));
        Answer answer = mint("longer", world.token(), "deploy");
        assertEquals("500 CREDENTIAL_MINT_FAILED provider_error", answer.verdict());
        world.assertAudited("longer", "requested deploy", "withheld deploy provider_error");
    }

    @Test
    void a_bad_token_of_a_known_issuer_is_on_record_without_a_subject() {
        String expired = world.expiredToken();
        Answer answer = mint("expired", expired, "api");
        assertEquals("401 UNAUTHORIZED token_expired", answer.verdict());
        Eventually.holds(
                () -> world.auditedFor("expired").equals(List.of("rejected token_expired")));
    }

    @Test
    void a_token_for_two_audiences_of_one_identity_provider_is_of_that_one() {
        world.admin(
                "UPDATE broker.identity_provider SET audiences = audiences || '{mintmark-2}'"
                        + " WHERE name = 'ci'");
        List<String> both = List.of(World.AUDIENCE, "mintmark-2");
        String token = world.issuer().sign(Map.of("sub", World.SUBJECT, "aud", both));
        Eventually.holds(() -> mint("two-audiences", token, "api").status() == 200);
    }

    @Test
    void an_endpoint_is_a_whole_url_with_its_path() {
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'shared-host', 'aws-sts',
                        '{"region": "eu-central-1", "endpoint": "%s/some/sts"}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'by-path', 'shared-host', 3600, '{"role_arn": "%s"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:path', 'by-path');
                """
                        .formatted(world.sts().endpoint(), World.ROLE));
        Answer answer = mint("path", world.issuer().sign("ci:path", World.AUDIENCE), "by-path");
        assertEquals(200, answer.status(), answer.toString());
        assertEquals("/some/sts", world.sts().calls().getLast().path());
    }

    @Test
    void a_jwt_credential_for_a_cloud_vendor_is_refused_whatever_the_database_let_through() {
        world.database()
                .run(
                        Who.OWNER,
                        """
                        UPDATE broker.provider_type
                           SET key_settings = key_settings #- '{audience,not_for_vendors}'
                         WHERE type = 'jwt'
                        """);
        world.admin(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'vendor', 'own', 600, '{"audience": "sts.amazonaws.com"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:vendor', 'vendor');
                """);
        Answer answer = mint("vendor", world.issuer().sign("ci:vendor", World.AUDIENCE), "vendor");
        assertEquals("500 CREDENTIAL_MINT_FAILED provider_misconfigured", answer.verdict());
    }
}
