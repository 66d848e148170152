package io.mintmark.admin.check;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.SecretFiles;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.pkcs11.TokenUnavailable;
import io.mintmark.base.sql.Database;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.catalogue.PostgresCatalogue;
import io.mintmark.broker.identity.NoSigningKeys;
import io.mintmark.broker.metrics.TenantExpiries.Expiry;
import io.mintmark.broker.wiring.TenantCertificates;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.SettingSecrets;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.UnusableSettingsException;
import io.mintmark.provider.postgresql.PostgresProvider;
import io.mintmark.provider.ssh.SshProvider;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.webhook.Webhook;
import io.mintmark.provider.x509.X509Provider;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Verifies the keys and passwords of all tenants' access providers: that they can be read, and fit
 * their certificates.
 */
final class TenantSecrets {
    private final SettingSecrets secrets;
    private final Destinations destinations;
    private final InstantSource clock;

    TenantSecrets(
            Optional<Path> directory,
            HeldKeys held,
            Destinations destinations,
            InstantSource clock) {
        this.secrets = new SettingSecrets(new SecretFiles(directory), held);
        this.destinations = destinations;
        this.clock = clock;
    }

    List<String> faults(Database database) {
        PostgresCatalogue catalogue = new PostgresCatalogue(database);
        try (TenantHttpClients connections = new TenantHttpClients(destinations)) {
            return types(connections).stream()
                    .flatMap(type ->
                            catalogue.accessProviders(type.type().name()).stream()
                                    .flatMap(row -> fault(type, row)))
                    .toList();
        } catch (Unavailable e) {
            return List.of("secrets of tenants were not checked: " + e.getMessage());
        }
    }

    /** The expiries of the certificates in tenants' rows, the next one first. */
    List<Expiry> expiries(Database database) {
        PostgresCatalogue catalogue = new PostgresCatalogue(database);
        try (TenantHttpClients connections = new TenantHttpClients(destinations)) {
            return types(connections).stream()
                    .flatMap(type ->
                            catalogue.accessProviders(type.type().name()).stream()
                                    .flatMap(row ->
                                            TenantCertificates.of(
                                                    type.certificates(row.path("settings")), row)))
                    .sorted(Comparator.comparing(Expiry::notAfter))
                    .toList();
        } catch (Unavailable e) {
            return List.of(); // reported with the secrets
        }
    }

    /**
     * The access provider types that have secrets, set up to verify them. Nothing is sent to a
     * provider.
     */
    private List<AccessProvider> types(TenantHttpClients connections) {
        SecureRandom random = new SecureRandom();
        return List.of(
                new SshProvider(secrets, clock, random),
                new X509Provider(secrets, clock),
                new Webhook(
                        new NoSigningKeys(),
                        secrets,
                        new TokenDestinations(destinations),
                        new Calls(connections, clock, random)),
                new PostgresProvider("", secrets, destinations, clock, random));
    }

    private static Stream<String> fault(AccessProvider type, JsonNode row) {
        String tenant = row.path("tenant").asText();
        try {
            type.requireSecrets(new TenantName(tenant), row.path("settings"));
            return Stream.empty();
        } catch (UnusableSettingsException | TokenUnavailable e) {
            return Stream.of(
                    "access provider '%s' of tenant '%s': %s"
                            .formatted(row.path("name").asText(), tenant, e.getMessage()));
        }
    }
}
