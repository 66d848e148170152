package io.mintmark.broker.exchange;

import io.mintmark.audit.Event;
import io.mintmark.audit.MintEvents;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.broker.grant.Granted;
import io.mintmark.provider.CallerKey;
import io.mintmark.provider.Outputs;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Everything that a request is about to mint, each key under a mint id of its own. */
record Intent(Admitted admitted, List<Order> orders) {

    /**
     * One key that is to be minted.
     *
     * @param outputs the members that the client gets with the fields that fill them; without
     *     fields for the type's own
     * @param callerKey what the client wants to have certified
     */
    record Order(
            MintEvents events, Granted granted, Outputs outputs, Optional<CallerKey> callerKey) {

        private Optional<Order> asOf(TimeBounds later) {
            return granted.asOf(later).map(still -> new Order(events, still, outputs, callerKey));
        }
    }

    /** The tenant whose configuration allows the mint. */
    TenantName tenant() {
        return admitted.token().provider().tenant();
    }

    /** Whether the mint was decided in this state of the tenant. */
    boolean isOf(TenantState state) {
        return admitted.entitlements().state().equals(state);
    }

    /** Whether the intent is for exactly these grants. */
    boolean isFor(List<Granted> granted) {
        return orders.stream().map(Order::granted).toList().equals(granted);
    }

    /** The rows of a failed mint, one for each order. */
    List<Event> failed(Instant now, String reason, String detail) {
        return orders.stream().map(order -> order.events().failed(now, reason, detail)).toList();
    }

    /** The intent at a later time, if every grant is still in force then. */
    Optional<Intent> asOf(TimeBounds later) {
        List<Order> still = orders.stream().flatMap(order -> order.asOf(later).stream()).toList();
        return still.size() == orders.size()
                ? Optional.of(new Intent(admitted, still))
                : Optional.empty();
    }
}
