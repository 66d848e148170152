package io.mintmark.auditor.explain;

import io.mintmark.auditor.explain.Explanations.Actor;

import java.time.Instant;
import java.util.Optional;

/**
 * The outcome of one key of a past request, from the audit log.
 *
 * @param detail the provider's own words, or what was expected of a rejected token and seen
 * @param subject absent if the token was rejected
 * @param claims those that grants evaluated, a JSON object by their names or pointers
 * @param actor who acted for the subject, if anybody did
 * @param address the client's
 * @param revision the tenant's at the decision; absent if the reader may not see it
 * @param grantThen the row of the grant that allowed it, as it was then, a JSON object
 */
public record Past(
        Optional<String> key,
        String kind,
        Optional<String> reason,
        Optional<String> detail,
        Optional<String> tenant,
        Optional<String> idp,
        Optional<String> subject,
        Optional<String> claims,
        Optional<Actor> actor,
        Instant at,
        Optional<String> address,
        Optional<Long> grantId,
        Optional<Long> revision,
        Optional<String> grantThen) {

    /**
     * A change of the tenant's configuration.
     *
     * @param name of the row, or its number
     * @param total how many changes there were in all
     */
    public record Change(
            long revision,
            Instant at,
            String by,
            String operation,
            String table,
            String name,
            long total) {}
}
