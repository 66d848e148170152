package io.mintmark.provider.s3sts;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.json.StrictJson;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.Settings;
import io.mintmark.provider.sts.RoleSession;

import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/**
 * The session policy of a credential, which allows only what storage needs. Without one, MinIO lets
 * the holder of the credential create access keys that outlive it. With one that merely doesn't
 * allow that, servers from before October 2025 still do, because for a user's own accounts they
 * only evaluate denials (CVE-2025-62506).
 */
final class SessionPolicy {
    /** The way in which a policy denies everything but storage. */
    enum Denial {
        /** The policy denies every action except those of S3. */
        ALL_BUT_S3,
        /**
         * The policy denies the actions that can create credentials. MinIO needs this because it
         * accepts a {@code NotAction} but fails when it serializes the statement, which has no
         * {@code Action}.
         */
        ADMINISTRATION
    }

    /** MinIO's message for a {@code NotAction}. */
    private static final String NO_NOT_ACTION = "empty actions not allowed";

    /** Go's JSON reader takes {@code "statement"} too, and the last one would win. */
    private static final Set<String> MEMBERS = Set.of("Version", "Id", "Statement");

    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private SessionPolicy() {}

    /** The key's policy, or else one that allows all of S3, and each denial of all else. */
    static Map<Denial, String> of(Settings key) {
        ObjectNode policy =
                key.policy("policy", Integer.MAX_VALUE)
                        .map(text -> parsed(key, text))
                        .orElseGet(SessionPolicy::allOfS3);
        ArrayNode statements = statements(key, policy);
        Map<Denial, String> policies = new EnumMap<>(Denial.class);
        for (Denial denial : Denial.values()) {
            policy.set("Statement", statements.deepCopy().add(denial(denial)));
            policies.put(denial, fitting(key, policy.toString()));
        }
        return policies;
    }

    private static String fitting(Settings key, String whole) {
        if (whole.length() > RoleSession.LONGEST_POLICY) {
            throw key.unusable(
                    "policy",
                    "has %d characters, including the statement that the broker adds so that a credential can't create others; the maximum is %d"
                            .formatted(whole.length(), RoleSession.LONGEST_POLICY));
        }
        return whole;
    }

    /** Whether a server refused the policy because it doesn't know {@link Denial#ALL_BUT_S3}. */
    static boolean isForeign(MintResult result) {
        return result instanceof Failed(Reason reason, String detail)
                && reason == Reason.PROVIDER_MISCONFIGURED
                && detail.contains(NO_NOT_ACTION);
    }

    private static ObjectNode parsed(Settings key, String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        ObjectNode policy =
                StrictJson.object(utf8, utf8.length)
                        .orElseThrow(() -> key.unusable("policy", "isn't a JSON object"));
        policy.fieldNames()
                .forEachRemaining(name -> {
                    if (!MEMBERS.contains(name)) {
                        throw key.unusable(
                                "policy",
                                "has the unknown field '%s'; a policy has Version, Id and Statement"
                                        .formatted(name));
                    }
                });
        return policy;
    }

    /** The policy's statements. A policy may contain one statement without a list around it. */
    private static ArrayNode statements(Settings key, ObjectNode policy) {
        JsonNode statements = policy.path("Statement");
        if (statements instanceof ArrayNode several) {
            return several;
        }
        if (!statements.isMissingNode() && !statements.isObject()) {
            throw key.unusable("policy", "has a Statement that is neither an object nor a list");
        }
        return statements.isObject() ? JSON.arrayNode().add(statements) : JSON.arrayNode();
    }

    private static ObjectNode allOfS3() {
        return JSON.objectNode()
                .put("Version", "2012-10-17")
                .set("Statement", JSON.arrayNode().add(statement("Allow", "Action")));
    }

    private static ObjectNode denial(Denial denial) {
        return switch (denial) {
            case ALL_BUT_S3 -> statement("Deny", "NotAction");
            case ADMINISTRATION -> {
                ObjectNode statement = JSON.objectNode().put("Effect", "Deny");
                statement.putArray("Action").add("admin:*");
                yield statement;
            }
        };
    }

    private static ObjectNode statement(String effect, String which) {
        ObjectNode statement = JSON.objectNode().put("Effect", effect);
        statement.putArray(which).add("s3:*");
        statement.putArray("Resource").add("arn:aws:s3:::*");
        return statement;
    }
}
