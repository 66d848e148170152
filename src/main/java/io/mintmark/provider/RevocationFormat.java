package io.mintmark.provider;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;

import java.time.Instant;
import java.util.List;

/** Writes the list by which servers refuse the credentials of a type that were ended early. */
@FunctionalInterface
public interface RevocationFormat {
    /**
     * Writes a list.
     *
     * @param settings of the access provider
     * @param ended mints of the tenant, of this type
     * @throws UnusableSettingsException if the settings don't let it
     */
    byte[] list(TenantName tenant, JsonNode settings, List<MintId> ended, Instant now);
}
