package io.mintmark.mint.webhook;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.identity.PrivateKeyPem;
import io.mintmark.identity.PrivateKeyPem.UnfitException;
import io.mintmark.mint.Endpoint;
import io.mintmark.mint.Settings;
import io.mintmark.mint.TokenDestinations;
import io.mintmark.mint.UnusableSettingsException;
import io.mintmark.outbound.ClientCertificate;
import io.mintmark.outbound.Secret;
import io.mintmark.tenant.MintId;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
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
        Optional<Client> client,
        Set<String> fields) {
    static final int MOST_FIELDS = 32;

    private static final Pattern FIELD = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,63}");
    private static final Set<String> NAMES =
            Set.of("endpoint", "ca_certificate", "client_certificate", "client_key", "fields");

    public WebhookSettings {
        fields = Set.copyOf(fields);
    }

    /**
     * What the broker presents in TLS.
     *
     * @param certificate PEM, the broker's own first
     * @param keyFile the reference to the private key
     */
    public record Client(String certificate, String keyFile) {

        /**
         * With its private key.
         *
         * @throws UnusableSettingsException if one of the texts isn't what it should be
         */
        public ClientCertificate with(Secret key) {
            try {
                return new ClientCertificate(PrivateKeyPem.readAnyKind(key.reveal()), chain());
            } catch (UnfitException e) {
                throw unusable(
                        "client_key' refers to '%s', which %s".formatted(keyFile, e.getMessage()));
            }
        }

        private List<X509Certificate> chain() {
            try {
                var pem = new ByteArrayInputStream(certificate.getBytes(StandardCharsets.US_ASCII));
                List<X509Certificate> chain =
                        CertificateFactory.getInstance("X.509").generateCertificates(pem).stream()
                                .map(X509Certificate.class::cast)
                                .toList();
                if (chain.isEmpty()) {
                    throw new CertificateException("no certificate in it");
                }
                return chain;
            } catch (CertificateException e) {
                throw unusable("client_certificate' must be certificates in PEM format");
            }
        }

        private static UnusableSettingsException unusable(String what) {
            return new UnusableSettingsException("access provider setting '" + what);
        }
    }

    /** Reads them, and refuses an endpoint that may not get the broker's tokens. */
    public static WebhookSettings of(JsonNode settings, TokenDestinations destinations) {
        Settings provider = Settings.ofProvider(settings, NAMES);
        provider.requiredText("endpoint");
        Endpoint endpoint = provider.endpoint("endpoint").orElseThrow();
        destinations.requireConfidential("endpoint", endpoint);
        destinations.audience(endpoint, provider, "endpoint", endpoint.origin());
        return new WebhookSettings(
                endpoint, provider.text("ca_certificate"), client(provider), fields(provider));
    }

    private static Set<String> fields(Settings provider) {
        Set<String> fields = new TreeSet<>(provider.texts("fields"));
        if (fields.isEmpty()) {
            throw provider.unusable("fields", "is missing");
        }
        if (fields.size() > MOST_FIELDS) {
            throw provider.unusable("fields", "names more than %d".formatted(MOST_FIELDS));
        }
        fields.stream()
                .filter(field ->
                        !FIELD.matcher(field).matches() || field.equals(WebhookType.EXPIRATION))
                .findFirst()
                .ifPresent(field -> {
                    throw provider.unusable(
                            "fields", "names '%s', which can't be a field".formatted(field));
                });
        return fields;
    }

    private static Optional<Client> client(Settings provider) {
        Optional<String> certificate = provider.text("client_certificate");
        Optional<String> file = provider.secretFile("client_key");
        if (certificate.isPresent() != file.isPresent()) {
            throw provider.unusable("client_certificate", "and client_key need each other");
        }
        return certificate.map(pem -> new Client(pem, file.orElseThrow()));
    }

    /** The address of a mint. */
    public String address(MintId mint) {
        return endpoint.below("/" + mint);
    }

    /** Each field by its own name. */
    Map<String, String> defaultOutputs() {
        return fields.stream()
                .collect(Collectors.toUnmodifiableMap(Function.identity(), Function.identity()));
    }
}
