package io.mintmark.provider;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.config.Pkcs11Uri;
import io.mintmark.provider.KeyReference.InFile;
import io.mintmark.provider.KeyReference.InToken;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The {@code settings} of an access provider or of a key. Each method expects a type and throws
 * {@link UnusableSettingsException} if the row has another. A JSON null counts as absent.
 */
public final class Settings {
    private final String owner;
    private final JsonNode members;

    private Settings(String owner, JsonNode members) {
        this.owner = owner;
        this.members = members;
    }

    /**
     * The settings of an access provider.
     *
     * @param names all settings that the type has; any other is refused, since a misspelt one would
     *     silently not protect
     */
    public static Settings ofProvider(JsonNode members, Set<String> names) {
        return new Settings("access provider", members).having(names);
    }

    /**
     * The settings of a key.
     *
     * @param names all settings that a key of the type has
     */
    public static Settings ofKey(JsonNode members, Set<String> names) {
        return new Settings("key", members).having(names);
    }

    /** The parts of a setting that is an object. */
    public Settings within(String name, JsonNode parts, Set<String> names) {
        return new Settings("%s setting '%s':".formatted(owner, name), parts).having(names);
    }

    /** A text that isn't empty. */
    public Optional<String> text(String name) {
        return present(name).map(value -> text(name, value));
    }

    /** A required text. */
    public String requiredText(String name) {
        return text(name).orElseThrow(() -> unusable(name, "is missing"));
    }

    /** A boolean, with its default. */
    public boolean flag(String name, boolean otherwise) {
        return present(name)
                .map(value -> {
                    if (!value.isBoolean()) {
                        throw unusable(name, "must be true or false");
                    }
                    return value.booleanValue();
                })
                .orElse(otherwise);
    }

    /** A list of texts; empty if absent. */
    public List<String> texts(String name) {
        List<String> texts = new ArrayList<>();
        present(name)
                .ifPresent(value -> {
                    if (!value.isArray()) {
                        throw unusable(name, "must be a list of strings");
                    }
                    value.forEach(element -> texts.add(text(name, element)));
                });
        return List.copyOf(texts);
    }

    /** One of several words; the usual one if the setting is absent. */
    public String oneOf(String name, String usual, String... others) {
        String given = text(name).orElse(usual);
        List<String> known = Stream.concat(Stream.of(usual), Arrays.stream(others)).toList();
        if (!known.contains(given)) {
            throw unusable(
                    name, "must be one of %s, not '%s'".formatted(String.join(", ", known), given));
        }
        return given;
    }

    /** A time in whole seconds. */
    public Optional<Duration> seconds(String name, Duration shortest, Duration longest) {
        return whole(name, " of seconds", shortest.toSeconds(), longest.toSeconds())
                .map(Duration::ofSeconds);
    }

    /** A whole number; the usual one if the setting is absent. */
    public int number(String name, int usual, int least, int most) {
        return whole(name, "", least, most).orElse(usual);
    }

    private Optional<Integer> whole(String name, String unit, long least, long most) {
        return present(name)
                .map(value -> {
                    if (!value.isIntegralNumber()
                            || !value.canConvertToInt()
                            || value.intValue() < least
                            || value.intValue() > most) {
                        throw unusable(
                                name,
                                "must be a whole number%s from %d to %d"
                                        .formatted(unit, least, most));
                    }
                    return value.intValue();
                });
    }

    /** An object of texts, in the order of their names; empty if absent. */
    public NavigableMap<String, String> textsByName(String name) {
        NavigableMap<String, String> texts = new TreeMap<>();
        object(name)
                .ifPresent(parts ->
                        parts.properties()
                                .forEach(part ->
                                        texts.put(part.getKey(), text(name, part.getValue()))));
        return texts;
    }

    /** An object. */
    public Optional<JsonNode> object(String name) {
        return present(name)
                .map(value -> {
                    if (!value.isObject()) {
                        throw unusable(name, "must be an object");
                    }
                    return value;
                });
    }

    /** A policy document as compact JSON text: written as an object, or as its text. */
    public Optional<String> policy(String name, int maxLength) {
        return present(name)
                .map(value -> {
                    String policy = value.isObject() ? value.toString() : text(name, value);
                    if (policy.length() > maxLength) {
                        throw unusable(
                                name,
                                "has %d characters; the maximum is %d"
                                        .formatted(policy.length(), maxLength));
                    }
                    return policy;
                });
    }

    /** The name of a file that holds a secret: {@code {"file": "name"}}. */
    public Optional<String> secretFile(String name) {
        return object(name)
                .map(reference -> within(name, reference, Set.of("file")).requiredText("file"));
    }

    /** A private key: a file, or a key in a token by its label. */
    public Optional<KeyReference> keyReference(String name) {
        return object(name)
                .map(reference -> {
                    if (!reference.has("pkcs11")) {
                        return secretFile(name).<KeyReference>map(InFile::new).orElseThrow();
                    }
                    String path = within(name, reference, Set.of("pkcs11")).requiredText("pkcs11");
                    try {
                        return new InToken(ofLabel(Pkcs11Uri.ofPath(path)));
                    } catch (IllegalArgumentException e) {
                        throw unusable(
                                name,
                                "must name a key in the PKCS#11 token, as {\"pkcs11\":"
                                        + " \"object=LABEL\"}");
                    }
                });
    }

    /**
     * Keeps the label alone: only the operator chooses the token, and which of two keys with one
     * label.
     */
    private static Pkcs11Uri ofLabel(Pkcs11Uri uri) {
        return Pkcs11Uri.ofObject(
                uri.object()
                        .filter(_ -> uri.token().isEmpty() && uri.id().isEmpty())
                        .orElseThrow(IllegalArgumentException::new));
    }

    /** A complete URL. */
    public Optional<Endpoint> endpoint(String name) {
        return text(name)
                .map(url -> {
                    try {
                        return Endpoint.at(url);
                    } catch (IllegalArgumentException e) {
                        throw unusable(name, "'%s' %s".formatted(url, e.getMessage()));
                    }
                });
    }

    /** A required complete URL. */
    public Endpoint requiredEndpoint(String name) {
        return endpoint(name).orElseThrow(() -> unusable(name, "is missing"));
    }

    /**
     * The exception for a setting that can't work.
     *
     * @param what what is wrong with the setting, as the end of a sentence
     */
    public UnusableSettingsException unusable(String name, String what) {
        return new UnusableSettingsException("%s setting '%s' %s".formatted(owner, name, what));
    }

    private Settings having(Set<String> names) {
        if (!members.isObject()) {
            throw new UnusableSettingsException(owner + " settings must be an object");
        }
        members.fieldNames()
                .forEachRemaining(name -> {
                    if (!names.contains(name)) {
                        throw unusable(name, "is not a setting of this type");
                    }
                });
        return this;
    }

    private Optional<JsonNode> present(String name) {
        return Optional.ofNullable(members.get(name)).filter(value -> !value.isNull());
    }

    private String text(String name, JsonNode value) {
        if (!value.isTextual() || value.textValue().isBlank()) {
            throw unusable(name, "must be a non-empty string");
        }
        return value.textValue();
    }
}
