package io.mintmark.ending;

import io.mintmark.tenant.ProviderName;
import io.mintmark.tenant.TenantName;

public record ProviderId(TenantName tenant, ProviderName name) {
    @Override
    public String toString() {
        return "'%s' of tenant '%s'".formatted(name, tenant);
    }
}
