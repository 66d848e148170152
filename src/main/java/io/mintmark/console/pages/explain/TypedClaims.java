package io.mintmark.console.pages.explain;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.auditor.explain.GivenClaims;
import io.mintmark.console.pages.frame.Parameters;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** What the form takes as claims: a JSON object, lines of {@code name=value}, or a token. */
final class TypedClaims {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String SUBJECT = "sub";

    private static final Pattern TOKEN =
            Pattern.compile("[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_=-]*");

    private TypedClaims() {}

    /** Whether it looks like a token, which is a secret. */
    static boolean isToken(String text) {
        return TOKEN.matcher(text.strip()).matches();
    }

    /**
     * The claims of a form, as JSON, where they can be read.
     *
     * @param typed the field of claims, which may be empty if the subject is given
     * @return none if neither is given, or if the field holds something else
     */
    static Optional<String> of(Optional<String> subject, Optional<String> typed) {
        if (typed.isEmpty()) {
            return subject.map(name -> JSON.createObjectNode().put(SUBJECT, name).toString());
        }
        String text = typed.get();
        if (isToken(text)) {
            return Optional.of(GivenClaims.of(text.strip()).claims().toPrettyString());
        }
        if (ExplainForm.isObject(text)) {
            return Optional.of(text);
        }
        return byName(subject, text.lines().map(String::strip).filter(line -> !line.isEmpty()).toList());
    }

    private static Optional<String> byName(Optional<String> subject, List<String> lines) {
        ObjectNode claims = JSON.createObjectNode();
        subject.ifPresent(name -> claims.put(SUBJECT, name));
        for (String line : lines) {
            int equals = line.indexOf('=');
            if (equals < 1) {
                return Optional.empty();
            }
            String name = line.substring(0, equals).strip();
            if (claims.has(name)) {
                throw new Parameters.Unusable("The claims have '%s' twice.".formatted(name));
            }
            claims.put(name, line.substring(equals + 1).strip());
        }
        return Optional.of(claims.toString());
    }
}
