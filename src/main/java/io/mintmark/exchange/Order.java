package io.mintmark.exchange;

import io.mintmark.audit.MintEvents;
import io.mintmark.grant.Granted;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * One key of a request that is to be minted.
 *
 * @param outputs the members that the client gets with the fields that fill them; empty for the
 *     type's own
 */
record Order(MintEvents events, Granted granted, Map<String, String> outputs) {

    /** The same at a later moment, if the grant is still good by then. */
    Optional<Order> asOf(Instant later) {
        return granted.asOf(later).map(still -> new Order(events, still, outputs));
    }
}
