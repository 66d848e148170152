package io.mintmark.audit.log;

import io.mintmark.audit.Event;

import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * What mints may leave behind at their providers, kept in {@code runtime.ending} by the statement
 * that writes the audit log.
 *
 * @param types of access providers whose mints may
 * @param ofMint for how long a mint may be in flight after its request is on record
 */
public record RevocationPolicy(Set<String> types, Duration ofMint) {
    /** The policy that no mint leaves anything behind. */
    public static final RevocationPolicy NOTHING = new RevocationPolicy(Set.of(), Duration.ZERO);

    /**
     * The additional time of a mint: a replica may have stopped for a while, and clocks differ by
     * up to 30 seconds.
     */
    private static final Duration SLACK = Duration.ofSeconds(90);

    /** Reasons of a failure that left nothing. */
    private static final String NOTHING_MADE =
            "'{tenant_busy,decided_again,audit_unavailable,provider_rejected,provider_misconfigured,"
                    + "provider_throttled,broker_identity_rejected}'";

    public RevocationPolicy {
        types = Set.copyOf(types);
    }

    boolean isEmpty() {
        return types.isEmpty();
    }

    /** Whether one of these rows belongs to a mint that may leave something behind. */
    boolean byAny(List<Event> events) {
        return !isEmpty()
                && events.stream()
                        .anyMatch(event -> event.providerType().map(types::contains).orElse(false));
    }

    /**
     * The parts of a statement that keep the table, for rows that a part {@code event} has. A row
     * is due when no mint is in flight any more; once it is issued, when it expires; if it wasn't
     * handed out, at once. A failure for these reasons left nothing: the provider wasn't called, or
     * said that it made nothing.
     */
    String kept() {
        return """
        opened AS (
            INSERT INTO work.ending (mint_id, tenant, provider, provider_type, key, due, next_try)
            SELECT e.mint_id, e.tenant, e.provider, e.provider_type, e.key, unknown.until, unknown.until
              FROM event AS e
              JOIN broker.provider_type AS t ON t.type = e.provider_type AND t.leaves_behind
             CROSS JOIN (SELECT now() + interval '%1$d seconds' AS until) AS unknown
             WHERE e.kind = 'requested'
        ), moved AS (
            UPDATE work.ending AS o
               SET outcome = e.kind, credential_id = e.credential_id,
                   by_itself = coalesce(e.ends_by_itself, false),
                   due = CASE WHEN e.kind = 'issued' AND NOT o.early THEN e.expires_at ELSE now() END,
                   next_try = CASE WHEN e.kind = 'issued' AND NOT o.early THEN e.expires_at ELSE now() END
              FROM event AS e
             WHERE o.mint_id = e.mint_id
               AND (e.kind IN ('issued', 'withheld') OR e.kind = 'failed' AND e.reason <> ALL (%2$s))
        ), closed AS (
            DELETE FROM work.ending AS o
             USING event AS e
             WHERE o.mint_id = e.mint_id
               AND (e.kind = 'ended' OR e.kind = 'failed' AND e.reason = ANY (%2$s))
        )
        """
                .formatted(ofMint.plus(SLACK).toSeconds(), NOTHING_MADE);
    }
}
