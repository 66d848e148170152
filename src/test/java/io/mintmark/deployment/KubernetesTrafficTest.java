package io.mintmark.deployment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.Gateway;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPBackendRef;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPRoute;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.Listener;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Who may connect to whom in k8s/, and by which routes. */
class KubernetesTrafficTest {
    @Test
    void selectors_find_pods_and_ports_have_names_that_these_know() {
        List<Map<String, String>> labels =
                KubernetesTest.pods().stream().map(pod -> pod.getMetadata().getLabels()).toList();
        Set<String> ports =
                KubernetesTest.containers()
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
        Duration longest = KubernetesTest.usually("PROVIDER_TIMEOUT").plusSeconds(10);
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
    void every_pod_has_a_policy_for_both_ways_and_nobody_reaches_the_migration_or_the_export() {
        List<NetworkPolicy> policies = Manifests.all(NetworkPolicy.class);

        assertEquals(KubernetesTest.pods().size(), policies.size());
        for (NetworkPolicy policy : policies) {
            assertEquals(List.of("Ingress", "Egress"), policy.getSpec().getPolicyTypes());
            assertEquals(
                    Set.of("mintmark-migration", "mintmark-export")
                            .contains(policy.getMetadata().getName()),
                    policy.getSpec().getIngress().isEmpty());
            policy.getSpec()
                    .getIngress()
                    .forEach(rule -> assertFalse(rule.getFrom().isEmpty(), policy.toString()));
        }
    }
}
