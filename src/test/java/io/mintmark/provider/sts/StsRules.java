package io.mintmark.provider.sts;

import com.nimbusds.jwt.JWTClaimsSet;

/** What one kind of STS demands of a call. */
interface StsRules {
    /**
     * Checks a call.
     *
     * @return for how many seconds the credential is asked
     */
    int check(StsCall call) throws StsRefusal;

    static int seconds(StsCall call, int shortest, int longest) throws StsRefusal {
        String text = call.parameter("DurationSeconds").orElse("3600");
        int seconds = Integer.parseInt(text);
        if (seconds < shortest || seconds > longest) {
            throw StsRefusal.validation(
                    "Value '%d' at 'durationSeconds' failed to satisfy constraint: Member must have value between %d and %d"
                            .formatted(seconds, shortest, longest));
        }
        return seconds;
    }

    static void policy(StsCall call) throws StsRefusal {
        String policy = call.parameter("Policy").orElse("{}");
        if (policy.length() > 2048) {
            throw StsRefusal.validation(
                    "Value at 'policy' failed to satisfy constraint: Member must have length less"
                            + " than or equal to 2048");
        }
        if (!policy.startsWith("{")) {
            throw new StsRefusal(400, "MalformedPolicyDocument", "The policy is not JSON");
        }
    }

    /** AWS trusts nobody with this role. */
    static void trust(String roleArn, String action) throws StsRefusal {
        if (roleArn.endsWith("/closed")) {
            throw new StsRefusal(403, "AccessDenied", "Not authorized to perform sts:" + action);
        }
    }

    static void noClaimOfAws(JWTClaimsSet claims) throws StsRefusal {
        for (String name : claims.getClaims().keySet()) {
            if (name.startsWith("https://aws.amazon.com")) {
                throw StsRefusal.identity("What is " + name + " doing here?");
            }
        }
    }
}
