package io.mintmark.broker.lease;

import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;

public record ProviderId(TenantName tenant, ProviderName name) {
    @Override
    public String toString() {
        return "'%s' of tenant '%s'".formatted(name, tenant);
    }
}
