package io.mintmark.grant;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.tenant.Glob;
import io.mintmark.tenant.ProviderName;

import java.util.List;

/** An enabled row of {@code broker.access_provider}. */
public record Provider(
        ProviderName name,
        String type,
        JsonNode settings,
        List<Glob> allowedTargets,
        boolean sharedIdentity) {

    public Provider {
        allowedTargets = List.copyOf(allowedTargets);
    }
}
