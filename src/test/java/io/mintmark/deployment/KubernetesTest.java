package io.mintmark.deployment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.json.JsonMapper;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.Gateway;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPBackendRef;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPRoute;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.Listener;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.mintmark.config.Cidr;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What k8s/ asks a cluster for. */
class KubernetesTest {
    private static final Path BASE = Manifests.FOLDER.resolve("base");

    static List<Path> files() {
        return Manifests.files(Manifests.FOLDER);
    }

    static List<Path> kustomizations() throws IOException {
        try (Stream<Path> files = Files.walk(Manifests.FOLDER)) {
            return files.filter(file -> file.endsWith(Manifests.KUSTOMIZATION))
                    .map(Path::getParent)
                    .sorted()
                    .toList();
        }
    }

    private static List<PodTemplateSpec> pods() {
        return Stream.concat(
                        Manifests.all(Deployment.class).stream()
                                .map(it -> it.getSpec().getTemplate()),
                        Manifests.all(Job.class).stream().map(it -> it.getSpec().getTemplate()))
                .toList();
    }

    private static PodTemplateSpec replica() {
        Deployment deployment =
                (Deployment) Manifests.read(Manifests.text(BASE.resolve("deployment.yaml")));
        return deployment.getSpec().getTemplate();
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
        files.removeIf(name -> !name.endsWith(".yaml"));
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
    void every_folder_but_the_sites_own_is_used_by_the_example() throws IOException {
        Set<Path> used = new TreeSet<>(Set.of(Manifests.FOLDER.resolve("example")));
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
                containers()
                        .flatMap(container -> container.getEnv().stream())
                        .map(EnvVar::getName)
                        .collect(Collectors.toCollection(TreeSet::new));
        for (Path folder : kustomizations()) {
            Manifests.kustomization(folder).generated().stream()
                    .flatMap(made -> made.literals().stream())
                    .forEach(literal -> variables.add(literal.substring(0, literal.indexOf('='))));
        }

        assertFalse(variables.isEmpty());
        variables.removeIf(variable -> settings.contains("| `" + variable + "` |"));
        assertEquals(Set.of(), variables);
    }

    /** The pods' network, say, would let every pod name any address as its client's. */
    @Test
    void the_example_trusts_no_proxy_until_the_site_names_it() throws IOException {
        String setting = "TRUSTED_PROXIES=";
        List<String> values =
                kustomizations().stream()
                        .flatMap(folder -> Manifests.kustomization(folder).generated().stream())
                        .flatMap(made -> made.literals().stream())
                        .filter(literal -> literal.startsWith(setting))
                        .map(literal -> literal.substring(setting.length()))
                        .toList();

        assertEquals(1, values.size());
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> Cidr.parse(values.getFirst()));
        assertTrue(String.valueOf(refused.getMessage()).contains("address"), refused::toString);
    }

    private static Stream<Container> containers() {
        return pods().stream().flatMap(pod -> pod.getSpec().getContainers().stream());
    }

    @Test
    void no_container_can_do_more_than_it_must() {
        for (PodTemplateSpec pod : pods()) {
            PodSpec spec = pod.getSpec();
            assertTrue(spec.getSecurityContext().getRunAsNonRoot());
            assertEquals("RuntimeDefault", spec.getSecurityContext().getSeccompProfile().getType());
            assertFalse(spec.getAutomountServiceAccountToken());
        }
        containers()
                .forEach(container -> {
                    assertTrue(container.getSecurityContext().getReadOnlyRootFilesystem());
                    assertFalse(container.getSecurityContext().getAllowPrivilegeEscalation());
                    assertEquals(
                            List.of("ALL"),
                            container.getSecurityContext().getCapabilities().getDrop());
                    assertTrue(
                            container
                                    .getResources()
                                    .getLimits()
                                    .keySet()
                                    .containsAll(Set.of("memory", "ephemeral-storage")));
                    assertEquals(
                            List.of("/tmp"),
                            container.getVolumeMounts().stream()
                                    .filter(mount -> !Boolean.TRUE.equals(mount.getReadOnly()))
                                    .map(mount -> mount.getMountPath())
                                    .toList());
                });
    }

    @Test
    void every_account_is_there_and_may_do_nothing() {
        Set<String> accounts =
                Manifests.all(ServiceAccount.class).stream()
                        .filter(account -> !account.getAutomountServiceAccountToken())
                        .map(account -> account.getMetadata().getName())
                        .collect(Collectors.toSet());

        assertEquals(
                accounts,
                pods().stream()
                        .map(pod -> pod.getSpec().getServiceAccountName())
                        .collect(Collectors.toSet()));
    }

    @Test
    void only_the_migration_has_the_owners_login() {
        for (Path file : files()) {
            assertEquals(
                    file.equals(Manifests.FOLDER.resolve("migration/job.yaml")),
                    Manifests.text(file).contains("owner"),
                    file.toString());
        }
        assertEquals("false", variable(replica(), "DATABASE_MIGRATE"));
    }

    private static String variable(PodTemplateSpec pod, String name) {
        return pod.getSpec().getContainers().getFirst().getEnv().stream()
                .filter(variable -> variable.getName().equals(name))
                .map(EnvVar::getValue)
                .findFirst()
                .orElse("");
    }

    @Test
    void the_grace_exceeds_what_a_stop_may_take() throws IOException {
        PodSpec spec = replica().getSpec();
        long before =
                spec.getContainers().getFirst().getLifecycle().getPreStop().getSleep().getSeconds();
        Duration stop =
                usually("SERVER_DRAIN")
                        .plus(usually("PROVIDER_TIMEOUT"))
                        .plusSeconds(before)
                        .plusSeconds(15);

        assertTrue(spec.getTerminationGracePeriodSeconds() > stop.toSeconds());
    }

    /** The default that the page tells, which another test holds to the code. */
    private static Duration usually(String setting) throws IOException {
        return Files.readAllLines(Path.of("docs/settings.md")).stream()
                .filter(line -> line.startsWith("| `" + setting + "` |"))
                .map(line -> Duration.parse(line.split("`", -1)[5]))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void probes_ask_the_admin_port() {
        Container container = replica().getSpec().getContainers().getFirst();
        Stream.of(
                        container.getStartupProbe(),
                        container.getReadinessProbe(),
                        container.getLivenessProbe())
                .forEach(probe -> assertEquals("admin", probe.getHttpGet().getPort().getStrVal()));
        assertEquals("/observe/health/live", container.getLivenessProbe().getHttpGet().getPath());
        assertEquals("/observe/health/ready", container.getReadinessProbe().getHttpGet().getPath());
    }

    @Test
    void there_are_two_replicas_on_different_nodes_and_one_may_be_away() {
        Deployment deployment =
                (Deployment) Manifests.read(Manifests.text(BASE.resolve("deployment.yaml")));
        var spread = deployment.getSpec().getTemplate().getSpec().getTopologySpreadConstraints();

        assertEquals(2, deployment.getSpec().getReplicas());
        assertEquals("kubernetes.io/hostname", spread.getFirst().getTopologyKey());
        assertEquals("DoNotSchedule", spread.getFirst().getWhenUnsatisfiable());
        assertEquals(
                1,
                Manifests.all(PodDisruptionBudget.class)
                        .getFirst()
                        .getSpec()
                        .getMaxUnavailable()
                        .getIntVal());
        assertEquals(
                2,
                Manifests.all(HorizontalPodAutoscaler.class).getFirst().getSpec().getMinReplicas());
    }

    @Test
    void selectors_find_pods_and_ports_have_names_that_these_know() {
        List<Map<String, String>> labels =
                pods().stream().map(pod -> pod.getMetadata().getLabels()).toList();
        Set<String> ports =
                containers()
                        .flatMap(container -> container.getPorts().stream())
                        .map(ContainerPort::getName)
                        .collect(Collectors.toSet());
        for (Service service : Manifests.all(Service.class)) {
            assertTrue(labels.contains(service.getSpec().getSelector()), service.toString());
            for (ServicePort port : service.getSpec().getPorts()) {
                assertTrue(ports.contains(port.getTargetPort().getStrVal()), service.toString());
            }
        }
        for (NetworkPolicy policy : Manifests.all(NetworkPolicy.class)) {
            assertTrue(labels.contains(policy.getSpec().getPodSelector().getMatchLabels()));
        }
        for (PodDisruptionBudget budget : Manifests.all(PodDisruptionBudget.class)) {
            assertTrue(labels.contains(budget.getSpec().getSelector().getMatchLabels()));
        }
    }

    @Test
    void routes_lead_from_the_gateways_listeners_to_ports_of_services() {
        Set<String> listeners =
                Manifests.all(Gateway.class).stream()
                        .flatMap(gateway -> gateway.getSpec().getListeners().stream())
                        .map(Listener::getName)
                        .collect(Collectors.toSet());
        Set<String> ports =
                Manifests.all(Service.class).stream()
                        .flatMap(service ->
                                service.getSpec().getPorts().stream()
                                        .map(port ->
                                                service.getMetadata().getName()
                                                        + ":"
                                                        + port.getPort()))
                        .collect(Collectors.toSet());
        for (HTTPRoute route : Manifests.all(HTTPRoute.class)) {
            route.getSpec()
                    .getParentRefs()
                    .forEach(parent -> assertTrue(listeners.contains(parent.getSectionName())));
            route.getSpec().getRules().stream()
                    .flatMap(rule -> rule.getBackendRefs().stream())
                    .map((HTTPBackendRef to) -> to.getName() + ":" + to.getPort())
                    .forEach(to -> assertTrue(ports.contains(to), to));
        }
        assertEquals(2, Manifests.all(HTTPRoute.class).size());
    }

    /** PROVIDER_TIMEOUT, the database's 5 s, and what a request waits for a connection. */
    @Test
    void a_gateway_waits_longer_than_any_answer_takes() throws IOException {
        Duration longest = usually("PROVIDER_TIMEOUT").plusSeconds(10);
        for (HTTPRoute route : Manifests.all(HTTPRoute.class)) {
            String wait = route.getSpec().getRules().getFirst().getTimeouts().getRequest();
            assertTrue(
                    Duration.parse("PT" + wait.toUpperCase(Locale.ROOT)).compareTo(longest) >= 0);
        }
    }

    @Test
    void pods_reach_the_clusters_names_alone_until_the_site_lists_more() {
        for (NetworkPolicy policy : Manifests.all(NetworkPolicy.class)) {
            assertEquals(1, policy.getSpec().getEgress().size(), policy.toString());
            policy.getSpec()
                    .getEgress()
                    .getFirst()
                    .getPorts()
                    .forEach(port -> assertEquals(53, port.getPort().getIntVal()));
        }
    }

    @Test
    void every_deployment_has_two_replicas_and_a_budget() {
        Set<Map<String, String>> budgets =
                Manifests.all(PodDisruptionBudget.class).stream()
                        .map(budget -> budget.getSpec().getSelector().getMatchLabels())
                        .collect(Collectors.toSet());
        for (Deployment deployment : Manifests.all(Deployment.class)) {
            assertEquals(2, deployment.getSpec().getReplicas());
            assertTrue(budgets.contains(deployment.getSpec().getSelector().getMatchLabels()));
        }
    }

    @Test
    void every_pod_has_a_policy_for_both_ways_and_nobody_reaches_the_migration() {
        List<NetworkPolicy> policies = Manifests.all(NetworkPolicy.class);

        assertEquals(pods().size(), policies.size());
        for (NetworkPolicy policy : policies) {
            assertEquals(List.of("Ingress", "Egress"), policy.getSpec().getPolicyTypes());
            assertEquals(
                    policy.getMetadata().getName().equals("mintmark-migration"),
                    policy.getSpec().getIngress().isEmpty());
            policy.getSpec()
                    .getIngress()
                    .forEach(rule -> assertFalse(rule.getFrom().isEmpty(), policy.toString()));
        }
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
