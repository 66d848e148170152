package io.mintmark.deployment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.json.JsonMapper;

import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.mintmark.base.config.Cidr;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The files of k8s/: by Kubernetes' own schemas, complete, and as its README describes them. */
class ManifestFilesTest {
    /** Not every cluster has what these need; .ci/kustomize builds the example with them. */
    private static final Set<Path> OPTIONAL =
            Set.of(
                    Manifests.FOLDER.resolve("external-secrets"),
                    Manifests.FOLDER.resolve("retries"));

    static List<Path> files() {
        return Manifests.files(Manifests.FOLDER);
    }

    static List<Path> kustomizations() {
        return Manifests.kustomizations();
    }

    private static Set<String> names(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @ParameterizedTest
    @MethodSource("files")
    void every_field_is_one_that_kubernetes_knows(Path file) {
        assertFalse(Manifests.read(Manifests.text(file)).getMetadata().getName().isEmpty());
    }

    @ParameterizedTest
    @CsvSource({
        "base/deployment.yaml, readOnlyRootFilesystem, readonlyRootFilesystem",
        "base/deployment.yaml, matchLabelKeys, matchLabelKey",
        "base/deployment.yaml, terminationGracePeriodSeconds, terminationGraceSeconds",
        "base/network-policy.yaml, policyTypes, policyType",
        "base/disruption-budget.yaml, maxUnavailable, maxUnavailible",
        "autoscaling/autoscaler.yaml, averageUtilization, averageUse",
        "migration/job.yaml, backoffLimit, backOffLimit",
        "example/broker-route.yaml, backendRefs, backendReferences",
        "example/gateway.yaml, certificateRefs, certificates",
        "monitors/monitor.yaml, endpoints, endpoint",
        "monitors/rules.yaml, labels, label",
        "priority/priority-class.yaml, preemptionPolicy, preemption",
    })
    void a_misspelt_field_is_found(String file, String field, String misspelt) {
        String text = Manifests.text(Manifests.FOLDER.resolve(file));
        String wrong = text.replace(field + ":", misspelt + ":");

        assertFalse(wrong.equals(text));
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> Manifests.read(wrong));
        assertTrue(refused.toString().contains(misspelt), refused.toString());
    }

    @ParameterizedTest
    @MethodSource("kustomizations")
    void what_a_kustomization_names_exists_and_nothing_beside_it_is_forgotten(Path folder)
            throws IOException {
        List<String> named = Manifests.kustomization(folder).named();

        for (String name : named) {
            Path path = folder.resolve(name);
            assertTrue(
                    Files.isRegularFile(path)
                            || Files.exists(path.resolve(Manifests.KUSTOMIZATION)),
                    folder + ": " + name);
        }
        Set<String> files = new TreeSet<>(named);
        files.removeIf(name -> Files.isDirectory(folder.resolve(name)));
        assertEquals(files, filesBeside(folder));
    }

    private static Set<String> filesBeside(Path folder) throws IOException {
        try (Stream<Path> beside = Files.list(folder)) {
            return beside.filter(Files::isRegularFile)
                    .map(file -> folder.relativize(file).toString())
                    .filter(name -> !name.equals(Manifests.KUSTOMIZATION))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    @Test
    void every_folder_but_the_optional_ones_is_used_by_the_example() {
        Set<Path> used = new TreeSet<>(OPTIONAL);
        used.add(Manifests.FOLDER.resolve("example"));
        used.add(Manifests.FOLDER.resolve("example").resolve("migration"));
        for (int deeper = 0; deeper < 3; deeper++) {
            for (Path folder : List.copyOf(used)) {
                Manifests.kustomization(folder).named().stream()
                        .map(name -> folder.resolve(name).normalize())
                        .filter(Files::isDirectory)
                        .forEach(used::add);
            }
        }

        assertEquals(new TreeSet<>(kustomizations()), used);
    }

    @Test
    void secrets_and_settings_that_pods_expect_are_documented_or_made() throws IOException {
        String page = Files.readString(Manifests.FOLDER.resolve("README.md"));
        Set<String> made =
                kustomizations().stream()
                        .flatMap(folder -> Manifests.kustomization(folder).generated().stream())
                        .map(Manifests.Generated::name)
                        .collect(Collectors.toSet());
        for (Path file : files()) {
            String text = Manifests.text(file);
            for (String secret : names(Pattern.compile("secretName: (\\S+?)}?\\n"), text)) {
                assertTrue(page.contains("`" + secret + "`"), secret);
            }
            for (String map : names(Pattern.compile("configMapRef: \\{name: (\\S+)}"), text)) {
                assertTrue(made.contains(map) && page.contains("`" + map + "`"), map);
            }
        }
    }

    @Test
    void every_variable_is_a_setting() throws IOException {
        String settings = Files.readString(Path.of("docs/settings.md"));
        Set<String> variables =
                KubernetesTest.containers()
                        .flatMap(container -> container.getEnv().stream())
                        .map(EnvVar::getName)
                        .collect(Collectors.toCollection(TreeSet::new));
        for (Path folder : kustomizations()) {
            Manifests.kustomization(folder).generated().stream()
                    .flatMap(made -> made.settings().stream())
                    .forEach(literal -> variables.add(literal.substring(0, literal.indexOf('='))));
        }

        assertFalse(variables.isEmpty());
        variables.removeIf(variable -> settings.contains("| `" + variable + "` |"));
        assertEquals(Set.of(), variables);
    }

    /** The pods' network, say, would let every pod name any address as its client's. */
    @Test
    void the_example_trusts_no_proxy_until_the_site_names_it() {
        String setting = "TRUSTED_PROXIES=";
        List<String> values =
                kustomizations().stream()
                        .flatMap(folder -> Manifests.kustomization(folder).generated().stream())
                        .flatMap(made -> made.settings().stream())
                        .filter(literal -> literal.startsWith(setting))
                        .map(literal -> literal.substring(setting.length()))
                        .toList();

        assertEquals(1, values.size());
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> Cidr.parse(values.getFirst()));
        assertTrue(String.valueOf(refused.getMessage()).contains("address"), refused::toString);
    }

    /** Its operator makes what the pods mount, with the owner's login left to the migration. */
    @Test
    void external_secrets_are_the_ones_that_all_but_the_migration_mount() {
        Set<String> mounted =
                Stream.concat(
                                Manifests.all(Deployment.class).stream()
                                        .map(it -> it.getSpec().getTemplate()),
                                Manifests.all(StatefulSet.class).stream()
                                        .map(it -> it.getSpec().getTemplate()))
                        .flatMap(it -> it.getSpec().getVolumes().stream())
                        .filter(volume -> volume.getSecret() != null)
                        .map(volume -> volume.getSecret().getSecretName())
                        .collect(Collectors.toSet());

        assertEquals(
                mounted,
                Manifests.all(GenericKubernetesResource.class).stream()
                        .map(secret -> secret.getMetadata().getName())
                        .collect(Collectors.toSet()));
    }

    @Test
    void the_charts_values_are_documented_and_its_version_is_the_programs() throws IOException {
        String page = Files.readString(Path.of("docs/run/helm.md"));
        Map<String, Object> values =
                new Yaml().load(Manifests.text(Manifests.CHART.resolve("values.yaml")));
        Set<String> undocumented = new TreeSet<>(values.keySet());
        undocumented.removeIf(value -> page.contains("`" + value));

        assertEquals(Set.of(), undocumented);
        Map<String, String> chart =
                new Yaml().load(Manifests.text(Manifests.CHART.resolve("Chart.yaml")));
        String version = "\n    <version>%s</version>\n".formatted(chart.get("version"));
        assertTrue(Files.readString(Path.of("pom.xml")).contains(version), version);
        assertEquals(chart.get("version"), chart.get("appVersion"));
    }

    @Test
    void the_clusters_alerts_are_the_documented_ones() throws IOException {
        PrometheusRule rule = Manifests.all(PrometheusRule.class).getFirst();
        Map<String, Object> documented =
                new Yaml().load(Files.readString(Path.of("docs/monitoring/rules.yml")));
        JsonMapper json = new JsonMapper();

        assertEquals(
                json.valueToTree(documented.get("groups")),
                json.valueToTree(rule.getSpec().getGroups()));
    }
}
