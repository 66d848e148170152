package io.mintmark.deployment;

import static java.util.Map.entry;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.AnnotatedMember;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.batch.v1.CronJob;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.Gateway;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPRoute;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import io.mintmark.Unchecked;

import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** The files of k8s/, read by Kubernetes' own schemas. What these don't know is an error. */
final class Manifests {
    static final Path FOLDER = Path.of("k8s");
    static final Path CHART = FOLDER.resolve("chart");
    static final String KUSTOMIZATION = "kustomization.yaml";

    /** Pods of applications and what is patched into them; {@code .ci/kustomize} builds them. */
    private static final List<Path> OF_APPLICATIONS =
            List.of(FOLDER.resolve("sidecar"), FOLDER.resolve("example").resolve("files"));

    private static final Map<String, Class<? extends HasMetadata>> KINDS =
            Map.ofEntries(
                    entry("apps/v1 Deployment", Deployment.class),
                    entry("autoscaling/v2 HorizontalPodAutoscaler", HorizontalPodAutoscaler.class),
                    entry("batch/v1 CronJob", CronJob.class),
                    entry("batch/v1 Job", Job.class),
                    entry("external-secrets.io/v1 ExternalSecret", GenericKubernetesResource.class),
                    entry("gateway.networking.k8s.io/v1 Gateway", Gateway.class),
                    entry("gateway.networking.k8s.io/v1 HTTPRoute", HTTPRoute.class),
                    entry("monitoring.coreos.com/v1 PrometheusRule", PrometheusRule.class),
                    entry("monitoring.coreos.com/v1 ServiceMonitor", ServiceMonitor.class),
                    entry("networking.k8s.io/v1 NetworkPolicy", NetworkPolicy.class),
                    entry("policy/v1 PodDisruptionBudget", PodDisruptionBudget.class),
                    entry("scheduling.k8s.io/v1 PriorityClass", PriorityClass.class),
                    entry("apps/v1 StatefulSet", StatefulSet.class),
                    entry("v1 ConfigMap", ConfigMap.class),
                    entry("v1 Pod", Pod.class),
                    entry("v1 Service", Service.class),
                    entry("v1 ServiceAccount", ServiceAccount.class));

    /**
     * The models keep unknown fields; told not to see that, they refuse them. A kind without a
     * model is held to its definition by {@code .ci/kustomize}.
     */
    private static final JsonMapper STRICT =
            JsonMapper.builder()
                    .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                    .annotationIntrospector(
                            new JacksonAnnotationIntrospector() {
                                private static final long serialVersionUID = 1L;

                                @Override
                                public Boolean hasAnySetter(Annotated annotated) {
                                    return annotated instanceof AnnotatedMember member
                                            && member.getDeclaringClass()
                                                    == GenericKubernetesResource.class;
                                }
                            })
                    .build();

    private Manifests() {}

    /** One of kustomize's files, with the fields that ours use. */
    record Kustomization(
            String apiVersion,
            String kind,
            @Nullable String namespace,
            @Nullable List<String> resources,
            @Nullable List<String> components,
            @Nullable List<Map<String, Object>> patches,
            @Nullable List<Map<String, String>> images,
            @Nullable List<Generated> configMapGenerator) {
        /** Other files and folders that it names. */
        List<String> named() {
            return Stream.concat(
                            Stream.of(resources, components)
                                    .filter(Objects::nonNull)
                                    .flatMap(List::stream),
                            generated().stream().flatMap(made -> made.contents().stream()))
                    .toList();
        }

        List<Generated> generated() {
            return configMapGenerator == null ? List.of() : configMapGenerator;
        }
    }

    /** A config map that kustomize makes. */
    record Generated(
            String name,
            @Nullable List<String> literals,
            @Nullable List<String> files,
            @Nullable Map<String, Object> options) {
        List<String> settings() {
            return literals == null ? List.of() : literals;
        }

        List<String> contents() {
            return files == null ? List.of() : files;
        }
    }

    static HasMetadata read(String yaml) {
        return read(content(yaml));
    }

    /** One of the objects of a cluster. */
    static HasMetadata read(Map<String, Object> content) {
        String kind = content.get("apiVersion") + " " + content.get("kind");
        Class<? extends HasMetadata> type = KINDS.get(kind);
        if (type == null) {
            throw new IllegalArgumentException("nothing is known of " + kind);
        }
        return STRICT.convertValue(content, type);
    }

    static HasMetadata read(JsonNode object) {
        return read(content(object));
    }

    static Map<String, Object> content(JsonNode object) {
        return STRICT.convertValue(object, new TypeReference<Map<String, Object>>() {});
    }

    /** The objects of a file with several, without looking at their fields. */
    static List<JsonNode> all(String yaml) {
        List<JsonNode> objects = new ArrayList<>();
        for (Object object : new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(yaml)) {
            if (object != null) { // helm may leave a part empty
                objects.add(STRICT.valueToTree(object));
            }
        }
        return objects;
    }

    static Kustomization kustomization(Path folder) {
        return STRICT.convertValue(
                content(text(folder.resolve(KUSTOMIZATION))), Kustomization.class);
    }

    private static Map<String, Object> content(String yaml) {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        return new Yaml(options).load(yaml);
    }

    static String text(Path file) {
        return Unchecked.call(() -> Files.readString(file));
    }

    /**
     * All files of one folder and those below it that hold objects of the broker's cluster. Those
     * of the chart are templates ({@code HelmedIT}).
     */
    static List<Path> files(Path folder) {
        return walked(folder).stream()
                .filter(file -> file.toString().endsWith(".yaml"))
                .filter(file -> !file.endsWith(KUSTOMIZATION))
                .filter(file -> !file.startsWith(CHART))
                .toList();
    }

    /** The folders of the broker's kustomizations. */
    static List<Path> kustomizations() {
        return walked(FOLDER).stream()
                .filter(file -> file.endsWith(KUSTOMIZATION))
                .map(Path::getParent)
                .toList();
    }

    private static List<Path> walked(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> OF_APPLICATIONS.stream().noneMatch(file::startsWith))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All objects of one type. */
    static <T extends HasMetadata> List<T> all(Class<T> type) {
        return files(FOLDER).stream()
                .map(file -> read(text(file)))
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }
}
