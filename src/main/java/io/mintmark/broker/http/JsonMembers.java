package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.verdict.RequestRefusal.BadElements;
import io.mintmark.base.verdict.RequestRefusal.BadField;
import io.mintmark.base.verdict.Verdict;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The bodies of the interface's requests: JSON objects that have known members only. */
final class JsonMembers {
    private static final int MOST_KEYS = 10;
    private static final int SHOWN = 64;

    private JsonMembers() {}

    /**
     * The object in a body.
     *
     * @param known its members; that for the token must be text
     * @param example a body that a client may send
     */
    static Verdict<JsonNode> of(byte[] bytes, Set<String> known, String example) {
        Optional<JsonNode> body = Json.read(bytes).filter(JsonNode::isObject);
        if (body.isEmpty()) {
            return bad(
                    "body",
                    "The body must be one JSON object without duplicate fields; send %s."
                            .formatted(example));
        }
        for (var member : body.get().properties()) {
            if (!known.contains(member.getKey())) {
                String name = shown(member.getKey());
                return bad(name, "Unknown field '%s'; remove it.".formatted(name));
            }
        }
        JsonNode token = body.get().path(TokenPlaces.MEMBER);
        return token.isMissingNode() || token.isTextual()
                ? Verdict.passed(body.get())
                : bad(TokenPlaces.MEMBER, "'oidcToken' must be a string.");
    }

    /** The names in the member {@code keys}. */
    static Verdict<List<KeyName>> keys(JsonNode given) {
        if (!given.isArray() || given.isEmpty()) {
            return bad("keys", "'keys' must be an array of 1 to 10 key names.");
        }
        if (given.size() > MOST_KEYS) {
            return bad("keys", "'keys' has more than 10 names; request the others separately.");
        }
        List<KeyName> keys = new ArrayList<>();
        List<String> issues = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (JsonNode element : given) {
            String name = element.asText();
            if (!element.isTextual() || !KeyName.isValid(name)) {
                issues.add(notAName(element));
            } else if (!seen.add(name)) {
                issues.add("'%s' is listed more than once".formatted(name));
            } else {
                keys.add(new KeyName(name));
            }
        }
        return issues.isEmpty()
                ? Verdict.passed(keys)
                : Verdict.refused(new BadElements("keys", issues));
    }

    private static String notAName(JsonNode element) {
        return "'%s' is not a key name: a letter, then up to 63 letters, digits, '_', '.' or '-'"
                .formatted(shown(element.isTextual() ? element.asText() : element.toString()));
    }

    private static String shown(String text) {
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
    }

    static <T> Verdict<T> bad(String field, String reason) {
        return Verdict.refused(new BadField(field, reason));
    }
}
