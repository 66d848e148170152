package io.mintmark.tenant;

/** The name of a tenant: {@code ^[a-z][a-z0-9-]{0,39}$}. */
public record TenantName(String value) {
    public TenantName {
        Names.require("tenant", Names.TENANT, value);
    }

    @Override
    public String toString() {
        return value;
    }
}
