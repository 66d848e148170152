package io.mintmark.deployment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/** What helm makes of k8s/chart, as {@code .ci/helm} leaves it beside what kustomize made. */
class HelmedIT {
    private static final Path HELM = Path.of("target", "helm");
    private static final Path KUSTOMIZE = Path.of("target", "kustomize");
    private static final String REPLICAS = "Deployment mintmark";
    private static final String CONSOLE = "Deployment mintmark-console";
    private static final String POLICY = "NetworkPolicy mintmark";

    /** The objects of files by kind and name. */
    private static Map<String, JsonNode> objects(Path... files) throws IOException {
        Map<String, JsonNode> objects = new TreeMap<>();
        for (Path file : files) {
            // kustomize puts a hash of its content behind a config map's name
            String text = Files.readString(file).replaceAll("(-settings)-[a-z0-9]{10}\\b", "$1");
            for (JsonNode object : Manifests.all(text)) {
                String kind = object.path("kind").asText();
                String name = object.at("/metadata/name").asText();
                assertEquals(name, Manifests.read(object).getMetadata().getName());
                objects.put(kind + " " + name, object);
            }
        }
        return objects;
    }

    private static Map<String, JsonNode> helmed(String values) throws IOException {
        return objects(HELM.resolve(values + ".yaml"));
    }

    private static JsonNode the(Map<String, JsonNode> objects, String name) {
        return Objects.requireNonNull(objects.get(name), name);
    }

    private static JsonNode container(JsonNode workload) {
        return workload.at("/spec/template/spec/containers/0");
    }

    /** Without what only one of the tools adds. */
    private static JsonNode plain(JsonNode object) {
        ((ObjectNode) object.path("metadata")).remove(List.of("namespace", "annotations"));
        if (object.at("/spec/template/metadata") instanceof ObjectNode pod) {
            pod.remove("annotations");
        }
        if (object.path("kind").asText().equals("Job")) {
            ((ObjectNode) container(object)).remove(List.of("env", "envFrom"));
        }
        return object;
    }

    @Test
    void the_chart_and_kustomize_make_the_same_objects_for_the_same_site() throws IOException {
        Map<String, JsonNode> helmed = helmed("example");
        Map<String, JsonNode> kustomized =
                objects(KUSTOMIZE.resolve("example.yaml"), KUSTOMIZE.resolve("migration.yaml"));
        kustomized.remove("Gateway mintmark"); // the chart names one that exists
        helmed.keySet().removeIf(name -> name.endsWith(" mintmark-test")); // of helm test

        assertEquals(kustomized.keySet(), helmed.keySet());
        kustomized.forEach(
                (name, object) -> assertEquals(plain(object), plain(the(helmed, name)), name));
    }

    @Test
    void without_more_than_required_values_there_are_the_replicas_and_the_migration()
            throws IOException {
        Map<String, JsonNode> least = helmed("least");

        assertEquals(
                Set.of(
                        "ConfigMap mintmark-settings",
                        "NetworkPolicy mintmark-test",
                        "Pod mintmark-test",
                        REPLICAS,
                        "Job mintmark-migration",
                        POLICY,
                        "NetworkPolicy mintmark-migration",
                        "PodDisruptionBudget mintmark",
                        "Service mintmark",
                        "ServiceAccount mintmark",
                        "ServiceAccount mintmark-migration"),
                least.keySet());
        assertEquals(
                "registry.example.com/mintmark:0.1.0",
                container(the(least, REPLICAS)).path("image").asText());
    }

    /** Hooks run before other objects exist, and the schema before the replicas. */
    @Test
    void the_migration_is_a_hook_that_needs_no_other_object() throws IOException {
        Map<String, JsonNode> least = helmed("least");
        least.forEach((name, object) -> {
            JsonNode hook = object.at("/metadata/annotations/helm.sh~1hook");
            String expected =
                    name.contains("migration")
                            ? "pre-install,pre-upgrade"
                            : name.contains("test") ? "test" : "";
            assertEquals(expected, hook.asText(), name);
        });
        JsonNode job = container(the(least, "Job mintmark-migration"));

        assertTrue(job.path("envFrom").isMissingNode());
        assertEquals(
                "jdbc:postgresql://db.example.com/mintmark", variables(job).get("DATABASE_URL"));
        assertEquals("mintmark_migrator", variables(job).get("DATABASE_USERNAME"));
    }

    private static Map<String, String> variables(JsonNode container) {
        Map<String, String> variables = new TreeMap<>();
        container
                .path("env")
                .forEach(it -> variables.put(it.path("name").asText(), it.path("value").asText()));
        return variables;
    }

    private static List<String> texts(JsonNode objects, String pointer) {
        List<String> texts = new ArrayList<>();
        objects.forEach(it -> {
            if (!it.at(pointer).isMissingNode()) {
                texts.add(it.at(pointer).asText());
            }
        });
        return texts;
    }

    @Test
    void tls_and_tenants_secrets_are_mounted_and_their_settings_set() throws IOException {
        Map<String, JsonNode> most = helmed("most");
        JsonNode replica = container(the(most, REPLICAS));
        Map<String, String> variables = variables(replica);

        assertEquals("/secrets/tls/tls.crt", variables.get("SERVER_TLS_CERTIFICATE_FILE"));
        assertEquals("/secrets/tls/tls.key", variables.get("SERVER_TLS_KEY_FILE"));
        assertEquals("/secrets/tenants", variables.get("SECRETS_DIR"));
        assertTrue(
                texts(replica.path("volumeMounts"), "/mountPath")
                        .containsAll(List.of("/secrets/tls", "/secrets/tenants", "/database-ca")));
        JsonNode volumes = the(most, REPLICAS).at("/spec/template/spec/volumes");
        List<String> paths = new ArrayList<>();
        volumes.findValues("sources")
                .forEach(sources ->
                        sources.forEach(source ->
                                paths.addAll(texts(source.at("/secret/items"), "/path"))));
        assertEquals(List.of("acme/github-app.pem", "acme/ca.pem", "umbrella/ca.pem"), paths);
        assertTrue(texts(volumes, "/secret/secretName").contains("broker-tls"));
        JsonNode console = container(the(most, CONSOLE));
        assertEquals("/secrets/tls/tls.key", variables(console).get("CONSOLE_TLS_KEY_FILE"));
        for (String probe : List.of("startupProbe", "readinessProbe", "livenessProbe")) {
            // which has no certificate
            assertEquals("admin", console.path(probe).at("/httpGet/port").asText());
            assertTrue(console.path(probe).at("/httpGet/scheme").isMissingNode());
        }
    }

    @Test
    void policies_let_in_the_gateways_namespace_and_out_what_is_listed() throws IOException {
        Map<String, JsonNode> most = helmed("most");
        JsonNode spec = the(most, POLICY).path("spec");
        String namespace = "/from/0/namespaceSelector/matchLabels/kubernetes.io~1metadata.name";

        assertEquals(List.of("ingress", "observability"), texts(spec.path("ingress"), namespace));
        assertEquals(
                List.of("53", "6432", "443", "8443"), texts(spec.path("egress"), "/ports/0/port"));
        assertEquals(
                List.of("203.0.113.0/24", "198.51.100.7/32"),
                texts(spec.at("/egress/2/to"), "/ipBlock/cidr"));
        assertEquals(
                List.of("53", "6432", "443"),
                texts(
                        the(most, "NetworkPolicy mintmark-console").at("/spec/egress"),
                        "/ports/0/port"));
        for (String alone : List.of("mintmark-migration", "mintmark-export")) {
            JsonNode egress = the(most, "NetworkPolicy " + alone).at("/spec/egress");
            assertEquals(List.of("53", "6432"), texts(egress, "/ports/0/port"), alone);
        }
    }

    @Test
    void changed_settings_restart_the_replicas_and_so_do_secrets_that_arent_reread()
            throws IOException {
        JsonNode before = the(helmed("example"), REPLICAS);
        JsonNode after = the(helmed("most"), REPLICAS);
        String checksum = "/spec/template/metadata/annotations/checksum~1settings";

        assertFalse(before.at(checksum).isMissingNode());
        assertNotEquals(before.at(checksum), after.at(checksum));
        String reload = "/metadata/annotations/secret.reloader.stakater.com~1reload";
        assertEquals("mintmark-audit-key", after.at(reload).asText());
        assertEquals("mintmark-console", the(helmed("most"), CONSOLE).at(reload).asText());
        assertTrue(before.at(reload).isMissingNode());
    }

    @Test
    void other_values_reach_what_they_name() throws IOException {
        Map<String, JsonNode> most = helmed("most");

        assertEquals(3, the(most, REPLICAS).at("/spec/replicas").asInt());
        assertEquals(
                "registry.example.com/platform/mintmark:0.2.0",
                container(the(most, REPLICAS)).path("image").asText());
        JsonNode settings = the(most, "ConfigMap mintmark-settings").path("data");
        assertEquals("10.42.7.0/28,10.42.8.0/28", settings.path("TRUSTED_PROXIES").asText());
        assertEquals("1000", settings.path("RATE_LIMIT_REQUESTS").textValue());
        assertEquals("https://issuer.example.com", settings.path("BROKER_ISSUER").asText());
        the(most, "PrometheusRule mintmark")
                .findValuesAsText("runbook_url")
                .forEach(url ->
                        assertTrue(
                                url.startsWith("https://git.example.com/mintmark/docs/monitoring/"),
                                url));
        JsonNode claim =
                the(most, "StatefulSet mintmark-export").at("/spec/volumeClaimTemplates/0/spec");
        assertEquals("5Gi", claim.at("/resources/requests/storage").asText());
        assertEquals("encrypted", claim.path("storageClassName").asText());
    }

    @Test
    void pods_run_where_the_values_say_with_their_resources_and_options() throws IOException {
        Map<String, JsonNode> most = helmed("most");
        JsonNode replica = container(the(most, REPLICAS));

        assertEquals("1", replica.at("/resources/requests/cpu").asText());
        assertEquals("512Mi", replica.at("/resources/requests/memory").asText(), "as in k8s/base");
        assertEquals("1Gi", replica.at("/resources/limits/memory").asText());
        assertEquals("-Xmx600m", variables(replica).get("JAVA_OPTS"));
        assertEquals(300, replica.at("/startupProbe/failureThreshold").asInt());
        assertEquals(1, replica.at("/startupProbe/periodSeconds").asInt(), "as in k8s/base");
        for (String workload :
                List.of(
                        REPLICAS,
                        CONSOLE,
                        "Job mintmark-migration",
                        "StatefulSet mintmark-export")) {
            JsonNode template = the(most, workload).at("/spec/template");
            assertEquals(
                    "platform",
                    template.at("/metadata/annotations/example.com~1team").asText(),
                    workload);
            assertEquals(
                    "apps", template.at("/spec/nodeSelector/example.com~1pool").asText(), workload);
            assertEquals(1, template.at("/spec/tolerations").size(), workload);
            assertFalse(template.at("/spec/affinity/nodeAffinity").isMissingNode(), workload);
            assertEquals("platform", template.at("/spec/priorityClassName").asText(), workload);
        }
        JsonNode scaled = the(helmed("example"), "HorizontalPodAutoscaler mintmark").path("spec");
        assertEquals(6, scaled.path("maxReplicas").asInt());
    }

    /** The service must not send it requests, and it may connect where replicas may. */
    @Test
    void helm_test_checks_a_replicas_settings_beside_the_service() throws IOException {
        Map<String, JsonNode> most = helmed("most");
        JsonNode pod = the(most, "Pod mintmark-test");
        JsonNode check = pod.at("/spec/containers/0");

        assertEquals("[\"check\"]", check.path("args").toString());
        assertTrue(check.path("readinessProbe").isMissingNode());
        assertEquals("Never", pod.at("/spec/restartPolicy").asText());
        assertEquals("mintmark-settings", check.at("/envFrom/0/configMapRef/name").asText());
        assertEquals("/secrets/tenants", variables(check).get("SECRETS_DIR"));
        assertEquals("/secrets/tls/tls.crt", variables(check).get("SERVER_TLS_CERTIFICATE_FILE"));
        String label = pod.at("/metadata/labels/app.kubernetes.io~1name").asText();
        assertEquals("mintmark-test", label);
        assertNotEquals(
                label,
                the(most, "Service mintmark")
                        .at("/spec/selector/app.kubernetes.io~1name")
                        .asText());
        assertEquals(
                the(most, POLICY).at("/spec/egress"),
                the(most, "NetworkPolicy mintmark-test").at("/spec/egress"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "broker.replica=3             | replica",
                "autoscaling.enabled=perhaps  | boolean",
                "settings.log_level=debug     | log_level",
                "image.digest=sha256:12       | sha256:",
                "image.repository=            | image.repository is required",
                "broker.url=                  | broker.url is required",
                "database.url=                | database.url is required",
                "database.cidrs=null          | database.cidrs is required",
                "egress[0].for=github         | the entry for \"github\" needs cidrs or to",
                "console.enabled=true         | console.url is required",
                "gateway.parent.name=public   | gateway.brokerHost",
                "tenantSecrets.acme.name=acme | tenantSecrets.acme.files is required",
            })
    void a_missing_or_wrong_value_is_named(String set, String message) throws Exception {
        Process helm =
                new ProcessBuilder(
                                System.getProperty("helm", "helm"),
                                "template",
                                HELM.resolve("mintmark-0.1.0.tgz").toString(),
                                "--kube-version=1.30.0",
                                "--values=src/test/resources/helm/least.yaml",
                                "--set=" + set)
                        .redirectErrorStream(true)
                        .start();
        String said = new String(helm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertNotEquals(0, helm.waitFor(), said);
        assertTrue(said.contains(message), said);
    }
}
