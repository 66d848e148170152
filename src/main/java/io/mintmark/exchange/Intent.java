package io.mintmark.exchange;

import io.mintmark.audit.Event;

import java.time.Instant;
import java.util.List;

/** Everything that a request is about to mint, each key under a mint id of its own. */
record Intent(Admitted admitted, List<Order> orders) {

    /** The rows that say that none of it came about. */
    List<Event> failed(Instant now, String reason, String detail) {
        return orders.stream().map(order -> order.trail().failed(now, reason, detail)).toList();
    }
}
