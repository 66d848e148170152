package io.mintmark.provider;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.Glob;
import io.mintmark.base.tenant.ProviderName;

import java.util.List;

/**
 * An enabled row of {@code broker.access_provider}.
 *
 * @param type a type of {@code broker.provider_type}, for example {@code aws-sts}
 * @param allowedTargets the targets that keys may name; a target must match one of them
 * @param sharedIdentity whether an identity that all tenants share may be used here
 */
public record AccessPoint(
        ProviderName name,
        String type,
        JsonNode settings,
        List<Glob> allowedTargets,
        boolean sharedIdentity) {

    public AccessPoint {
        allowedTargets = List.copyOf(allowedTargets);
    }
}
