package io.mintmark.http;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.tenant.KeyName;
import io.mintmark.verdict.RequestRefusal.BadElements;
import io.mintmark.verdict.RequestRefusal.BadField;
import io.mintmark.verdict.Verdict;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The body of a mint request (HTTP API section 2.1), checked.
 *
 * @param members what was sent
 */
record MintBody(JsonNode members, List<KeyName> keys) {
    private static final int MOST_KEYS = 10;
    private static final int SHOWN = 64;
    private static final Set<String> KNOWN = Set.of("keys", "oidcToken");

    static Verdict<MintBody> of(byte[] bytes) {
        Optional<JsonNode> body = Json.read(bytes).filter(JsonNode::isObject);
        if (body.isEmpty()) {
            return bad(
                    "body",
                    "The body is not one JSON object with each member once; send {\"keys\": [\"…\"]}.");
        }
        return of(body.get());
    }

    private static Verdict<MintBody> of(JsonNode body) {
        for (var member : body.properties()) {
            if (!KNOWN.contains(member.getKey())) {
                String name = shown(member.getKey());
                return bad(name, "Unknown member '%s'; remove it.".formatted(name));
            }
        }
        JsonNode token = body.path("oidcToken");
        if (!token.isMissingNode() && !token.isTextual()) {
            return bad("oidcToken", "'oidcToken' must be a string.");
        }
        return keys(body.path("keys")).map(keys -> new MintBody(body, keys));
    }

    private static Verdict<List<KeyName>> keys(JsonNode given) {
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
                issues.add(
                        "'%s' is not a key name: a letter, then up to 63 letters, digits,"
                                        .formatted(
                                                shown(
                                                        element.isTextual()
                                                                ? name
                                                                : element.toString()))
                                + " '_', '.' or '-'");
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

    private static String shown(String text) {
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
    }

    private static <T> Verdict<T> bad(String field, String reason) {
        return Verdict.refused(new BadField(field, reason));
    }
}
