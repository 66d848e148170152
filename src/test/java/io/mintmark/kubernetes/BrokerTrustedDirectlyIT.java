package io.mintmark.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.World;
import io.mintmark.kubernetes.KubeApiServer.Ran;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

/** Keys of type {@code jwt} at a kube-apiserver that trusts the broker; docs/providers/jwt.md. */
class BrokerTrustedDirectlyIT {
    @AutoClose private static TrustedCluster cluster;

    @BeforeAll
    static void start(@TempDir Path work) throws Exception {
        cluster = new TrustedCluster(work);
        cluster.server()
                .shell(
                        """
                        kubectl create role pods -n shop --verb=list --resource=pods
                        kubectl create rolebinding pods -n shop --role=pods --user=mintmark:ci:main
                        """);
        cluster.world()
                .admin(
                        """
                        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                        VALUES ('acme', 'kube', 'own', 600, '{"audience": "https://kubernetes.acme.example"}');
                        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                        VALUES ('acme', 'ci', '%s', 'kube');
                        """
                                .formatted(World.SUBJECT));
    }

    private static String token(String key) {
        Answer answer = cluster.mint(key);
        return answer.at("/credentials/%s/ACCESS_TOKEN".formatted(key));
    }

    @Test
    void a_token_works_under_the_clients_subject_and_every_request_names_the_mint()
            throws Exception {
        String token = token("kube");

        Ran whoami = cluster.server().kubectlWith(token, "auth", "whoami", "-o", "json");
        Ran pods = cluster.server().kubectlWith(token, "get", "pods");

        assertTrue(whoami.output().contains("\"mintmark:ci:main\""), whoami::said);
        assertEquals(0, pods.status(), pods.said());
        String mintId =
                cluster.world()
                        .value(
                                "SELECT mint_id FROM audit.mint WHERE key = 'kube' ORDER BY mint_id DESC LIMIT 1");
        assertEquals(
                2,
                cluster.server().audited("\"JTI=" + mintId).stream()
                        .filter(line ->
                                line.contains("ResponseComplete")
                                        && (line.contains("selfsubjectreviews")
                                                || line.contains("/namespaces/shop/pods")))
                        .count());
    }

    @Test
    void a_subject_without_a_binding_may_do_nothing() {
        Ran secrets = cluster.server().kubectlWith(token("kube"), "get", "secrets");

        assertTrue(secrets.said().contains("Forbidden"), secrets.said());
    }

    @Test
    void a_token_for_another_audience_is_refused() {
        Ran pods = cluster.server().kubectlWith(token("api"), "get", "pods");

        assertTrue(pods.said().contains("Unauthorized"), pods.said());
    }
}
