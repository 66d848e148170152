package io.mintmark.token;

import java.util.Collection;
import java.util.List;

/**
 * The identity providers that the broker believes, as admins configured them. Every method may
 * throw {@link io.mintmark.verdict.Unavailable} where the configuration can't be read.
 */
public interface IdentityProviders {

    /** Whether any provider has this issuer, listed or not. */
    boolean knows(String issuer);

    /** The providers that the pairs of this issuer with the audiences lead to, each once. */
    List<IdentityProvider> trusting(String issuer, Collection<String> audiences);

    /** The listed providers of an issuer, by name. */
    List<IdentityProvider> listed(String issuer);

    /** All listed providers, by name. */
    List<IdentityProvider> listed();
}
