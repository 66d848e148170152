package io.mintmark.base.tenant;

/** The name of an access provider, unique in its tenant. */
public record ProviderName(String value) {
    public ProviderName {
        Names.require("access provider", Names.NAMED, value);
    }

    @Override
    public String toString() {
        return value;
    }
}
