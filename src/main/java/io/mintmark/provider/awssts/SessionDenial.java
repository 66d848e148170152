package io.mintmark.provider.awssts;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.util.ArrayList;
import java.util.List;

/** IAM policies that deny everything to some sessions of a role, and to nothing else. */
final class SessionDenial {
    /** The most characters of a managed policy, spaces not counted (IAM quotas). */
    static final int MAX_LENGTH = 6_144;

    private SessionDenial() {}

    /**
     * Makes policies that deny all these sessions, as few as possible. {@code aws:userid}, which is
     * the role's id, a colon and the session's name, is in the context of every request of a role
     * session.
     *
     * @param sid the id of each policy's statement
     */
    static List<String> policies(String sid, List<String> sessions) {
        List<String> policies = new ArrayList<>();
        for (int from = 0; from < sessions.size(); ) {
            int to = sessions.size();
            while (policy(sid, sessions.subList(from, to)).length() > MAX_LENGTH) {
                to = from + (to - from) / 2;
            }
            while (to < sessions.size()
                    && policy(sid, sessions.subList(from, to + 1)).length() <= MAX_LENGTH) {
                to++;
            }
            policies.add(policy(sid, sessions.subList(from, to)));
            from = to;
        }
        return policies;
    }

    private static String policy(String sid, List<String> sessions) {
        ObjectNode policy = JsonNodeFactory.instance.objectNode();
        policy.put("Version", "2012-10-17");
        ObjectNode statement =
                policy.putArray("Statement")
                        .addObject()
                        .put("Sid", sid)
                        .put("Effect", "Deny")
                        .put("Action", "*")
                        .put("Resource", "*");
        ArrayNode users =
                statement.putObject("Condition").putObject("StringLike").putArray("aws:userid");
        sessions.forEach(session -> users.add("*:" + session));
        return policy.toString();
    }
}
