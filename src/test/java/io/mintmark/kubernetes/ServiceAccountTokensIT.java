package io.mintmark.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.credential.CredentialType.LoggedMint;
import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Documented;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;
import io.mintmark.kubernetes.KubeApiServer.Ran;
import io.mintmark.provider.kubernetes.KubernetesType;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Type {@code kubernetes} at a real kube-apiserver, set up by the page and the recipe. */
class ServiceAccountTokensIT {
    @AutoClose private static TrustedCluster cluster;

    @BeforeAll
    static void start(@TempDir Path work) throws Exception {
        cluster = new TrustedCluster(work);
        cluster.serviceAccounts();
        cluster.server()
                .shell(
                        "kubectl create rolebinding odd -n shop --role=mintmark"
                                + " --user=mintmark:tenant:acme:key:odd");
        cluster.world()
                .admin(
                        """
                        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                        VALUES ('acme', 'odd', 'kubernetes', 3607, '{"service_account": "shop/deployer"}');
                        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                        VALUES ('acme', 'ci', '%1$s', 'cluster'), ('acme', 'ci', '%1$s', 'odd');
                        """
                                .formatted(World.SUBJECT));
    }

    @Test
    void a_token_works_as_its_service_account_and_both_logs_name_it() throws Exception {
        bindSecret();
        Answer answer = cluster.minted("cluster");
        String token = answer.at("/credentials/cluster/KUBE_TOKEN");

        Ran whoami = cluster.server().kubectlWith(token, "auth", "whoami", "-o", "json");
        Ran pods = cluster.server().kubectlWith(token, "get", "pods");

        assertTrue(
                whoami.output().contains("\"system:serviceaccount:shop:deployer\""), whoami::said);
        assertEquals(0, pods.status(), pods.said());
        List<String> issued =
                cluster.world()
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
            String config = cluster.minted("cluster").at("/credentials/cluster/KUBECONFIG_DATA");
            String file = cluster.server().file("given.yaml", config);
            Ran pods =
                    cluster.server()
                            .run(Map.of("KUBECONFIG", file), List.of("kubectl", "get", "pods"));
            assertEquals(0, pods.status(), pods.said());
        } finally {
            cluster.world()
                    .admin(
                            "UPDATE broker.key SET outputs = '{}' WHERE tenant = 'acme' AND name ="
                                    + " 'cluster'");
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
        String token = cluster.minted("cluster").at("/credentials/cluster/KUBE_TOKEN");
        assertEquals(0, cluster.server().kubectlWith(token, "get", "pods").status());

        cluster.server().kubectl("delete", "secret", "mintmark-deployer", "-n", "shop").output();

        Eventually.holds(() -> isUnauthorized(token));
        bindSecret();
        assertTrue(isUnauthorized(token));
        String next = cluster.minted("cluster").at("/credentials/cluster/KUBE_TOKEN");
        assertEquals(0, cluster.server().kubectlWith(next, "get", "pods").status());
    }

    private static boolean isUnauthorized(String token) {
        Ran ran = cluster.server().kubectlWith(token, "get", "pods");
        return ran.status() != 0 && ran.said().contains("Unauthorized");
    }

    @Test
    void a_lifetime_that_the_server_would_make_a_year_is_not_asked_for() throws Exception {
        Instant end = Instant.parse(cluster.minted("odd").at("/expiresAt"));

        long seconds = Duration.between(Instant.now(), end).toSeconds();
        assertTrue(seconds > 3560 && seconds <= 3606, () -> seconds + " s");
    }

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

        Eventually.holds(() -> cluster.mint("by-token").status() == 200);
        String token = cluster.minted("by-token").at("/credentials/by-token/KUBE_TOKEN");

        assertNotEquals(own.strip(), token);
        assertEquals(0, cluster.server().kubectlWith(token, "get", "pods").status());
    }
}
