package io.mintmark.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Authority;
import io.mintmark.kubernetes.KubeApiServer.Ran;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What helm and kustomize make of k8s/, as {@code .ci/kustomize} and {@code .ci/helm} left it in
 * target/, at a real kube-apiserver. Nothing runs there: it has no nodes and no controllers.
 */
@TestMethodOrder(OrderAnnotation.class)
class InstalledChartIT {
    private static final Path TARGET = Path.of("target").toAbsolutePath();

    @AutoClose private static KubeApiServer server;

    /** The namespace admits restricted pods only, and warns of workloads with others. */
    @BeforeAll
    static void start(@TempDir Path work) throws Exception {
        server = new KubeApiServer(work, new Authority(), KubeApiServer.STOCK_ISSUER, "");
        server.kubectl(
                        "apply",
                        "--server-side",
                        "-f",
                        TARGET.resolve("kustomize/standard").toString())
                .output();
        server.kubectl("wait", "--for", "condition=established", "crd", "--all").output();
        server.shell(
                """
                kubectl create namespace mintmark
                kubectl label namespace mintmark pod-security.kubernetes.io/enforce=restricted \
                    pod-security.kubernetes.io/warn=restricted
                """);
    }

    private static Ran helm(String... arguments) {
        List<String> line = new ArrayList<>(List.of(System.getProperty("helm", "helm")));
        line.addAll(List.of(arguments));
        line.addAll(List.of("--namespace", "mintmark"));
        return server.asAdmin(line);
    }

    /** Unknown fields are errors, and the server's warnings are in the output. */
    @ParameterizedTest
    @Order(1)
    @ValueSource(
            strings = {
                "helm/example",
                "helm/least",
                "helm/most",
                "kustomize/example",
                "kustomize/migration"
            })
    void the_server_takes_each_object(String name) {
        Ran ran =
                server.kubectl(
                        "apply",
                        "--server-side",
                        "--dry-run=server",
                        "--validate=strict",
                        "--namespace=mintmark",
                        "-f",
                        TARGET.resolve(name + ".yaml").toString());

        assertFalse(ran.output().contains("Warning"), ran.said());
        assertTrue(
                ran.said().contains("deployment.apps/mintmark serverside-applied")
                        || name.endsWith("migration"),
                ran.said());
    }

    /** Hooks would wait for a job, which nothing runs. */
    @Test
    @Order(2)
    void helm_installs_and_upgrades_a_release() {
        String chart = TARGET.resolve("helm/mintmark-0.1.0.tgz").toString();
        String values = Path.of("k8s/chart/example.yaml").toAbsolutePath().toString();

        Ran installed = helm("install", "mintmark", chart, "--values", values, "--no-hooks");
        Ran upgraded =
                helm(
                        "upgrade",
                        "mintmark",
                        chart,
                        "--values",
                        values,
                        "--no-hooks",
                        "--set",
                        "autoscaling.enabled=false,broker.replicas=3");

        assertTrue(installed.output().contains("STATUS: deployed"), installed.said());
        assertTrue(upgraded.output().contains("REVISION: 2"), upgraded.said());
        assertEquals("3", field("deployment/mintmark", "{.spec.replicas}"));
        assertEquals("", server.kubectl("get", "hpa", "-n", "mintmark", "-o", "name").output());
    }

    private static String field(String object, String path) {
        return server.kubectl("get", object, "-n", "mintmark", "-o", "jsonpath=" + path).output();
    }

    /** A workload is stored whatever its pods are; only they are refused. */
    @ParameterizedTest
    @Order(3)
    @ValueSource(
            strings = {
                "deployment/mintmark",
                "deployment/mintmark-console",
                "statefulset/mintmark-export"
            })
    void the_pods_of_the_release_are_admitted_where_only_restricted_ones_are(String workload) {
        Ran admitted = pod(workload, ".");
        Ran refused = pod(workload, "del(.spec.securityContext)");

        assertTrue(admitted.output().contains("pod/one created (server dry run)"), admitted.said());
        assertTrue(refused.said().contains("violates PodSecurity"), refused.said());
    }

    /** Creates a workload's pod, as its controller would, after a change. */
    private static Ran pod(String workload, String change) {
        return server.asAdmin(
                List.of(
                        "sh",
                        "-euc",
                        """
                        kubectl get "$1" -n mintmark -o json |
                            jq '.spec | (.volumeClaimTemplates // []) as $claims
                                | {apiVersion: "v1", kind: "Pod", metadata: {name: "one", namespace: "mintmark"},
                                   spec: .template.spec}
                                | .spec.volumes += [$claims[] | {name: .metadata.name, emptyDir: {}}]' |
                            jq "$2" | kubectl create --dry-run=server -f -
                        """,
                        "sh",
                        workload,
                        change));
    }
}
