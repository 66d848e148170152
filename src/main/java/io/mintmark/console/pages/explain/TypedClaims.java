package io.mintmark.console.pages.explain;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.auditor.explain.GivenClaims;
import io.mintmark.base.json.JacksonFactories;
import io.mintmark.console.pages.frame.Parameters;

import java.util.List;
import java.util.Optional;

/** The claims that somebody typed: a JSON object, lines of {@code name=value}, or a token. */
final class TypedClaims {
    private static final ObjectMapper JSON = JacksonFactories.mapper().build();
    private static final String SUBJECT = "sub";
    private static final int DOTS_OF_A_TOKEN = 2;

    private TypedClaims() {}

    /** Whether the text looks like a token, which is a secret. */
    static boolean isToken(String text) {
        String token = text.strip();
        return token.chars().filter(sign -> sign == '.').count() == DOTS_OF_A_TOKEN
                && token.chars().allMatch(TypedClaims::isOfToken);
    }

    private static boolean isOfToken(int sign) {
        return (sign >= 'a' && sign <= 'z')
                || (sign >= 'A' && sign <= 'Z')
                || (sign >= '0' && sign <= '9')
                || "._-=".indexOf(sign) >= 0;
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
        return byName(
                subject, text.lines().map(String::strip).filter(line -> !line.isEmpty()).toList());
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
