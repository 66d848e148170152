package io.mintmark.broker.grant;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.broker.token.ClaimConditions;

import java.time.Instant;
import java.util.Optional;

/**
 * An enabled row of {@code broker.blocked_subject} that stops more than one subject's every token:
 * its subject is a glob, or it has conditions on claims.
 *
 * @param from the identity provider whose subjects are blocked; empty for any
 * @param claims a token is stopped if it meets all of these conditions
 * @param until exclusive, by the database's clock; {@link Instant#MAX} for a block without an end
 */
public record BlockRule(
        Optional<IdpName> from, SubjectPattern subject, ClaimConditions claims, Instant until)
        implements SubjectRule {}
