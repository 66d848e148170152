package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.jspecify.annotations.Nullable;

import java.util.Optional;

/**
 * The claim {@code act} (RFC 8693 section 4.1): who acts for a token's subject, and nested in it
 * who acted before.
 */
public final class ActClaim {
    /** The maximum number of actors in a token, each nested in the one before. */
    public static final int DEEPEST = 4;

    static final String NAME = "act";
    private static final String ISSUER = "iss";
    private static final String SUBJECT = "sub";

    private ActClaim() {}

    /** Whether the claim of a token is absent, or objects nested up to {@value #DEEPEST} deep. */
    static boolean isFormed(ObjectNode claims) {
        JsonNode act = claims.path(NAME);
        for (int depth = 0; !act.isMissingNode(); depth++) {
            if (!act.isObject() || depth == DEEPEST) {
                return false;
            }
            act = act.path(NAME);
        }
        return true;
    }

    /** The claim of a token; empty if it is absent. */
    static Optional<ObjectNode> in(ObjectNode claims) {
        return claims.path(NAME) instanceof ObjectNode act ? Optional.of(act) : Optional.empty();
    }

    /** The actor's {@code sub}; empty if it isn't one. */
    static Optional<String> subject(JsonNode act) {
        JsonNode subject = act.path(SUBJECT);
        return Text.fault(subject, Text.SUBJECT).isEmpty()
                ? Optional.of(subject.textValue())
                : Optional.empty();
    }

    /** Whether an actor of this issuer is meant: one without an issuer is of the token's own. */
    static boolean isOf(JsonNode act, String tokenIssuer, String issuer) {
        JsonNode named = act.path(ISSUER);
        return named.isMissingNode()
                ? issuer.equals(tokenIssuer)
                : named.isTextual() && named.textValue().equals(issuer);
    }

    /**
     * The claim of a credential for an actor: its issuer and subject, and nested those who acted
     * before it.
     *
     * @param before the actor's own claim in the subject's token, if that has one
     */
    static ObjectNode of(String issuer, String subject, @Nullable JsonNode before) {
        ObjectNode act = JsonNodeFactory.instance.objectNode();
        act.put(ISSUER, issuer).put(SUBJECT, subject);
        if (before != null && before.path(NAME) instanceof ObjectNode nested) {
            act.set(NAME, identified(nested));
        }
        return act;
    }

    private static ObjectNode identified(ObjectNode claim) {
        ObjectNode act = JsonNodeFactory.instance.objectNode();
        for (String member : new String[] {ISSUER, SUBJECT}) {
            if (claim.path(member).isTextual()) {
                act.set(member, claim.path(member));
            }
        }
        if (claim.path(NAME) instanceof ObjectNode nested) {
            act.set(NAME, identified(nested));
        }
        return act;
    }
}
