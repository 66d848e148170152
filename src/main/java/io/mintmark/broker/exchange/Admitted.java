package io.mintmark.broker.exchange;

import io.mintmark.broker.grant.Entitlements;
import io.mintmark.broker.token.VerifiedToken;

/**
 * A token that its tenant accepts, and what the tenant grants to its subject.
 *
 * @param entitlements of a state in which the tenant has the identity provider that verified the
 *     token
 */
record Admitted(VerifiedToken token, Entitlements entitlements) {}
