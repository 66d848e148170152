package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.outbound.Secret;
import io.mintmark.provider.OAuthCall;
import io.mintmark.provider.TokenEndpoint;
import io.mintmark.provider.azure.EntraStandIn;
import io.mintmark.provider.oauth2.TokenExchangeStandIn;
import io.mintmark.provider.oauth2.TokenExchangeStandIn.Clients;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Types {@code azure} and {@code oauth2} through a whole broker, from rows in its database. */
class TokenEndpointsTest {
    private static final String SUBJECT = "ci:tokens";

    @TempDir static Path secrets;

    @AutoClose private static World world;
    @AutoClose private static EntraStandIn entra;
    @AutoClose private static TokenExchangeStandIn open;
    @AutoClose private static TokenExchangeStandIn withSecret;
    @AutoClose private static TokenExchangeStandIn withKey;

    @BeforeAll
    static void start() throws IOException {
        world = new World(Map.of("SECRETS_DIR", secrets.toString()));
        String issuer = world.broker().url().toString();
        Supplier<String> keys = world.broker()::keySet;
        entra = new EntraStandIn(issuer, keys, "tenant:acme:key:azure");
        open = new TokenExchangeStandIn(issuer, keys, Clients.NONE);
        withSecret = new TokenExchangeStandIn(issuer, keys, Clients.SECRET);
        withKey = new TokenExchangeStandIn(issuer, keys, Clients.KEY);
        Files.createDirectory(secrets.resolve("acme"));
        Files.writeString(
                secrets.resolve("acme/client-secret"), TokenExchangeStandIn.SECRET + "\n");
        world.admin(
                """
                INSERT INTO broker.access_provider
                       (tenant, name, type, settings, allowed_targets)
                VALUES ('acme', 'entra', 'azure',
                        '{"tenant_id": "%1$s", "authority": "%2$s"}', '{%3$s}'),
                       ('acme', 'open', 'oauth2', '{"token_endpoint": "%4$s"}', '{api:*}'),
                       ('acme', 'secret', 'oauth2',
                        '{"token_endpoint": "%5$s", "client_id": "%7$s",
                          "client_secret": {"file": "client-secret"}}', '{**}'),
                       ('acme', 'signed', 'oauth2',
                        '{"token_endpoint": "%6$s", "client_id": "%7$s",
                          "client_auth": "private_key_jwt"}', '{**}'),
                       ('acme', 'lost', 'oauth2',
                        '{"token_endpoint": "%5$s", "client_id": "%7$s",
                          "client_secret": {"file": "lost"}}', '{**}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'azure', 'entra', 5400,
                        '{"client_id": "%3$s", "scope": "https://management.azure.com/.default"}'),
                       ('acme', 'open', 'open', 600, '{"audience": "api:read"}'),
                       ('acme', 'brief', 'open', 60, '{"resource": "api:read"}'),
                       ('acme', 'secret', 'secret', 600, '{"scope": "read"}'),
                       ('acme', 'signed', 'signed', 600, '{}'),
                       ('acme', 'lost', 'lost', 600, '{}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'ci', '%8$s', name
                  FROM unnest('{azure,open,brief,secret,signed,lost}'::text[]) AS name;
                """
                        .formatted(
                                EntraStandIn.DIRECTORY,
                                entra.authority(),
                                EntraStandIn.APPLICATION,
                                open.url(),
                                withSecret.url(),
                                withKey.url(),
                                TokenExchangeStandIn.CLIENT,
                                SUBJECT));
    }

    private static Answer mint(String requestId, String... keys) {
        return world.broker()
                .post(
                        "{\"keys\":[\"" + String.join("\",\"", keys) + "\"]}",
                        "Authorization",
                        "Bearer " + world.issuer().sign(SUBJECT, World.AUDIENCE),
                        "X-Request-ID",
                        requestId);
    }

    private static List<String> column(String column, String requestId, String kind) {
        return world.column(
                "SELECT %s FROM audit.event WHERE request_id = '%s' AND kind = '%s'"
                        .formatted(column, requestId, kind));
    }

    @Test
    void a_client_gets_a_token_of_entras() {
        Answer answer = mint("azure", "azure");

        assertEquals(200, answer.status(), answer.toString());
        JsonNode azure = answer.body().at("/credentials/azure");
        assertEquals(3, azure.size());
        String token = azure.path("AZURE_ACCESS_TOKEN").asText();
        assertTrue(token.startsWith("the-entra-token-"), token);
        assertEquals(EntraStandIn.DIRECTORY, azure.path("AZURE_TENANT_ID").asText());
        assertEquals(answer.at("/expiresAt"), azure.path("AZURE_TOKEN_EXPIRY").asText());
        assertEquals(
                List.of(HexFormat.of().formatHex(new Secret(token).hash())),
                column("credential_id", "azure", "issued"));
    }

    private static String scope(String key) {
        String form =
                "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&scope=everything&subject_token_type=urn:ietf:params:oauth:token-type:jwt&audience=%s&subject_token=%s"
                        .formatted(key, world.issuer().sign(SUBJECT, World.AUDIENCE));
        Answer answer =
                world.broker()
                        .send(
                                world.broker()
                                        .request("/oauth2/token")
                                        .header("Content-Type", "application/x-www-form-urlencoded")
                                        .POST(HttpRequest.BodyPublishers.ofString(form)));
        assertEquals(200, answer.status(), answer.toString());
        return answer.at("/scope");
    }

    @Test
    void an_oauth_client_learns_the_scope_of_the_server_else_of_the_key() {
        assertEquals("https://management.azure.com/.default", scope("azure"));
        assertEquals("read", scope("secret"));
        assertEquals("open", scope("open"));
        withSecret
                .endpoint()
                .next(
                        TokenEndpoint.saying(
                                200,
                                """
                                {"access_token": "t", "token_type": "Bearer", "expires_in": 60,
                                 "scope": "read:own",
                                 "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}
                                """));
        assertEquals("read:own", scope("secret"));
    }

    @Test
    void the_sign_in_log_of_entra_has_the_mint_id() throws Exception {
        mint("correlated", "azure");

        OAuthCall call = entra.endpoint().calls().getLast();
        List<String> mintId = column("mint_id", "correlated", "issued");
        assertEquals(mintId, List.of(call.header("client-request-id").orElseThrow()));
        assertEquals(mintId, List.of(EntraStandIn.assertion(call).getJWTID()));
    }

    @Test
    void what_entra_says_is_for_the_audit_log_alone() {
        entra.endpoint()
                .next(
                        TokenEndpoint.refusing(
                                401, "invalid_client", "AADSTS700213: No matching record found"));

        Answer answer = mint("refused", "azure");

        assertEquals("500 CREDENTIAL_MINT_FAILED broker_identity_rejected", answer.verdict());
        assertFalse(answer.response().body().contains("AADSTS"));
        assertTrue(
                column("detail", "refused", "failed").getFirst().contains("AADSTS700213"),
                () -> column("detail", "refused", "failed").toString());
    }

    @Test
    void a_client_gets_tokens_of_authorization_servers() {
        Answer answer = mint("exchanged", "open", "secret", "signed");

        assertEquals(200, answer.status(), answer.toString());
        for (String key : List.of("open", "secret", "signed")) {
            JsonNode credential = answer.body().at("/credentials/" + key);
            assertEquals(2, credential.size());
            assertTrue(credential.path("ACCESS_TOKEN").asText().startsWith("the-exchanged-token-"));
            Duration life =
                    Duration.between(
                            Instant.parse(answer.at("/issuedAt")),
                            Instant.parse(credential.path("TOKEN_EXPIRY").asText()));
            assertTrue(life.toSeconds() <= TokenExchangeStandIn.LIFETIME, life::toString);
        }
    }

    @Test
    void a_token_that_lives_longer_than_the_key_allows_is_withheld() {
        Answer answer = mint("brief", "brief");

        assertEquals("500 CREDENTIAL_MINT_FAILED provider_error", answer.verdict());
        assertEquals(
                List.of("requested brief", "withheld brief provider_error"),
                world.audited("request_id = 'brief'"));
    }

    @Test
    void a_secret_that_is_not_there_is_told_in_the_audit_log() throws IOException {
        Answer answer = mint("lost", "lost");

        assertEquals("500 CREDENTIAL_MINT_FAILED provider_misconfigured", answer.verdict());
        assertEquals(
                List.of(
                        "access provider setting 'client_secret' refers to "
                                + "SECRETS_DIR/acme/lost, which doesn't exist: write the secret to "
                                + "that file"),
                column("detail", "lost", "failed"));

        Files.writeString(secrets.resolve("acme/lost"), TokenExchangeStandIn.SECRET);

        assertEquals(200, mint("found", "lost").status());
    }

    @Test
    void what_the_broker_shows_others_is_worth_nothing_at_the_broker() {
        mint("shown", "open", "signed");
        OAuthCall exchange = open.endpoint().calls().getLast();
        OAuthCall signed = withKey.endpoint().calls().getLast();

        for (String token :
                List.of(
                        exchange.parameter("subject_token").orElseThrow(),
                        signed.parameter("client_assertion").orElseThrow())) {
            assertEquals(
                    "401 UNAUTHORIZED unknown_issuer",
                    world.broker().mint(token, "open").verdict());
        }
    }

    @Test
    void a_token_with_the_broker_as_its_audience_is_worth_nothing_at_the_broker() {
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('itself', 'acme', '%1$s', '{%1$s}');
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'mirror', 'oauth2',
                        '{"token_endpoint": "%2$s", "subject_audience": "%1$s"}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'mirror', 'mirror', 600, '{}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', '%3$s', 'mirror'),
                       ('acme', 'itself', 'tenant:acme:key:mirror', 'mirror');
                """
                        .formatted(world.broker().url(), open.url(), SUBJECT));
        mint("mirror", "mirror");
        String token = open.endpoint().calls().getLast().parameter("subject_token").orElseThrow();

        assertEquals(
                "401 UNAUTHORIZED unknown_issuer", world.broker().mint(token, "mirror").verdict());
    }
}
