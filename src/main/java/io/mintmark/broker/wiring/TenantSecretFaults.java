package io.mintmark.broker.wiring;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.catalogue.PostgresCatalogue;
import io.mintmark.provider.AccessProviders;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Warns of access providers whose secret files a mint can't use, for example a CA key that doesn't
 * fit its certificate. The database can't, since it has no files.
 */
final class TenantSecretFaults {
    private static final Logger log = LoggerFactory.getLogger(TenantSecretFaults.class);

    private final AccessProviders providers;
    private final PostgresCatalogue catalogue;
    private Set<String> known = Set.of();

    TenantSecretFaults(AccessProviders providers, PostgresCatalogue catalogue) {
        this.providers = providers;
        this.catalogue = catalogue;
    }

    /**
     * Logs each fault when it is first found. Throws {@link io.mintmark.base.verdict.Unavailable}
     * if the rows can't be read.
     */
    synchronized void report() {
        Set<String> found = new TreeSet<>();
        providers
                .types()
                .forEach(type ->
                        catalogue.accessProviders(type).stream()
                                .flatMap(row -> fault(type, row))
                                .forEach(found::add));
        found.stream().filter(fault -> !known.contains(fault)).forEach(log::warn);
        known = found;
    }

    private Stream<String> fault(String type, JsonNode row) {
        String tenant = row.path("tenant").asText();
        return providers.secretsFault(type, new TenantName(tenant), row.path("settings")).stream()
                .map(why ->
                        "access provider '%s' of tenant '%s' can't be used: %s"
                                .formatted(row.path("name").asText(), tenant, why));
    }
}
