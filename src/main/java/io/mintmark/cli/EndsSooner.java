package io.mintmark.cli;

import io.mintmark.audit.VisibleText;
import io.mintmark.mint.sts.RoleSession;
import io.mintmark.postgres.BlockedSubjects.Living;
import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.MintId;
import io.mintmark.tenant.TenantName;

import java.io.PrintStream;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Says of credentials that live what ends them before they expire, as their providers document it
 * ({@code docs/providers}), and where nothing does, until when they live.
 */
final class EndsSooner {
    /** How many managed policies a role takes, unless AWS raised it. */
    private static final int MOST_POLICIES = 10;

    private final PrintStream out;
    private final long block;

    /**
     * @param block the number of the block, which policies are named by
     */
    EndsSooner(PrintStream out, long block) {
        this.out = out;
        this.block = block;
    }

    /** Tells type by type, and there target by target. */
    void tell(List<Living> living) {
        by(living, Living::type)
                .forEach((type, these) -> {
                    switch (type) {
                        case "aws-sts" -> by(these, EndsSooner::target).forEach(this::aws);
                        case "s3-sts" ->
                                by(these, one -> one.endpoint().orElse("its storage"))
                                        .forEach(this::s3);
                        case "gcp" -> by(these, EndsSooner::target).forEach(this::google);
                        case "jwt" -> tokens(these);
                        default -> others(type, these);
                    }
                });
    }

    private static Map<String, List<Living>> by(
            List<Living> living, Function<Living, String> part) {
        return living.stream()
                .collect(Collectors.groupingBy(part, TreeMap::new, Collectors.toList()));
    }

    private static String target(Living one) {
        return one.target().orElse("");
    }

    private static Instant last(List<Living> living) {
        return living.stream().map(Living::expiresAt).max(Comparator.naturalOrder()).orElseThrow();
    }

    private void head(String type, String what, List<Living> these) {
        out.printf("%n%s%s, until %s:%n", type, VisibleText.of(what), last(these));
    }

    private void aws(String role, List<Living> these) {
        head("aws-sts", ", role " + role, these);
        List<String> policies =
                DenyPolicy.ofSessions(
                        "Block" + block, these.stream().map(EndsSooner::session).toList());
        if (policies.size() > MOST_POLICIES) {
            out.printf(
                    "  %d sessions are more than a role's policies can name. Revoke all older sessions of the role (also other"
                            + " subjects'): IAM console, role, Revoke sessions.%n",
                    these.size());
            return;
        }
        out.println(
                "  This ends them within minutes, and no others. Take it away after that time.");
        String name = role.substring(role.lastIndexOf('/') + 1);
        String account = role.replaceFirst(":role/.*", "");
        for (int i = 0; i < policies.size(); i++) {
            String policy = "mintmark-block-%d-%d".formatted(block, i + 1);
            if (policies.size() == 1) {
                out.printf(
                        "  aws iam put-role-policy --role-name %s --policy-name %s --policy-document '%s'%n",
                        name, policy, policies.get(i));
            } else {
                out.printf(
                        "  aws iam create-policy --policy-name %2$s --policy-document '%3$s'%n"
                                + "  aws iam attach-role-policy --role-name %1$s --policy-arn %4$s:policy/%2$s%n",
                        name, policy, policies.get(i), account);
            }
        }
        out.println(
                "  It doesn't reach sessions of other roles that were assumed with them: AWS names those by"
                        + " aws:SourceIdentity, which is the mint id.");
    }

    private static String session(Living one) {
        return RoleSession.name(
                one.sessionName(),
                new MintId(one.mintId()),
                new TenantName(one.tenant()),
                new KeyName(one.key()));
    }

    private void s3(String endpoint, List<Living> these) {
        head("s3-sts", ", " + endpoint, these);
        out.printf(
                "  MinIO looks at its policies with each request: add this statement to the policies that these keys get%n"
                        + "  (mc admin policy create ALIAS NAME FILE), and take it away after that time. Other storage: nothing is known.%n"
                        + "  %s%n",
                DenyPolicy.ofTokens(these.stream().map(one -> one.mintId().toString()).toList()));
    }

    private void google(String account, List<Living> these) {
        if (account.isEmpty()) {
            head("gcp", ", without a service account", these);
            out.println("  Nothing ends them sooner.");
            return;
        }
        head("gcp", ", " + account, these);
        out.printf(
                "  Disabling the service account ends them and all others of it; enabled again before that time, they are good again.%n"
                        + "  gcloud iam service-accounts disable %s%n",
                VisibleText.of(account));
    }

    private void tokens(List<Living> these) {
        head("jwt", "", these);
        out.printf(
                "  Services believe them until then. One that looks at jti can refuse: %s%n",
                these.stream()
                        .map(one -> one.mintId().toString())
                        .collect(Collectors.joining(", ")));
    }

    private void others(String type, List<Living> these) {
        head(type, "", these);
        out.println(
                type.equals("oauth2")
                        ? "  The broker keeps no token that could be revoked; the server that gave them may know a way."
                        : "  Nothing ends them sooner.");
    }
}
