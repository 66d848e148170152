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

    /**
     * All of them, at one moment.
     *
     * @param fingerprint differs after every change of one of them or of its tenant
     * @param byName their entries, in the order of their names
     */
    record Entries(String fingerprint, List<IssuerIndex.Entry> byName) {}

    /** The entries as they are now. */
    Entries entries();

    /** The current identity provider of a name; empty if there is none, or it can't be used. */
    Optional<IdentityProvider> provider(IdpName name);
}
