package io.mintmark.broker.exchange;

import io.mintmark.broker.grant.Entitlements;
import io.mintmark.broker.token.VerifiedActor;
import io.mintmark.broker.token.VerifiedToken;

import java.util.Optional;

/**
 * A token that its tenant accepts, and what the tenant grants to its subject.
 *
 * @param actor who acts for the subject
 * @param entitlements of a state in which the tenant has the identity providers that verified the
 *     tokens
 */
record Admitted(VerifiedToken token, Optional<VerifiedActor> actor, Entitlements entitlements) {}
