package io.mintmark.token;

import io.mintmark.tenant.IdpName;

import java.util.List;
import java.util.Set;

/**
 * The identity providers that the broker trusts, as admins configured them. Every method may throw
 * {@link io.mintmark.verdict.Unavailable} where the configuration can't be read. What it is asked
 * about may be made up by strangers: nothing of it is kept.
 */
public interface IdentityProviders {
    /**
     * The most providers that {@link #trusting} and {@link #listed(String)} return. A token for two
     * is rejected, whatever the others are.
     */
    int MOST_FOUND = 16;

    /** The most issuers or audiences that a rejection shows. */
    int MOST_SHOWN = 100;

    /** A provider that strangers may know of. */
    record Listed(IdpName name, String issuer) {}

    /** Whether any provider has this issuer, listed or not. */
    boolean knows(String issuer);

    /** The providers that the pairs of this issuer with the audiences lead to, by name. */
    List<IdentityProvider> trusting(String issuer, Set<String> audiences);

    /** The listed providers of an issuer, the first by name. */
    List<IdentityProvider> listed(String issuer);

    /** The issuers of listed providers, sorted, at most {@link #MOST_SHOWN}. */
    List<String> listedIssuers();

    /** All listed providers, by name. */
    List<Listed> listed();
}
