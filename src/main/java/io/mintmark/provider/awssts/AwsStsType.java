package io.mintmark.provider.awssts;

import static io.mintmark.base.credential.CredentialType.shellWord;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.sts.RoleSession;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Credentials of an AWS role. */
public final class AwsStsType implements CredentialType {
    /** The maximum number of managed policies that a role accepts by default (IAM quotas). */
    private static final int MAX_POLICIES = 10;

    @Override
    public String name() {
        return "aws-sts";
    }

    @Override
    public Set<String> fields() {
        return Set.of("AccessKeyId", "SecretAccessKey", "SessionToken", "Region", "Expiration");
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of(
                "AWS_ACCESS_KEY_ID", "AccessKeyId",
                "AWS_SECRET_ACCESS_KEY", "SecretAccessKey",
                "AWS_SESSION_TOKEN", "SessionToken",
                "AWS_REGION", "Region");
    }

    @Override
    public String earlyEnd() {
        return "Attach to the role a policy that denies everything to exactly these sessions (aws:userid); mintmark block-subject prints this policy. To end all older sessions of the role, including those of other subjects, choose “Revoke sessions” in the IAM console.";
    }

    @Override
    public List<ManualRevocation> manualRevocations(
            List<ActiveCredential> credentials, long block) {
        return ActiveCredential.by(one -> one.target().orElse(""), credentials).entrySet().stream()
                .map(role -> ofRole(role.getKey(), role.getValue(), block))
                .toList();
    }

    private static ManualRevocation ofRole(
            String role, List<ActiveCredential> credentials, long block) {
        String target = "role " + role;
        List<String> policies =
                SessionDenial.policies(
                        "Block" + block,
                        credentials.stream().map(AwsStsType::sessionName).toList());
        if (policies.size() > MAX_POLICIES) {
            return ManualRevocation.of(
                    target,
                    credentials,
                    ("The policies of one role cannot name %d sessions. In the IAM console, choose"
                                    + " the role, then “Revoke sessions”: this ends all older"
                                    + " sessions of the role, including those of other subjects.")
                            .formatted(credentials.size()));
        }
        List<String> lines = new ArrayList<>();
        lines.add("These commands end exactly these sessions, within minutes:");
        lines.addAll(commands(role, policies, block));
        lines.add("Remove the policy after the last session has expired.");
        lines.add(
                "Sessions of other roles that were assumed from these continue. To find them,"
                        + " search CloudTrail for aws:SourceIdentity, which is the mint id.");
        return new ManualRevocation(target, ActiveCredential.lastExpiry(credentials), lines);
    }

    private static List<String> commands(String role, List<String> policies, long block) {
        String roleName = role.substring(role.lastIndexOf('/') + 1);
        int accountEnd = role.indexOf(":role/");
        String account = accountEnd < 0 ? role : role.substring(0, accountEnd);
        List<String> commands = new ArrayList<>();
        for (int i = 0; i < policies.size(); i++) {
            String name = "mintmark-block-%d-%d".formatted(block, i + 1);
            String document = shellWord(policies.get(i));
            if (policies.size() == 1) {
                commands.add(
                        "aws iam put-role-policy --role-name %s --policy-name %s --policy-document %s"
                                .formatted(roleName, name, document));
            } else {
                commands.add(
                        "aws iam create-policy --policy-name %s --policy-document %s"
                                .formatted(name, document));
                commands.add(
                        "aws iam attach-role-policy --role-name %s --policy-arn %s:policy/%s"
                                .formatted(roleName, account, name));
            }
        }
        return commands;
    }

    private static String sessionName(ActiveCredential one) {
        return RoleSession.name(
                one.sessionName(),
                new MintId(one.mintId()),
                new TenantName(one.tenant()),
                new KeyName(one.key()));
    }

    @Override
    public ProviderLog log(LoggedMint mint) {
        return new ProviderLog(
                "CloudTrail: the name of the role session contains the mint id, and each call"
                        + " contains the access key id.",
                mint.credentialId()
                        .map(id ->
                                "aws cloudtrail lookup-events --lookup-attributes"
                                        + " AttributeKey=AccessKeyId,AttributeValue="
                                        + shellWord(id)));
    }
}
