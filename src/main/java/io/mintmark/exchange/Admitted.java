package io.mintmark.exchange;

import io.mintmark.grant.Entitlements;
import io.mintmark.token.VerifiedToken;

/**
 * A token that its tenant accepts, and what the tenant grants to its subject.
 *
 * @param entitlements of a state in which the tenant has the identity provider that verified the
 *     token
 */
record Admitted(VerifiedToken token, Entitlements entitlements) {}
