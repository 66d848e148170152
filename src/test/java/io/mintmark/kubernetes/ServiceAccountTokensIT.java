package io.mintmark.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.credential.CredentialType.LoggedMint;
import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Documented;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;
import io.mintmark.kubernetes.KubeApiServer.Ran;
import io.mintmark.mint.kubernetes.KubernetesType;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Type {@code kubernetes} at a real kube-apiserver, set up by the page and the recipe. */
class ServiceAccountTokensIT {
    private static TrustedCluster cluster;

    @BeforeAll
    static void start(@TempDir Path work) throws Exception {
        cluster = new TrustedCluster(work);
        cluster.recipe("provider_kubernetes");
        cluster.server().shell(Documented.commands("provider_kubernetes"));
        cluster.server()
                .shell(
                        """
                        kubectl create role pods -n shop --verb=list --resource=pods
                        kubectl create rolebinding pods -n shop --role=pods --serviceaccount=shop:deployer
                        kubectl create serviceaccount other -n shop
                        kubectl create role gone -n shop --verb=create --resource=serviceaccounts/token --resource-name=gone
                        kubectl create rolebinding gone -n shop --role=gone --user=mintmark:tenant:acme:key:gone
                        kubectl create rolebinding short -n shop --role=mintmark --user=mintmark:tenant:acme:key:odd
                        kubectl create rolebinding secretless -n shop --role=mintmark --user=mintmark:tenant:acme:key:secretless
                        """);
        cluster.world().admin(keys());
    }

    private static String keys() throws Exception {
        return """
        INSERT INTO broker.access_provider (tenant, name, type, settings)
        VALUES ('acme', 'elsewhere', 'kubernetes', '{%1$s, "audience": "elsewhere"}');
        INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES
            ('acme', 'unbound', 'kubernetes', 3600, '{"service_account": "shop/other"}'),
            ('acme', 'gone', 'kubernetes', 3600, '{"service_account": "shop/gone"}'),
            ('acme', 'secretless', 'kubernetes', 3600,
             '{"service_account": "shop/deployer", "bound_secret": "missing"}'),
            ('acme', 'odd', 'kubernetes', 3607, '{"service_account": "shop/deployer"}'),
            ('acme', 'elsewhere', 'elsewhere', 3600, '{"service_account": "shop/deployer"}');
        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
        SELECT 'acme', 'ci', '%2$s', k.name FROM broker.key k
         WHERE k.tenant = 'acme' AND k.name NOT IN ('deploy', 'api');
        INSERT INTO broker.tenant (name) VALUES ('other');
        INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
        SELECT 'ci-of-other', 'other', i.issuer, '{mintmark-other}'
          FROM broker.identity_provider i WHERE i.name = 'ci';
        INSERT INTO broker.access_provider (tenant, name, type, settings)
        VALUES ('other', 'kubernetes', 'kubernetes', '{%1$s}');
        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
        VALUES ('other', 'cluster', 'kubernetes', 3600, '{"service_account": "shop/deployer"}');
        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
        VALUES ('other', 'ci-of-other', '%2$s', 'cluster');
        """
                .formatted(cluster.settings(), World.SUBJECT);
    }

    @AfterAll
    static void stop() {
        if (cluster != null) {
            cluster.close();
        }
    }

    private static Answer mint(String key) {
        return cluster.world().broker().mint(cluster.world().token(), key);
    }

    private static Answer minted(String key) {
        Answer answer = mint(key);
        assertEquals(200, answer.status(), answer.toString());
        return answer;
    }

    @Test
    void a_token_works_as_its_service_account_and_both_logs_name_it() throws Exception {
        bindSecret();
        Answer answer = minted("cluster");
        String token = answer.at("/credentials/cluster/KUBE_TOKEN");

        Ran whoami = cluster.server().kubectlWith(token, "auth", "whoami", "-o", "json");
        Ran pods = cluster.server().kubectlWith(token, "get", "pods");

        assertTrue(
                whoami.output().contains("\"system:serviceaccount:shop:deployer\""), whoami::said);
        assertEquals(0, pods.status(), pods.said());
        List<String> issued =
                cluster.world()
                        .database()
                        .column(
                                """
                                SELECT mint_id || ' ' || credential_id FROM audit.mint
                                 WHERE key = 'cluster' AND outcome = 'issued'
                                 ORDER BY mint_id DESC LIMIT 1
                                """);
        String[] ids = issued.getFirst().split(" ", 2);
        assertTrue(whoami.said().contains(ids[1]), () -> ids[1] + " isn't in " + whoami.said());
        String asked = cluster.server().audited("\"JTI=" + ids[0]).getLast();
        assertTrue(asked.contains("/serviceaccounts/deployer/token"), asked);
        assertTrue(asked.contains("issued-credential-id\":\"" + ids[1]), asked);
        assertFoundByTheTypesCommand(ids[1]);
    }

    private static void assertFoundByTheTypesCommand(String credentialId) {
        String command =
                new KubernetesType()
                        .log(
                                new LoggedMint(
                                        "acme",
                                        "cluster",
                                        Optional.of(credentialId),
                                        Instant.now(),
                                        Optional.empty()))
                        .command()
                        .orElseThrow();

        String found = cluster.server().run(Map.of(), List.of("sh", "-c", command)).output();

        assertTrue(found.contains("/api/v1/namespaces/shop/pods"), found);
    }

    @Test
    void kubectl_gets_tokens_by_the_client() throws Exception {
        bindSecret();
        String user =
                Documented.yaml("clients.md").stream()
                        .filter(block -> block.contains("exec-credential"))
                        .findFirst()
                        .orElseThrow()
                        .replace("[get, kube,", "[get, cluster,");
        String exec = user.substring(user.indexOf("exec:")).replace("\n  ", "\n      ");
        Path file =
                Path.of(cluster.server().file("client.yaml", cluster.server().kubeconfig(exec)));
        Map<String, String> environment =
                Map.of(
                        "KUBECONFIG",
                        file.toString(),
                        "PATH",
                        Path.of("src/clients").toAbsolutePath() + ":" + System.getenv("PATH"),
                        "XDG_CACHE_HOME",
                        file.resolveSibling("cache").toString(),
                        "MINTMARK_URL",
                        cluster.world().broker().url().toString(),
                        "MINTMARK_TOKEN",
                        cluster.world().token());

        String whoami =
                cluster.server().run(environment, List.of("kubectl", "auth", "whoami")).output();

        assertTrue(whoami.contains("system:serviceaccount:shop:deployer"), whoami);
    }

    @Test
    void a_kubeconfig_works_as_it_is() throws Exception {
        bindSecret();
        cluster.world()
                .admin(
                        """
                        UPDATE broker.key SET outputs = '{"KUBECONFIG_DATA": "Kubeconfig"}'
                         WHERE tenant = 'acme' AND name = 'cluster'
                        """);
        try {
            String config = minted("cluster").at("/credentials/cluster/KUBECONFIG_DATA");
            String file = cluster.server().file("given.yaml", config);
            Ran pods =
                    cluster.server()
                            .run(Map.of("KUBECONFIG", file), List.of("kubectl", "get", "pods"));
            assertEquals(0, pods.status(), pods.said());
        } finally {
            cluster.world()
                    .admin(
                            "UPDATE broker.key SET outputs = '{}' WHERE tenant = 'acme' AND name = 'cluster'");
        }
    }

    /** After which a test may use the recipe's key. */
    private static void bindSecret() {
        if (cluster.server().kubectl("get", "secret", "mintmark-deployer", "-n", "shop").status()
                != 0) {
            cluster.server()
                    .kubectl("create", "secret", "generic", "mintmark-deployer", "-n", "shop")
                    .output();
        }
    }

    @Test
    void deleting_the_bound_secret_ends_all_tokens_for_good() {
        bindSecret();
        String token = minted("cluster").at("/credentials/cluster/KUBE_TOKEN");
        assertEquals(0, cluster.server().kubectlWith(token, "get", "pods").status());

        cluster.server().kubectl("delete", "secret", "mintmark-deployer", "-n", "shop").output();

        Eventually.holds(() -> isUnauthorized(token));
        bindSecret();
        assertTrue(isUnauthorized(token));
        String next = minted("cluster").at("/credentials/cluster/KUBE_TOKEN");
        assertEquals(0, cluster.server().kubectlWith(next, "get", "pods").status());
    }

    private static boolean isUnauthorized(String token) {
        Ran ran = cluster.server().kubectlWith(token, "get", "pods");
        return ran.status() != 0 && ran.said().contains("Unauthorized");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    elsewhere  | broker_identity_rejected | Unauthorized (HTTP 401)
                    unbound    | provider_rejected        | cannot create resource "serviceaccounts/token"
                    gone       | provider_misconfigured   | serviceaccounts "gone" not found (HTTP 404)
                    secretless | provider_misconfigured   | "missing" not found (HTTP 404)
                    """)
    void a_refusal_has_its_reason_and_is_on_record(String key, String reason, String told) {
        assertEquals(reason, mint(key).at("/details/reason"));
        assertOnRecord(key, reason, told);
    }

    private static void assertOnRecord(String key, String reason, String told) {
        String row =
                cluster.world()
                        .database()
                        .column(
                                """
                                SELECT concat_ws(' ', kind, reason, detail) FROM audit.event
                                 WHERE key = '%s' AND step = 2 ORDER BY mint_id DESC LIMIT 1
                                """
                                        .formatted(key))
                        .getFirst();
        assertTrue(row.startsWith("failed " + reason), row);
        assertTrue(row.contains(told), row);
    }

    @Test
    void a_tenant_that_the_cluster_does_not_name_is_refused() {
        Answer answer =
                cluster.world()
                        .broker()
                        .mint(
                                cluster.world().issuer().sign(World.SUBJECT, "mintmark-other"),
                                "cluster");

        assertEquals("broker_identity_rejected", answer.at("/details/reason"));
    }

    @Test
    void a_lifetime_that_the_server_would_make_a_year_is_not_asked_for() throws Exception {
        Instant end = Instant.parse(minted("odd").at("/expiresAt"));

        long seconds = Duration.between(Instant.now(), end).toSeconds();
        assertTrue(seconds > 3560 && seconds <= 3606, () -> seconds + " s");
    }

    @Test
    void priority_and_fairness_throttles() throws Exception {
        bindSecret();
        String token = minted("cluster").at("/credentials/cluster/KUBE_TOKEN");
        String jail = cluster.server().file("jail.yaml", JAIL);
        cluster.server().kubectl("apply", "-f", jail).output();
        try {
            Eventually.holds(() -> {
                try (Socket _ = takeTheSeat(token)) {
                    return isTheSeatTaken()
                            && "provider_throttled".equals(mint("odd").at("/details/reason"));
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            assertOnRecord("odd", "provider_throttled", "(HTTP 429)");
        } finally {
            cluster.server().kubectl("delete", "-f", jail).output();
        }
        minted("odd");
    }

    /** A request that the server works on until it has its body, which never comes. */
    private static Socket takeTheSeat(String token) throws Exception {
        Socket socket = cluster.connect();
        socket.getOutputStream()
                .write(
                        """
                        POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1
                        Host: localhost
                        Authorization: Bearer %s
                        Content-Type: application/json
                        Content-Length: 100

                        """
                                .replace("\n", "\r\n")
                                .formatted(token)
                                .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static boolean isTheSeatTaken() {
        return cluster.server()
                .kubectl(
                        "get",
                        "--raw",
                        "/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1")
                .output()
                .lines()
                .anyMatch(line -> line.startsWith("jail,") && line.contains("selfsubjectreviews"));
    }

    /** No seat beyond the one that a level without requests always has. */
    private static final String JAIL =
            """
            apiVersion: flowcontrol.apiserver.k8s.io/v1
            kind: PriorityLevelConfiguration
            metadata: {name: jail}
            spec:
              type: Limited
              limited: {nominalConcurrencyShares: 0, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse: {type: Reject}}
            ---
            apiVersion: flowcontrol.apiserver.k8s.io/v1
            kind: FlowSchema
            metadata: {name: jail}
            spec:
              priorityLevelConfiguration: {name: jail}
              matchingPrecedence: 2
              rules:
                - subjects:
                    - {kind: User, user: {name: "mintmark:tenant:acme:key:odd"}}
                    - {kind: ServiceAccount, serviceAccount: {name: deployer, namespace: shop}}
                  resourceRules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true}]
            """;

    @Test
    void a_service_accounts_token_serves_where_the_broker_is_not_trusted() throws Exception {
        cluster.server()
                .shell(
                        """
                        kubectl create serviceaccount mintmark -n shop
                        kubectl create rolebinding by-token -n shop --role=mintmark --serviceaccount=shop:mintmark
                        """);
        String own =
                cluster.server()
                        .kubectl("create", "token", "mintmark", "-n", "shop", "--duration=1h")
                        .output();
        cluster.secret("kubernetes-token", own);
        cluster.world()
                .admin(
                        """
                        INSERT INTO broker.access_provider (tenant, name, type, settings)
                        VALUES ('acme', 'by-token', 'kubernetes',
                                '{%s, "auth": "token", "token": {"file": "kubernetes-token"}}');
                        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                        VALUES ('acme', 'by-token', 'by-token', 600, '{"service_account": "shop/deployer"}');
                        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                        VALUES ('acme', 'ci', '%s', 'by-token');
                        """
                                .formatted(cluster.settings(), World.SUBJECT));

        Eventually.holds(() -> mint("by-token").status() == 200);
        String token = minted("by-token").at("/credentials/by-token/KUBE_TOKEN");

        assertNotEquals(own.strip(), token);
        assertEquals(0, cluster.server().kubectlWith(token, "get", "pods").status());
    }
}
