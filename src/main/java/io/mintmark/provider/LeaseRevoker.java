package io.mintmark.provider;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;

import java.time.Instant;
import java.util.List;

/**
 * Revokes what the mints of a type leave behind at its provider. It needs the access provider's row
 * and the mint id, and nothing that was secret.
 */
public interface LeaseRevoker {
    /**
     * Makes sure that nothing of this mint works any more, and removes what it left behind. Blocks
     * until the order's deadline at the latest. May be called any number of times, also for a mint
     * that left nothing, and by several replicas at once.
     */
    LeaseRevocation revoke(RevocationOrder order);

    /**
     * Lists mints of this broker and access provider that left behind something not disarmed:
     * expired mints first, and perhaps not all others. Blocks until the deadline at the latest.
     *
     * @throws NotListed if the provider can't tell
     */
    List<Left> leftBehind(Place place) throws NotListed;

    /**
     * A mint of which something is left.
     *
     * @param over whether its time is over, by the provider's clock
     */
    record Left(MintId mint, boolean over) {}

    /**
     * An access provider at which mints end.
     *
     * @param settings of the access provider as they are now
     * @param deadline when it must have answered
     */
    record Place(TenantName tenant, ProviderName provider, JsonNode settings, Instant deadline) {}

    /** One mint to be ended. */
    record RevocationOrder(Place place, MintId mintId) {}

    /** The provider couldn't list what mints left behind. The message is free of secrets. */
    final class NotListed extends Exception {
        private static final long serialVersionUID = 1;

        public NotListed(String message) {
            super(message);
        }
    }
}
