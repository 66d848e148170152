package io.mintmark.broker.http;

import io.mintmark.base.verdict.RequestRefusal.BadField;
import io.mintmark.base.verdict.Verdict;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A form ({@code application/x-www-form-urlencoded}), parsed as strictly as JSON: every escape is
 * valid, every text is UTF-8, no name has two values. Their number is limited, because names can be
 * chosen to have equal hash codes.
 *
 * @param parameters those with a value; the others count as absent (RFC 6749 section 3.2)
 */
record FormParameters(Map<String, String> parameters) {
    private static final int HEX = 16;

    /** The maximum number of parameters, several times as many as any request has. */
    private static final int MOST = 100;

    FormParameters {
        parameters = Map.copyOf(parameters);
    }

    /** A form in which each name appears once. */
    static Verdict<FormParameters> of(byte[] bytes) {
        return of(bytes, Set.of());
    }

    /**
     * A form.
     *
     * @param repeatable names that may appear several times, with the same value
     */
    static Verdict<FormParameters> of(byte[] bytes, Set<String> repeatable) {
        Map<String, String> parameters = new HashMap<>();
        String[] pairs = new String(bytes, StandardCharsets.ISO_8859_1).split("&", MOST + 1);
        if (pairs.length > MOST) {
            return bad("The body has more than %d parameters; send fewer.".formatted(MOST));
        }
        for (String pair : pairs) {
            if (pair.isEmpty()) {
                continue;
            }
            int equals = pair.indexOf('=');
            Optional<String> name = decoded(equals < 0 ? pair : pair.substring(0, equals));
            Optional<String> value = decoded(equals < 0 ? "" : pair.substring(equals + 1));
            if (name.isEmpty() || value.isEmpty()) {
                return bad(
                        "The body is not a valid form: a %-escape is wrong, or the text is not"
                                + " UTF-8.");
            }
            String earlier = parameters.put(name.get(), value.get());
            if (earlier != null
                    && !(repeatable.contains(name.get()) && earlier.equals(value.get()))) {
                return bad("The body has a parameter twice; send each parameter once.");
            }
        }
        parameters.values().removeIf(String::isEmpty);
        return Verdict.passed(new FormParameters(parameters));
    }

    private static Verdict<FormParameters> bad(String reason) {
        return Verdict.refused(new BadField("body", reason));
    }

    Optional<String> value(String name) {
        return Optional.ofNullable(parameters.get(name));
    }

    boolean has(String name) {
        return parameters.containsKey(name);
    }

    /** Decodes a text; empty if it isn't validly encoded. */
    private static Optional<String> decoded(String encoded) {
        ByteBuffer bytes = ByteBuffer.allocate(encoded.length());
        for (int i = 0; i < encoded.length(); i++) {
            char character = encoded.charAt(i);
            if (character == '%') {
                int octet = octet(encoded, i + 1);
                if (octet < 0) {
                    return Optional.empty();
                }
                bytes.put((byte) octet);
                i += 2;
            } else {
                bytes.put(character == '+' ? (byte) ' ' : (byte) character);
            }
        }
        try {
            return Optional.of(StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }

    private static int octet(String encoded, int at) {
        if (at + 2 > encoded.length()) {
            return -1;
        }
        int high = Character.digit(encoded.charAt(at), HEX);
        int low = Character.digit(encoded.charAt(at + 1), HEX);
        return high < 0 || low < 0 ? -1 : high * HEX + low;
    }
}
