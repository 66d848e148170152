package io.mintmark.auditor.export;

import java.time.Instant;
import java.util.Optional;

/**
 * Selects rows of the log. An absent criterion matches everything.
 *
 * @param from start of the range (inclusive)
 * @param to end of the range (exclusive)
 */
public record Selection(
        Optional<Instant> from,
        Optional<Instant> to,
        Optional<String> tenant,
        Optional<String> subject,
        Optional<String> key) {}
