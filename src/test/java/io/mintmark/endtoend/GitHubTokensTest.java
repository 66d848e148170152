package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Secret;
import io.mintmark.broker.identity.KeyDirectory;
import io.mintmark.broker.token.RsaPairs;
import io.mintmark.provider.githubapp.GitHubStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.interfaces.RSAPublicKey;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Type {@code github-app} through a whole broker, from rows in its database. */
class GitHubTokensTest {
    @TempDir static Path secrets;

    @AutoClose private static World world;
    @AutoClose private static GitHubStandIn github;

    @BeforeAll
    static void start() throws IOException {
        KeyPair app = RsaPairs.next(2048);
        github = new GitHubStandIn((RSAPublicKey) app.getPublic(), "");
        world = new World(Map.of("SECRETS_DIR", secrets.toString()));
        Files.createDirectory(secrets.resolve("acme"));
        Files.writeString(secrets.resolve("acme/app.pem"), KeyDirectory.pkcs8(app));
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
                VALUES ('acme', 'github', 'github-app',
                        '{"client_id": "%s", "private_key": {"file": "app.pem"},
                          "installation_id": "%s", "api_url": "%s"}',
                        '{repository:*,permission:contents:*,permission:administration:*}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'shop', 'github', 3600,
                        '{"repositories": ["shop"], "permissions": {"contents": "read"}}'),
                       ('acme', 'admin', 'github', 3600,
                        '{"repositories": ["shop"], "permissions": {"administration": "write"}}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', '%s', 'shop'), ('acme', 'ci', '%s', 'admin');
                """
                        .formatted(
                                GitHubStandIn.CLIENT_ID,
                                GitHubStandIn.INSTALLATION,
                                github.url(),
                                World.SUBJECT,
                                World.SUBJECT));
        Eventually.holds(() ->
                world.broker()
                        .keys(world.token())
                        .body()
                        .path("keys")
                        .toString()
                        .contains("admin"));
    }

    @Test
    void a_client_gets_a_token_and_its_hash_is_on_record() {
        Answer answer = world.broker().mint(world.token(), "shop");

        assertEquals(200, answer.status(), answer.toString());
        String token = answer.at("/credentials/shop/GITHUB_TOKEN");
        assertEquals(answer.at("/expiresAt"), answer.at("/credentials/shop/GITHUB_TOKEN_EXPIRY"));
        world.assertRows(
                "SELECT count(*) FROM audit.event WHERE kind = 'issued' AND credential_id = '%s'"
                        .formatted(HexFormat.of().formatHex(new Secret(token).hash())),
                "1");
    }

    @Test
    void an_oauth_library_gets_a_token() {
        String form =
                "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&audience=shop"
                        + "&subject_token_type=urn:ietf:params:oauth:token-type:jwt&subject_token="
                        + URLEncoder.encode(world.token(), StandardCharsets.UTF_8);

        Answer answer =
                world.broker()
                        .send(
                                world.broker()
                                        .request("/oauth2/token")
                                        .header("Content-Type", "application/x-www-form-urlencoded")
                                        .POST(BodyPublishers.ofString(form)));

        assertEquals(200, answer.status(), answer.toString());
        assertTrue(answer.at("/access_token").startsWith("ghs_"));
    }

    @Test
    void a_token_is_revoked_if_another_key_of_the_request_fails() {
        Set<String> before = github.live();

        Answer answer = world.broker().mint(world.token(), "shop", "admin");

        assertEquals("provider_rejected", answer.at("/details/reason"));
        Eventually.holds(() ->
                github.live().equals(before)
                        && github.calls().stream()
                                .anyMatch(call -> call.method().equals("DELETE")));
        world.assertRows(
                "SELECT reason FROM audit.event WHERE kind = 'withheld' AND key = 'shop'",
                "other_key_failed");
        world.assertRows(
                "SELECT reason FROM audit.event WHERE kind = 'failed' AND key = 'admin'",
                "provider_rejected");
        Eventually.holds(() ->
                world.column("SELECT key || ' ' || reason FROM audit.event WHERE kind = 'ended'")
                        .equals(List.of("shop undone")));
    }
}
