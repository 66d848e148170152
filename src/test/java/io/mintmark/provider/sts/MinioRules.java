package io.mintmark.provider.sts;

import com.nimbusds.jwt.JWTClaimsSet;

/** MinIO's: {@code sts-handlers.go} and {@code docs/sts/web-identity.md} of its repository. */
final class MinioRules implements StsRules {
    private final WebIdentityCheck tokens;
    private final String policyClaim;

    MinioRules(WebIdentityCheck tokens, String policyClaim) {
        this.tokens = tokens;
        this.policyClaim = policyClaim;
    }

    @Override
    public int check(StsCall call) throws StsRefusal {
        if (call.authorization().isPresent()
                || !call.required("Action").equals("AssumeRoleWithWebIdentity")) {
            throw new StsRefusal(400, "InvalidParameterValue", "Unsupported action");
        }
        StsRules.policy(call);
        JWTClaimsSet claims = tokens.verify(call.required("WebIdentityToken"));
        StsRules.noClaimOfAws(claims);
        if (call.parameter("RoleArn").isEmpty() && claims.getClaim(policyClaim) == null) {
            throw new StsRefusal(
                    400,
                    "InvalidParameterValue",
                    "Role-based policies or a claim '%s' are needed".formatted(policyClaim));
        }
        return StsRules.seconds(call, 900, 31_536_000);
    }
}
