package io.mintmark.provider;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Writes the list by which servers refuse the credentials of a type that were ended early. */
@FunctionalInterface
public interface RevocationFormat {
    /**
     * Writes a list.
     *
     * @param settings of the access provider
     * @param ended mints of the tenant, of this type
     * @param now the list says that it was made a minute earlier, for servers whose clocks are slow
     * @throws UnusableSettingsException if the settings don't let it
     */
    Written list(TenantName tenant, JsonNode settings, List<MintId> ended, Instant now);

    /**
     * A list in the forms that servers read.
     *
     * @param text the same for servers that read PEM, if there are any
     */
    @SuppressWarnings("ArrayRecordComponent") // as long as the list
    record Written(byte[] content, Optional<byte[]> text) {}
}
