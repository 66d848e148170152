package io.mintmark.deployment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.batch.v1.CronJob;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** What kustomize makes of k8s/, as {@code .ci/kustomize} leaves it. */
class KustomizedIT {
    private static final Path BUILT = Path.of("target", "kustomize");
    private static final String PINNED = ".+@sha256:[0-9a-f]{64}";

    private static List<Map<String, Object>> objects(String file) throws IOException {
        return Manifests.all(Files.readString(BUILT.resolve(file))).stream()
                .map(Manifests::content)
                .toList();
    }

    private static String kind(Map<String, Object> object) {
        return object.get("apiVersion") + " " + object.get("kind");
    }

    private static <T extends HasMetadata> List<T> all(String file, Class<T> type)
            throws IOException {
        return objects(file).stream()
                .map(Manifests::read)
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    @ParameterizedTest
    @CsvSource({
        "example.yaml, standard, 5",
        "migration.yaml, standard, 0",
        "all.yaml, experimental, 2",
        "sidecar.yaml, standard, 0",
    })
    void objects_are_as_their_kinds_are_defined(String file, String channel, int least)
            throws IOException {
        Definitions definitions = new Definitions(BUILT.resolve(channel));
        int defined = 0;
        for (Map<String, Object> object : objects(file)) {
            String kind = kind(object);
            assertFalse(Manifests.read(object).getMetadata().getName().isEmpty());
            if (definitions.know(kind)) {
                defined++;
                assertEquals(List.of(), definitions.problems(kind, object), kind);
            }
        }
        assertTrue(defined >= least, defined + " of " + least);
    }

    @Test
    void pods_with_the_label_keep_files_and_others_stay_as_they_are() throws IOException {
        Map<String, List<String>> sidecars = new TreeMap<>();
        for (Deployment one : all("sidecar.yaml", Deployment.class)) {
            sidecars.put(
                    one.getMetadata().getName(), sidecars(one.getSpec().getTemplate().getSpec()));
        }
        for (CronJob one : all("sidecar.yaml", CronJob.class)) {
            sidecars.put(
                    one.getMetadata().getName(),
                    sidecars(one.getSpec().getJobTemplate().getSpec().getTemplate().getSpec()));
        }
        List<String> kept =
                List.of(
                        "mintmark Always registry.example.com/mintmark-client:0.1.0",
                        "mintmark-acme");
        assertEquals(Map.of("nightly", kept, "report", kept, "web", List.of()), sidecars);
    }

    /** The containers that start first, and the audiences of the tokens that they read. */
    private static List<String> sidecars(PodSpec pod) {
        List<String> shown = new ArrayList<>();
        pod.getInitContainers()
                .forEach(one ->
                        shown.add(
                                String.join(
                                        " ",
                                        one.getName(),
                                        one.getRestartPolicy(),
                                        one.getImage())));
        pod.getVolumes().stream()
                .filter(volume -> volume.getProjected() != null)
                .flatMap(volume -> volume.getProjected().getSources().stream())
                .forEach(source -> shown.add(source.getServiceAccountToken().getAudience()));
        return shown;
    }

    @Test
    void external_secrets_are_as_their_kind_is_defined() throws IOException {
        Definitions definitions = new Definitions(BUILT.resolve("standard"));
        String kind = "external-secrets.io/v1 ExternalSecret";
        List<Map<String, Object>> secrets =
                objects("all.yaml").stream().filter(it -> kind(it).equals(kind)).toList();

        assertEquals(6, secrets.size());
        secrets.forEach(it -> assertEquals(List.of(), definitions.problems(kind, it)));
    }

    /** Only the experimental channel has retries, so the example can't have them. */
    @Test
    void a_field_that_its_kind_lacks_is_found() throws IOException {
        Definitions definitions = new Definitions(BUILT.resolve("standard"));
        List<String> problems = new ArrayList<>();
        for (Map<String, Object> object : objects("all.yaml")) {
            if (kind(object).endsWith("HTTPRoute")) {
                problems.addAll(definitions.problems(kind(object), object));
            }
        }

        assertNotEquals(List.of(), problems);
        assertTrue(problems.stream().allMatch(it -> it.contains("retry")), problems::toString);
    }

    @Test
    void images_are_pinned_by_digest_and_the_broker_goes_first() throws IOException {
        for (Deployment deployment : all("example.yaml", Deployment.class)) {
            deployment
                    .getSpec()
                    .getTemplate()
                    .getSpec()
                    .getContainers()
                    .forEach(it -> assertTrue(it.getImage().matches(PINNED), it.getImage()));
        }
        assertEquals(
                List.of("mintmark"),
                all("example.yaml", Deployment.class).stream()
                        .filter(it ->
                                it.getSpec().getTemplate().getSpec().getPriorityClassName() != null)
                        .map(it -> it.getMetadata().getName())
                        .toList());
    }

    @Test
    void pods_connect_to_names_the_database_and_what_the_site_lists() throws IOException {
        List<NetworkPolicy> policies = new ArrayList<>(all("example.yaml", NetworkPolicy.class));
        policies.addAll(all("migration.yaml", NetworkPolicy.class));
        for (NetworkPolicy policy : policies) {
            TreeSet<Integer> ports = new TreeSet<>();
            policy.getSpec()
                    .getEgress()
                    .forEach(rule -> {
                        assertFalse(rule.getTo().isEmpty(), policy.toString());
                        rule.getPorts().forEach(port -> ports.add(port.getPort().getIntVal()));
                    });
            boolean onlyDatabase =
                    Set.of("mintmark-migration", "mintmark-export")
                            .contains(policy.getMetadata().getName());
            assertEquals(
                    onlyDatabase ? List.of(53, 5432) : List.of(53, 443, 5432), List.copyOf(ports));
        }
        assertEquals(4, policies.size());
    }
}
