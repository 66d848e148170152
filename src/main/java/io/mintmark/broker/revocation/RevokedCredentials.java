package io.mintmark.broker.revocation;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.MintId;

import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;

/**
 * The credentials in the database that were ended. Throws {@link
 * io.mintmark.base.verdict.Unavailable} where it can't tell.
 */
public interface RevokedCredentials {

    /** The access providers of these types, of all tenants, enabled or not. */
    NavigableSet<ListIssuer> authorities(Set<String> types);

    /** The contents of a list; empty if the access provider is gone. */
    Optional<Revoked> of(ListIssuer authority);

    /**
     * The contents of a list.
     *
     * @param mints of its tenant and type that were ended and may not have expired
     */
    record Revoked(JsonNode settings, List<MintId> mints) {
        public Revoked {
            mints = List.copyOf(mints);
        }
    }
}
