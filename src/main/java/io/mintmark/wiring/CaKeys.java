package io.mintmark.wiring;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.mint.AccessProvider;
import io.mintmark.mint.SettingSecrets;
import io.mintmark.mint.UnusableSettingsException;
import io.mintmark.mint.ssh.SshProvider;
import io.mintmark.mint.x509.X509Provider;
import io.mintmark.outbound.SecretFiles;
import io.mintmark.postgres.catalogue.PostgresCatalogue;
import io.mintmark.postgres.connection.Database;
import io.mintmark.tenant.TenantName;
import io.mintmark.verdict.Unavailable;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Verifies the CA keys of all tenants: that they can be read, and fit their certificates. */
final class CaKeys {
    private final List<AccessProvider> types;

    CaKeys(Optional<Path> directory, InstantSource clock) {
        SettingSecrets secrets = new SettingSecrets(new SecretFiles(directory));
        this.types =
                List.of(
                        new SshProvider(secrets, clock, new SecureRandom()),
                        new X509Provider(secrets, clock));
    }

    List<String> faults(Database database) {
        PostgresCatalogue catalogue = new PostgresCatalogue(database);
        try {
            return types.stream()
                    .flatMap(type ->
                            catalogue.accessProviders(type.type().name()).stream()
                                    .flatMap(row -> fault(type, row)))
                    .toList();
        } catch (Unavailable e) {
            return List.of("CA keys were not checked: " + e.getMessage());
        }
    }

    private static Stream<String> fault(AccessProvider type, JsonNode row) {
        String tenant = row.path("tenant").asText();
        try {
            type.requireSecrets(new TenantName(tenant), row.path("settings"));
            return Stream.empty();
        } catch (UnusableSettingsException e) {
            return Stream.of(
                    "access provider '%s' of tenant '%s': %s"
                            .formatted(row.path("name").asText(), tenant, e.getMessage()));
        }
    }
}
