package io.mintmark.audit;

import java.time.Instant;
import java.util.Optional;

/**
 * Which rows of the log somebody wants to see. What isn't given doesn't matter.
 *
 * @param from the first moment
 * @param to the first moment that isn't meant any more
 */
public record Selection(
        Optional<Instant> from,
        Optional<Instant> to,
        Optional<String> tenant,
        Optional<String> subject,
        Optional<String> key) {}
