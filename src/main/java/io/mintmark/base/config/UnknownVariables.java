package io.mintmark.base.config;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Finds variables of the environment that look like settings and are none. */
final class UnknownVariables {
    private static final Set<String> KNOWN =
            KnownSettings.TABLE.stream().map(Setting::name).collect(Collectors.toUnmodifiableSet());

    /** The beginnings of our names, such as {@code SERVER_}. */
    private static final Set<String> PREFIXES =
            KNOWN.stream()
                    .map(name -> name.substring(0, name.indexOf('_') + 1))
                    .collect(Collectors.toUnmodifiableSet());

    private UnknownVariables() {}

    /**
     * Returns a sentence for each unknown variable, sorted by name. Variables that Kubernetes sets
     * for services are ignored: a service named {@code broker} adds {@code BROKER_SERVICE_HOST}.
     */
    static List<String> warnings(Map<String, String> environment) {
        return new TreeMap<>(environment)
                .entrySet().stream()
                        .filter(it -> looksLikeOurs(it.getKey()))
                        .filter(it -> !isOfKubernetes(it.getKey(), it.getValue()))
                        .map(it -> warning(it.getKey()))
                        .toList();
    }

    private static boolean looksLikeOurs(String name) {
        return !KNOWN.contains(name) && PREFIXES.contains(name.substring(0, name.indexOf('_') + 1));
    }

    private static boolean isOfKubernetes(String name, String value) {
        return name.endsWith("_SERVICE_HOST")
                || name.contains("_SERVICE_PORT")
                || name.contains("_TCP")
                || name.contains("_UDP")
                || value.startsWith("tcp://")
                || value.startsWith("udp://");
    }

    private static String warning(String name) {
        return "%s is not a setting and has no effect; the nearest setting is %s"
                .formatted(name, KnownSettings.nearestVariable(name));
    }
}
