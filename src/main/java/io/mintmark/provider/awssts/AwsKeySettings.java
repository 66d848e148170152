package io.mintmark.provider.awssts;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.provider.Settings;
import io.mintmark.provider.sts.RoleSession;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The settings of a key of type {@code aws-sts}.
 *
 * @param sessionName a template
 */
record AwsKeySettings(
        String roleArn, String sessionName, Optional<String> policy, List<String> policyArns) {
    private static final Set<String> NAMES =
            Set.of("role_arn", "session_name", "policy", "policy_arns");
    private static final Pattern ROLE =
            Pattern.compile("arn:aws[a-z-]*:iam::\\d{12}:role/[\\w+=,.@/-]{1,2000}");
    private static final Pattern POLICY =
            Pattern.compile("arn:aws[a-z-]*:iam::(\\d{12}|aws):policy/[\\w+=,.@/-]{1,2000}");
    private static final int MOST_POLICIES = 10;

    static AwsKeySettings of(JsonNode members) {
        Settings settings = Settings.ofKey(members, NAMES);
        return new AwsKeySettings(
                roleArn(settings),
                settings.text("session_name").orElse("{mint_id}"),
                settings.policy("policy", RoleSession.LONGEST_POLICY),
                policyArns(settings));
    }

    private static String roleArn(Settings settings) {
        String arn = settings.requiredText("role_arn");
        if (!ROLE.matcher(arn).matches()) {
            throw settings.unusable("role_arn", "'%s' isn't the ARN of a role".formatted(arn));
        }
        return arn;
    }

    private static List<String> policyArns(Settings settings) {
        List<String> arns = settings.texts("policy_arns");
        if (arns.size() > MOST_POLICIES) {
            throw settings.unusable(
                    "policy_arns",
                    "has more than %d elements, the maximum".formatted(MOST_POLICIES));
        }
        for (String arn : arns) {
            if (!POLICY.matcher(arn).matches()) {
                throw settings.unusable(
                        "policy_arns", "'%s' isn't the ARN of a policy".formatted(arn));
            }
        }
        return arns;
    }
}
