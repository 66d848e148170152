package io.mintmark.provider.sts;

import com.nimbusds.jwt.JWTClaimsSet;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * AWS's: the API reference of AssumeRole and AssumeRoleWithWebIdentity, and "Pass session tags
 * using AssumeRoleWithWebIdentity" in the IAM User Guide.
 */
final class AwsRules implements StsRules {
    private static final Pattern ROLE =
            Pattern.compile("arn:aws[a-z-]*:iam::\\d{12}:role/[\\w+=,.@/-]+");
    private static final Pattern SESSION = Pattern.compile("[\\w+=,.@-]{2,64}");
    private static final Pattern EXTERNAL_ID = Pattern.compile("[\\w+=,.@:/-]{2,1224}");
    private static final Pattern TAG_KEY = Pattern.compile("[\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]{1,128}");
    private static final Pattern TAG_VALUE =
            Pattern.compile("[\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]{0,256}");
    private static final Pattern SIGNATURE =
            Pattern.compile(
                    "AWS4-HMAC-SHA256 Credential=\\w+/\\d{8}/[a-z0-9-]+/sts/aws4_request, "
                            + "SignedHeaders=\\S*host\\S*, Signature=[0-9a-f]{64}");
    private static final String SOURCE_IDENTITY = "https://aws.amazon.com/source_identity";
    private static final String TAGS = "https://aws.amazon.com/tags";

    private final WebIdentityCheck tokens;

    AwsRules(WebIdentityCheck tokens) {
        this.tokens = tokens;
    }

    @Override
    public int check(StsCall call) throws StsRefusal {
        if (!call.required("Version").equals("2011-06-15")) {
            throw StsRefusal.validation("Could not find operation for this version");
        }
        String action = call.required("Action");
        matches("roleArn", ROLE, call.required("RoleArn"));
        matches("roleSessionName", SESSION, call.required("RoleSessionName"));
        StsRules.policy(call);
        int seconds = StsRules.seconds(call, 900, 43_200);
        switch (action) {
            case "AssumeRoleWithWebIdentity" -> webIdentity(call);
            case "AssumeRole" -> signed(call);
            default -> throw new StsRefusal(400, "InvalidAction", action);
        }
        StsRules.trust(call.required("RoleArn"), action);
        return seconds;
    }

    private void webIdentity(StsCall call) throws StsRefusal {
        if (call.authorization().isPresent()) {
            throw new StsRefusal(403, "AccessDenied", "This action is not signed");
        }
        for (String parameter : List.of("ExternalId", "SourceIdentity", "Tags.member.1.Key")) {
            if (call.parameter(parameter).isPresent()) {
                throw StsRefusal.validation("AssumeRoleWithWebIdentity takes no " + parameter);
            }
        }
        JWTClaimsSet claims = tokens.verify(call.required("WebIdentityToken"));
        if (claims.getClaim("azp") != null) {
            throw StsRefusal.identity("Incorrect token audience");
        }
        Object source = claims.getClaim(SOURCE_IDENTITY);
        if (source != null) {
            matches("source_identity", SESSION, String.valueOf(source));
        }
        tags(claims.getClaim(TAGS));
    }

    private static void tags(Object claim) throws StsRefusal {
        if (claim == null) {
            return;
        }
        if (!(claim instanceof Map<?, ?> tags)
                || !(tags.get("principal_tags") instanceof Map<?, ?> principal)) {
            throw StsRefusal.identity("The tags claim has no principal_tags");
        }
        for (Map.Entry<?, ?> tag : principal.entrySet()) {
            if (!(tag.getValue() instanceof List<?> values) || values.size() != 1) {
                throw StsRefusal.identity("A tag needs a list of one value");
            }
            matches("tag key", TAG_KEY, String.valueOf(tag.getKey()));
            matches("tag value", TAG_VALUE, String.valueOf(values.getFirst()));
        }
    }

    private static void signed(StsCall call) throws StsRefusal {
        if (!SIGNATURE.matcher(call.authorization().orElse("")).matches()) {
            throw new StsRefusal(
                    403, "MissingAuthenticationToken", "Request is missing Authentication Token");
        }
        matches("externalId", EXTERNAL_ID, call.required("ExternalId"));
        if (call.parameter("SourceIdentity").isPresent()) {
            matches("sourceIdentity", SESSION, call.required("SourceIdentity"));
        }
        for (int i = 1; call.parameter("Tags.member." + i + ".Key").isPresent(); i++) {
            matches("tags", TAG_KEY, call.required("Tags.member." + i + ".Key"));
            matches("tags", TAG_VALUE, call.required("Tags.member." + i + ".Value"));
        }
    }

    private static void matches(String name, Pattern pattern, String value) throws StsRefusal {
        if (!pattern.matcher(value).matches()) {
            throw StsRefusal.validation(
                    "1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must satisfy regular expression pattern: %s"
                            .formatted(value, name, pattern));
        }
    }
}
