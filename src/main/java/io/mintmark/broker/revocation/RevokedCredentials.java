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
     * Whether a list of this extent still has every credential that was ended. Another replica may
     * have served a newer one.
     */
    default boolean isComplete(ListIssuer authority, Extent extent) {
        return true;
    }

    /**
     * Which credentials a list has.
     *
     * @param since those that expire after this time, as PostgreSQL writes it
     * @param count how many these are; it only grows
     */
    record Extent(String since, int count) {}

    /**
     * The contents of a list.
     *
     * @param mints of its tenant and type that were ended and may not have expired
     */
    record Revoked(JsonNode settings, List<MintId> mints, Extent extent) {
        public Revoked {
            mints = List.copyOf(mints);
        }

        /** The contents of a list that nothing is added to. */
        public Revoked(JsonNode settings, List<MintId> mints) {
            this(settings, mints, new Extent("", mints.size()));
        }
    }
}
