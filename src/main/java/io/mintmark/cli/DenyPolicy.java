package io.mintmark.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.util.ArrayList;
import java.util.List;

/** Policies that deny everything to sessions, and to nothing else. */
final class DenyPolicy {
    /** The characters of a managed policy at AWS, blanks not counted; there are none here. */
    static final int LONGEST = 6_144;

    private DenyPolicy() {}

    /**
     * For AWS, in as many policies as it takes. {@code aws:userid} is there for every request of a
     * session of a role: the role's id, a colon, the session's name.
     *
     * @param sid what the statements are called
     */
    static List<String> ofSessions(String sid, List<String> sessions) {
        List<String> policies = new ArrayList<>();
        for (int from = 0; from < sessions.size(); ) {
            int to = sessions.size();
            while (policy(sid, sessions.subList(from, to)).length() > LONGEST) {
                to = from + (to - from) / 2;
            }
            while (to < sessions.size()
                    && policy(sid, sessions.subList(from, to + 1)).length() <= LONGEST) {
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

    /**
     * A statement for MinIO, which keeps the claims of the token that a credential was given for.
     *
     * @param ids of the tokens
     */
    static String ofTokens(List<String> ids) {
        ObjectNode statement = JsonNodeFactory.instance.objectNode();
        statement.put("Effect", "Deny");
        statement.putArray("Action").add("s3:*");
        statement.putArray("Resource").add("arn:aws:s3:::*");
        ArrayNode tokens =
                statement.putObject("Condition").putObject("StringEquals").putArray("jwt:jti");
        ids.forEach(tokens::add);
        return statement.toString();
    }
}
