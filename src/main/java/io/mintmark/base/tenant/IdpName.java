package io.mintmark.base.tenant;

/** The name of an identity provider, unique in the broker. */
public record IdpName(String value) {
    public IdpName {
        Names.require("identity provider", Names.NAMED, value);
    }

    @Override
    public String toString() {
        return value;
    }
}
