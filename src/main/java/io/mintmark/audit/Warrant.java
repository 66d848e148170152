package io.mintmark.audit;

import io.mintmark.tenant.ProviderName;

/**
 * Under what a key is minted.
 *
 * @param provider the access provider's name
 * @param providerType its type
 * @param grantId the grant's {@code id}
 * @param grantRevision the tenant's revision at which the decision was made
 */
public record Warrant(
        ProviderName provider, String providerType, long grantId, long grantRevision) {}
