package io.mintmark.grant;

import io.mintmark.token.IdentityProvider;

import java.util.List;
import java.util.Set;

/**
 * Where identity providers are read from; only enabled ones of enabled tenants. Every method throws
 * {@link io.mintmark.verdict.Unavailable} if they can't be read.
 */
public interface IdentityProviderStore {

    /** Whether any has this issuer. */
    boolean knows(String issuer);

    /** Those that the pairs of this issuer with the audiences lead to, by name and each once. */
    List<IdentityProvider> trusting(String issuer, Set<String> audiences);

    /** The listed ones of an issuer, by name. */
    List<IdentityProvider> listed(String issuer);

    /** All listed ones, by name. */
    List<IdentityProvider> listed();

    /** A text that changes with every change of an identity provider or a tenant. */
    String fingerprint();
}
