package io.mintmark.broker.revocation;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.MintId;

import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;

/**
 * What the database has of credentials that were ended. Throws {@link
 * io.mintmark.base.verdict.Unavailable} where it can't tell.
 */
public interface RevokedCredentials {

    /** The access providers of these types, of all tenants, enabled or not. */
    NavigableSet<ListIssuer> authorities(Set<String> types);

    /** What a list is made of; empty if the access provider is gone. */
    Optional<Revoked> of(ListIssuer authority);

    /**
     * What a list is made of.
     *
     * @param mints of its tenant and type that were ended and may not have expired
     */
    record Revoked(JsonNode settings, List<MintId> mints) {
        public Revoked {
            mints = List.copyOf(mints);
        }
    }
}
