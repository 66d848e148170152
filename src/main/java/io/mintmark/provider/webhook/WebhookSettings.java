package io.mintmark.provider.webhook;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.MintId;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.PresentedCertificate;
import io.mintmark.provider.Settings;
import io.mintmark.provider.TokenDestinations;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The settings of an access provider of type {@code webhook}.
 *
 * @param caCertificate PEM of the service's authorities; empty for the public ones
 * @param client what the broker presents in TLS, if the service asks for a certificate
 * @param fields the values that the service gives
 */
public record WebhookSettings(
        Endpoint endpoint,
        Optional<String> caCertificate,
        Optional<PresentedCertificate> client,
        Set<String> fields) {
    static final int MOST_FIELDS = 32;

    private static final Pattern FIELD = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,63}");
    private static final Set<String> NAMES =
            Set.of("endpoint", "ca_certificate", "client_certificate", "client_key", "fields");

    public WebhookSettings {
        fields = Set.copyOf(fields);
    }

    /** Reads them, and refuses an endpoint that may not get the broker's tokens. */
    public static WebhookSettings of(JsonNode settings, TokenDestinations destinations) {
        Settings provider = Settings.ofProvider(settings, NAMES);
        Endpoint endpoint = provider.requiredEndpoint("endpoint");
        destinations.requireConfidential("endpoint", endpoint);
        destinations.audience(endpoint, provider, "endpoint", endpoint.origin());
        return new WebhookSettings(
                endpoint,
                provider.text("ca_certificate"),
                PresentedCertificate.of(provider),
                fields(provider));
    }

    private static Set<String> fields(Settings provider) {
        Set<String> fields = new TreeSet<>(provider.texts("fields"));
        if (fields.isEmpty()) {
            throw provider.unusable("fields", "is missing");
        }
        if (fields.size() > MOST_FIELDS) {
            throw provider.unusable(
                    "fields", "names more than %d fields, the maximum".formatted(MOST_FIELDS));
        }
        fields.stream()
                .filter(field ->
                        !FIELD.matcher(field).matches() || field.equals(WebhookType.EXPIRATION))
                .findFirst()
                .ifPresent(field -> {
                    throw provider.unusable(
                            "fields",
                            "names '%s', which is not a valid field name".formatted(field));
                });
        return fields;
    }

    /** The address of a mint. */
    public String address(MintId mint) {
        return endpoint.below("/" + mint);
    }

    /** The default outputs: each field under its own name. */
    Map<String, String> defaultOutputs() {
        return fields.stream()
                .collect(Collectors.toUnmodifiableMap(Function.identity(), Function.identity()));
    }
}
