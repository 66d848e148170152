package io.mintmark.broker.grant;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.broker.token.IdentityProvider;

import java.util.List;
import java.util.Optional;

/**
 * The source of identity providers; only enabled ones of enabled tenants. Every method throws
 * {@link io.mintmark.base.verdict.Unavailable} if they can't be read.
 */
public interface IdentityProviderStore {

    /** The entries of all, by name. */
    List<IssuerIndex.Entry> entries();

    /** One of them as it is now; empty if there is none of this name, or it can't be used. */
    Optional<IdentityProvider> provider(IdpName name);

    /** A text that changes with every change of an identity provider or a tenant. */
    String fingerprint();
}
