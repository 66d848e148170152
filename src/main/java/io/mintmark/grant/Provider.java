package io.mintmark.grant;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.tenant.Glob;
import io.mintmark.tenant.ProviderName;

import java.time.Duration;
import java.util.List;

/**
 * An enabled row of {@code broker.access_provider}, with what its type says.
 *
 * @param minDuration the shortest life that the type can give a credential
 */
public record Provider(
        ProviderName name,
        String type,
        JsonNode settings,
        List<Glob> allowedTargets,
        boolean sharedIdentity,
        Duration minDuration) {

    public Provider {
        allowedTargets = List.copyOf(allowedTargets);
    }
}
