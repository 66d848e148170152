package io.mintmark.broker.grant;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.Glob;
import io.mintmark.base.tenant.ProviderName;

import java.util.List;

/**
 * An enabled row of {@code broker.access_provider}.
 *
 * @param digest SHA-256 of what a decision uses of the row, in hexadecimal digits
 */
public record Provider(
        ProviderName name,
        String type,
        JsonNode settings,
        List<Glob> allowedTargets,
        boolean sharedIdentity,
        String digest) {

    public Provider {
        allowedTargets = List.copyOf(allowedTargets);
    }
}
