package io.mintmark.deployment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The pods that k8s/ asks a cluster for. */
class KubernetesTest {
    private static final Path BASE = Manifests.FOLDER.resolve("base");

    static List<PodTemplateSpec> pods() {
        return Stream.of(
                        Manifests.all(Deployment.class).stream()
                                .map(it -> it.getSpec().getTemplate()),
                        Manifests.all(StatefulSet.class).stream()
                                .map(it -> it.getSpec().getTemplate()),
                        Manifests.all(Job.class).stream().map(it -> it.getSpec().getTemplate()))
                .flatMap(templates -> templates)
                .toList();
    }

    private static PodTemplateSpec replica() {
        Deployment deployment =
                (Deployment) Manifests.read(Manifests.text(BASE.resolve("deployment.yaml")));
        return deployment.getSpec().getTemplate();
    }

    static Stream<Container> containers() {
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
                            container.getName().equals("export")
                                    ? List.of("/export", "/tmp")
                                    : List.of("/tmp"),
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
        for (Path file : Manifests.files(Manifests.FOLDER)) {
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
    static Duration usually(String setting) throws IOException {
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
}
