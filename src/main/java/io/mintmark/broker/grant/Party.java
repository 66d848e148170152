package io.mintmark.broker.grant;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.SeenClaims;

/**
 * Who takes part in a request: its subject, or the actor who acts for it.
 *
 * @param required the conditions of the identity provider that its token met; none for an actor
 *     that the subject's token names
 */
public record Party(IdpName idp, String subject, SeenClaims claims, ClaimConditions required) {}
