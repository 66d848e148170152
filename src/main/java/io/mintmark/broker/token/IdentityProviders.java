package io.mintmark.broker.token;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The identity providers that the broker trusts, as admins configured them. Every method may throw
 * {@link io.mintmark.base.verdict.Unavailable} if the configuration can't be read. Arguments are
 * unverified: implementations must not keep them.
 */
public interface IdentityProviders {
    /**
     * The maximum number of providers that {@link #trusting} and {@link #listed(String)} return. A
     * token for two or more is rejected anyway.
     */
    int MOST_FOUND = 16;

    /** The most issuers or audiences that a rejection shows. */
    int MOST_SHOWN = 100;

    /** A provider that clients without a token may see. */
    record Listed(IdpName name, String issuer) {}

    /**
     * How the people of a tenant log in.
     *
     * @param clientId of the public OAuth client that they use
     */
    record Login(IdpName provider, TenantName tenant, String issuer, String clientId) {}

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

    /** The logins of a tenant, by the provider's name, at most {@link #MOST_FOUND}. */
    List<Login> logins(TenantName tenant);

    /** The logins of the only tenant that has any; none if there are more such tenants. */
    List<Login> logins();

    /**
     * The issuer of the broker's tokens for a tenant that came from another cell; empty for every
     * other name. Needs no database once the configuration was read.
     */
    Optional<String> tokenIssuer(TenantName tenant);
}
