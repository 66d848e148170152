package io.mintmark.base.tenant;

/** The name of a tenant: {@code ^[a-z][a-z0-9-]{0,39}$}. */
public record TenantName(String value) {
    public TenantName {
        Names.require("tenant", Names.TENANT, value);
    }

    /** Whether a text could name a tenant at all. */
    public static boolean isValid(String text) {
        return Names.TENANT.matcher(text).matches();
    }

    @Override
    public String toString() {
        return value;
    }
}
