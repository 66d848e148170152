package io.mintmark.broker.grant;

import io.mintmark.base.tenant.Glob;
import io.mintmark.base.tenant.IdpName;

import java.time.Instant;
import java.util.Optional;

/**
 * An enabled row of {@code broker.blocked_subject} whose subject is a glob.
 *
 * @param from the identity provider whose subjects are blocked; empty for any
 * @param until exclusive, by the database's clock; {@link Instant#MAX} for a block without an end
 */
public record BlockedGlob(Optional<IdpName> from, Glob glob, Instant until) implements SubjectRule {
    @Override
    public SubjectPattern subject() {
        return new SubjectPattern.Matching(glob);
    }
}
