package io.mintmark.audit;

import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.TenantName;

import java.util.Optional;

/**
 * What is known of the token that was shown, and so of who holds it.
 *
 * @param tenant none where the token didn't lead to one
 * @param subject none where the token was not accepted
 * @param tokenId the {@code jti}, if there is one
 * @param tokenHash SHA-256 of the token, in hexadecimal digits
 * @param claims JSON of the claims that grants looked at
 */
public record Holder(
        Optional<TenantName> tenant,
        Optional<IdpName> idp,
        String issuer,
        Optional<String> subject,
        Optional<String> tokenId,
        String tokenHash,
        Optional<String> claims) {}
