package io.mintmark.exchange;

import io.mintmark.grant.Entitlements;
import io.mintmark.token.VerifiedToken;

/**
 * A token that its tenant believes, and what the tenant has for its subject.
 *
 * @param entitlements of a state in which the tenant has the identity provider that the token was
 *     verified with
 */
record Admitted(VerifiedToken token, Entitlements entitlements) {}
