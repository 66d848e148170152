package io.mintmark.console.pages;

import java.util.Collection;
import java.util.List;

/**
 * What ends a credential before it expires, by the type of its provider, as {@code docs/admin.md}
 * says it for the command line.
 */
final class SoonerEnd {
    private SoonerEnd() {}

    /** A sentence for each type, in the order of their names. */
    static List<String> of(Collection<String> types) {
        return types.stream().distinct().sorted().map(SoonerEnd::sentence).toList();
    }

    private static String sentence(String type) {
        return "What ends one sooner, %s: %s".formatted(type, way(type));
    }

    private static String way(String type) {
        return switch (type) {
            case "aws-sts" ->
                    "a policy at the key's role that denies everything to exactly these sessions"
                            + " (aws:userid); the command mintmark block-subject, which blocks too,"
                            + " prints it. Or all older sessions of the role, also other subjects':"
                            + " IAM console, the role, “Revoke sessions” (aws:TokenIssueTime).";
            case "s3-sts" ->
                    "in MinIO, a statement in the policies that the key gets, which denies by the"
                            + " token's jti; the command mintmark block-subject, which blocks too,"
                            + " prints it. Of other storage nothing is known.";
            case "gcp" ->
                    "disabling the key's service account, which ends all others of it too; without"
                            + " a service account, nothing.";
            case "jwt" ->
                    "nothing, unless the service refuses it by its jti, which is the mint id.";
            default -> "nothing that the broker knows of.";
        };
    }
}
