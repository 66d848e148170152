package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Authority;
import io.mintmark.broker.identity.KeyDirectory;
import io.mintmark.broker.token.LogBook;
import io.mintmark.broker.token.RsaPairs;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.azure.EntraStandIn;
import io.mintmark.provider.githubapp.GitHubStandIn;
import io.mintmark.provider.kubernetes.KubernetesStandIn;
import io.mintmark.provider.oauth2.TokenExchangeStandIn;
import io.mintmark.provider.sts.StsAnswer;
import io.mintmark.provider.sts.StsStandIn;
import io.mintmark.provider.webhook.WebhookStandIn;
import io.mintmark.provider.x509.Ca;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** With every logger at its most talkative. */
class SecretsStayQuietTest {
    @TempDir Path files;

    @AutoClose
    private final LogBook log =
            LogBook.open(
                    "org.apache.hc.client5.http.wire",
                    "org.apache.hc.client5.http.headers",
                    "software.amazon.awssdk.request");

    private void assertQuiet(Collection<String> secrets) {
        for (String secret : secrets) {
            assertEquals(List.of(), log.linesWith(secret), secret);
        }
    }

    /** The calls are logged, and none of their secrets. */
    private void assertQuietOn(String host, Collection<String> secrets) {
        assertNotEquals(List.of(), log.linesWith(host));
        assertQuiet(secrets);
    }

    private static String half(String secret) {
        return secret.substring(secret.length() / 2);
    }

    @Test
    void no_log_holds_a_token_or_a_credential() {
        try (MintingBroker broker = MintingBroker.usual();
                StsStandIn aws = broker.aws()) {
            broker.minted(order(aws, ""));
            broker.minted(
                    order(aws, ",'auth':'ambient'")
                            .sharing()
                            .allowing("arn:aws:iam::123456789012:role/*"));
            aws.next(new StsAnswer.QuotingTheToken(), new StsAnswer.Dropping());
            broker.failed(order(aws, ""));
            broker.failed(order(aws, ""));

            assertQuietOn("127.0.0.1", secrets(aws));
        }
    }

    @Test
    void no_log_holds_what_goes_to_token_endpoints_and_what_comes_back() {
        try (MintingBroker broker = MintingBroker.usual();
                var entra =
                        new EntraStandIn(
                                MintingBroker.ISSUER,
                                broker.identity()::keySet,
                                "tenant:acme:key:deploy");
                var server =
                        new TokenExchangeStandIn(
                                MintingBroker.ISSUER,
                                broker.identity()::keySet,
                                TokenExchangeStandIn.Clients.SECRET)) {
            broker.secret("client-secret", TokenExchangeStandIn.SECRET);
            broker.minted(entra(entra));
            entra.endpoint().next(TokenEndpoint.quoting("client_assertion"));
            broker.failed(entra(entra));
            broker.minted(exchange(server));
            server.endpoint().next(TokenEndpoint.quoting("subject_token"));
            broker.failed(exchange(server));

            assertQuietOn("127.0.0.1", secrets(entra.endpoint(), server.endpoint()));
        }
    }

    @Test
    void no_log_holds_what_goes_to_a_service_as_json_or_is_revoked_and_no_token_of_the_brokers() {
        try (MintingBroker broker = MintingBroker.usual();
                var service =
                        new TokenEndpoint(
                                _ ->
                                        Map.of(
                                                "access_token", "the-services-token",
                                                "token_type", "Bearer",
                                                "expires_in", 3600),
                                true);
                var revoking = new TokenEndpoint(_ -> Map.of())) {
            Orders order =
                    Orders.of(
                            "oauth2",
                            "{'token_endpoint':'%s','revocation_endpoint':'%s','grant':'jwt-bearer','body':'json'}"
                                    .formatted(service.origin(), revoking.origin()),
                            "{}");
            Undo undo = broker.minted(order).undo().orElseThrow();
            Instant soon = Instant.now().plusSeconds(10);
            assertEquals(Optional.empty(), undo.undo(soon));
            revoking.next(TokenEndpoint.quoting("token"));
            assertTrue(undo.undo(soon).isPresent());
            service.next(TokenEndpoint.quoting("assertion"));
            broker.failed(order);
            Minted own =
                    broker.minted(Orders.of("jwt", "{}", "{'audience':'https://api.example'}"));

            List<String> secrets =
                    new ArrayList<>(
                            List.of("the-services-token", MintingBroker.field(own, "AccessToken")));
            service.calls().stream()
                    .flatMap(call -> call.parameter("assertion").stream())
                    .forEach(secrets::add);
            assertEquals(4, secrets.size());
            assertQuietOn("127.0.0.1", secrets.stream().map(SecretsStayQuietTest::half).toList());
        }
    }

    @Test
    void no_log_holds_what_goes_to_github_and_what_comes_back() {
        KeyPair app = RsaPairs.next(2048);
        String pem = KeyDirectory.pkcs8(app);
        try (MintingBroker broker = MintingBroker.usual();
                var github = new GitHubStandIn((RSAPublicKey) app.getPublic(), "")) {
            broker.secret("app.pem", pem);
            Minted minted = broker.minted(gitHub(github));
            assertEquals(
                    Optional.empty(),
                    minted.undo().orElseThrow().undo(Instant.now().plusSeconds(10)));
            github.next(GitHubStandIn.quoting());
            broker.failed(gitHub(github));

            List<String> secrets = new ArrayList<>(List.of("ghs_1_", pem.lines().toList().get(1)));
            github.calls().stream()
                    .map(call -> call.authorization().substring("Bearer ".length()))
                    .map(SecretsStayQuietTest::half)
                    .forEach(secrets::add);
            assertEquals(5, secrets.size());
            assertQuietOn("127.0.0.1", secrets);
        }
    }

    @Test
    void no_log_holds_what_goes_to_a_cluster_and_what_comes_back() {
        try (MintingBroker broker = MintingBroker.usual();
                var cluster = new KubernetesStandIn(broker.identity()::keySet)) {
            broker.secret("kubernetes-token", KubernetesStandIn.SERVICE_ACCOUNT_TOKEN);
            Minted minted = broker.minted(kubernetes(cluster, ""));
            broker.minted(
                    kubernetes(cluster, ",'auth':'token','token':{'file':'kubernetes-token'}"));
            cluster.changing(answer -> answer.put("message", bearers(cluster).getLast()));
            broker.minted(kubernetes(cluster, ""));

            List<String> secrets = new ArrayList<>(bearers(cluster));
            secrets.add(MintingBroker.field(minted, "Token"));
            assertEquals(4, secrets.size());
            assertQuietOn("127.0.0.1", secrets.stream().map(SecretsStayQuietTest::half).toList());
        }
    }

    private static List<String> bearers(KubernetesStandIn cluster) {
        return cluster.calls().stream()
                .map(call -> call.authorization().substring("Bearer ".length()))
                .toList();
    }

    private static Orders kubernetes(KubernetesStandIn cluster, String more) {
        return Orders.of(
                "kubernetes",
                "{'server':'%s'%s}".formatted(cluster.url(), more),
                "{'service_account':'shop/deployer'}");
    }

    @Test
    void no_log_holds_what_goes_to_a_webhook_and_what_comes_back() throws Exception {
        Authority authority = new Authority();
        Path certificate = files.resolve("broker.pem");
        Path key = files.resolve("broker.key");
        authority.write("broker.example", certificate, key);
        try (MintingBroker broker = MintingBroker.usual();
                var service =
                        new WebhookStandIn(
                                MintingBroker.ISSUER,
                                broker.identity()::keySet,
                                Optional.of(authority.server("localhost")),
                                true)) {
            broker.secret("webhook.key", Files.readString(key));
            Orders order =
                    Orders.of(
                            "webhook",
                            "{'endpoint':'%s','fields':['APP_PASSWORD'],'ca_certificate':'%s','client_certificate':'%s','client_key':{'file':'webhook.key'}}"
                                    .formatted(
                                            service.url(),
                                            oneLine(authority.pem()),
                                            oneLine(Files.readString(certificate))),
                            "{'target':'a','parameters':{'region':'a-parameter'}}");
            Minted minted = broker.minted(order);
            assertInstanceOf(LeaseRevocation.Gone.class, broker.end(order));
            service.next((exchange, body) ->
                    WebhookStandIn.saying(
                                    500,
                                    "{'detail':'I saw %s'}"
                                            .formatted(
                                                    exchange.getRequestHeaders()
                                                            .getFirst("Authorization")))
                            .with(exchange, body));
            Failed failed = broker.failed(order);

            List<String> secrets =
                    new ArrayList<>(
                            List.of(
                                    MintingBroker.field(minted, "APP_PASSWORD"),
                                    "a-parameter",
                                    Files.readString(key).lines().toList().get(1)));
            service.calls().stream()
                    .map(call -> call.authorization().substring("Bearer ".length()))
                    .map(SecretsStayQuietTest::half)
                    .forEach(secrets::add);
            assertEquals(6, secrets.size());
            assertQuietOn("localhost", secrets);
            for (String secret : secrets) {
                assertFalse(failed.toString().contains(secret));
            }
        }
    }

    private static String oneLine(String pem) {
        return pem.replace("\r", "").replace("\n", "\\n");
    }

    @Test
    void no_log_holds_a_ca_key_or_a_private_key_of_a_certificate() {
        Ca ca = Ca.of("EC", Duration.ofDays(1));
        try (MintingBroker broker = MintingBroker.usual()) {
            broker.secret("ca", ca.key());
            Minted ssh =
                    broker.minted(
                            Orders.of(
                                    "ssh",
                                    "{'ca_key':{'file':'ca'}}",
                                    "{'principals':['deploy']}"));
            String settings =
                    "{'ca_key':{'file':'ca'},'ca_certificate':'%s'}"
                            .formatted(ca.certificate().replace("\n", "\\n"));
            Minted tls = broker.minted(Orders.of("x509", settings, "{'subject':'/CN=x'}"));
            broker.secret("ca", ca.key().replaceFirst("KEY-----\n....", "KEY-----\nAAAA"));
            Failed failed = broker.failed(Orders.of("x509", settings, "{'subject':'/CN=x'}"));

            for (String pem : List.of(ca.key(), privateKey(ssh), privateKey(tls))) {
                String secret = pem.lines().toList().get(1).substring(2, 40);
                assertQuiet(List.of(secret));
                assertFalse((ssh + " " + tls + failed).contains(secret));
            }
        }
    }

    private static String privateKey(Minted minted) {
        return MintingBroker.field(minted, "PrivateKey");
    }

    private static Orders gitHub(GitHubStandIn github) {
        return Orders.of(
                "github-app",
                "{'client_id':'%s','private_key':{'file':'app.pem'},'installation_id':'%s','api_url':'%s'}"
                        .formatted(
                                GitHubStandIn.CLIENT_ID, GitHubStandIn.INSTALLATION, github.url()),
                "{'repositories':['shop'],'permissions':{'contents':'read'}}");
    }

    private static List<String> secrets(TokenEndpoint... endpoints) {
        List<String> secrets =
                new ArrayList<>(List.of("the-entra-token", "the-exchanged-token", "Basic "));
        for (TokenEndpoint endpoint : endpoints) {
            for (OAuthCall call : endpoint.calls()) {
                Stream.of("client_assertion", "subject_token")
                        .flatMap(name -> call.parameter(name).stream())
                        .map(token -> token.substring(token.indexOf('.')))
                        .forEach(secrets::add);
            }
        }
        assertEquals(7, secrets.size());
        return secrets;
    }

    private static Orders entra(EntraStandIn entra) {
        return Orders.of(
                "azure",
                "{'tenant_id':'%s','authority':'%s'}"
                        .formatted(EntraStandIn.DIRECTORY, entra.authority()),
                "{'client_id':'%s','scope':'https://management.azure.com/.default'}"
                        .formatted(EntraStandIn.APPLICATION));
    }

    private static Orders exchange(TokenExchangeStandIn server) {
        return Orders.of(
                "oauth2",
                "{'token_endpoint':'%s','client_id':'%s','client_secret':{'file':'client-secret'}}"
                        .formatted(server.url(), TokenExchangeStandIn.CLIENT),
                "{}");
    }

    @Test
    void a_credential_prints_without_its_secrets() {
        try (MintingBroker broker = MintingBroker.usual();
                StsStandIn aws = broker.aws()) {
            Minted minted = broker.minted(order(aws, ""));

            assertFalse(minted.toString().contains("the/secret+key"));
            assertFalse(minted.toString().contains("the-session-token"));
        }
    }

    private static List<String> secrets(StsStandIn aws) {
        List<String> secrets =
                new ArrayList<>(
                        List.of("the/secret+key", "the-session-token", "the-ambient-secret"));
        aws.calls().stream()
                .flatMap(call -> call.parameter("WebIdentityToken").stream())
                .map(token -> token.substring(token.indexOf('.')))
                .forEach(secrets::add);
        return secrets;
    }

    private static Orders order(StsStandIn sts, String more) {
        return Orders.of(
                "aws-sts",
                "{'region':'eu-central-1','endpoint':'%s'%s}".formatted(sts.endpoint(), more),
                "{'role_arn':'arn:aws:iam::123456789012:role/deploy'}");
    }
}
