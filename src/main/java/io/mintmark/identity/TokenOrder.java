package io.mintmark.identity;

import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.MintId;
import io.mintmark.tenant.TenantName;

import java.util.Map;

/**
 * What a token of the broker's identity is for.
 *
 * @param audience who is to accept it
 * @param rs256Only whether the far side verifies no other signatures (Microsoft Entra does not)
 * @param extraClaims claims beside the broker's own, as JSON values; none of {@link
 *     ReservedClaims#ownsByStandard}
 */
public record TokenOrder(
        TenantName tenant,
        KeyName key,
        MintId mintId,
        String audience,
        boolean rs256Only,
        Map<String, Object> extraClaims) {

    public TokenOrder {
        extraClaims = Map.copyOf(extraClaims);
        for (String name : extraClaims.keySet()) {
            if (ReservedClaims.ownsByStandard(name)) {
                throw new IllegalArgumentException(
                        "claim '%s' of a broker token is the broker's own".formatted(name));
            }
        }
    }
}
