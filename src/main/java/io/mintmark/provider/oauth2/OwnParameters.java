package io.mintmark.provider.oauth2;

import io.mintmark.provider.Settings;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * A server's non-standard parameters: fixed ones from the access provider, and those that the
 * access provider lets its keys set. A key sets exactly these, so that nothing it sends escapes
 * {@code allowed_targets}.
 *
 * @param fixed from the access provider
 * @param ofKey from the key
 */
record OwnParameters(NavigableMap<String, String> fixed, NavigableMap<String, String> ofKey) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_.-]{0,63}");

    /** The standards' own parameters, which the broker or another setting sets. */
    private static final Set<String> RESERVED =
            Set.of(
                    "grant_type",
                    "subject_token",
                    "subject_token_type",
                    "actor_token",
                    "actor_token_type",
                    "requested_token_type",
                    "assertion",
                    "audience",
                    "resource",
                    "scope",
                    "client_secret",
                    "client_assertion",
                    "client_assertion_type",
                    "code",
                    "refresh_token",
                    "username",
                    "password");

    static OwnParameters of(Settings provider, Settings key, String subjectParameter) {
        NavigableMap<String, String> fixed = provider.textsByName("parameters");
        List<String> listed = provider.texts("target_parameters");
        require(provider, "parameters", fixed.keySet(), subjectParameter);
        require(provider, "target_parameters", listed, subjectParameter);
        if (provider.text("client_id").isPresent() && listed.contains("client_id")) {
            throw provider.unusable(
                    "target_parameters", "names 'client_id', which the setting client_id sets");
        }
        listed.stream()
                .filter(fixed::containsKey)
                .findFirst()
                .ifPresent(name -> {
                    throw provider.unusable(
                            "target_parameters",
                            "names '%s', which 'parameters' sets".formatted(name));
                });
        NavigableMap<String, String> ofKey = key.textsByName("parameters");
        if (!ofKey.keySet().equals(Set.copyOf(listed))) {
            throw key.unusable(
                    "parameters",
                    "has the names %s, but the access provider's 'target_parameters' lists %s"
                            .formatted(ofKey.keySet(), new TreeSet<>(listed)));
        }
        return new OwnParameters(fixed, ofKey);
    }

    /** The key's targets, each as {@code name:value}. */
    List<String> targets() {
        return ofKey.entrySet().stream()
                .map((Map.Entry<String, String> each) -> each.getKey() + ":" + each.getValue())
                .toList();
    }

    /** Refuses a parameter for the broker's token that has another meaning. */
    static void requireSubject(Settings provider, String parameter, GrantType grant) {
        if (!parameter.equals(grant.parameter())) {
            require(provider, "subject_parameter", List.of(parameter), "client_id");
        }
    }

    private static void require(
            Settings provider, String setting, Collection<String> names, String subjectParameter) {
        boolean fixed = setting.equals("parameters");
        for (String name : names) {
            if (!NAME.matcher(name).matches()) {
                throw provider.unusable(
                        setting, "has '%s', which is not a parameter name".formatted(name));
            }
            if (RESERVED.contains(name)
                    || name.equals(subjectParameter)
                    || (fixed && name.equals("client_id"))) {
                throw provider.unusable(
                        setting, "names '%s', which only the broker may set".formatted(name));
            }
        }
    }
}
