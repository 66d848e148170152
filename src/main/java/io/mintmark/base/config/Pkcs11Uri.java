package io.mintmark.base.config;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Which key in a PKCS#11 token, by RFC 7512: {@code pkcs11:token=NAME;object=LABEL;id=%01}.
 *
 * @param token the token's label; empty where the library shows one token only
 * @param object the label of the key pair
 * @param id its {@code CKA_ID} in hexadecimal
 */
public record Pkcs11Uri(Optional<String> token, Optional<String> object, Optional<String> id) {
    private static final String SCHEME = "pkcs11:";
    private static final Set<String> ATTRIBUTES = Set.of("token", "object", "id", "type");
    private static final int HEX = 16;

    public Pkcs11Uri {
        if (object.isEmpty() && id.isEmpty()) {
            throw new IllegalArgumentException("a PKCS#11 URI needs object= or id=");
        }
    }

    /** The key pair with a label, in the only token. */
    public static Pkcs11Uri ofObject(String label) {
        return new Pkcs11Uri(Optional.empty(), Optional.of(label), Optional.empty());
    }

    /**
     * Reads a URI.
     *
     * @throws IllegalArgumentException if it is none, or has attributes other than token, object,
     *     id and type=private. A PIN is never part of it.
     */
    public static Pkcs11Uri parse(String text) {
        if (!text.startsWith(SCHEME)) {
            throw new IllegalArgumentException("a PKCS#11 URI begins with pkcs11:");
        }
        return ofPath(text.substring(SCHEME.length()));
    }

    /** The part after {@code pkcs11:}, as in secret references: {@code object=LABEL}. */
    public static Pkcs11Uri ofPath(String path) {
        Map<String, byte[]> given = new HashMap<>();
        for (String attribute : path.split(";", -1)) {
            int equals = attribute.indexOf('=');
            String name = equals < 0 ? attribute : attribute.substring(0, equals);
            if (equals < 0 || !ATTRIBUTES.contains(name)) {
                throw new IllegalArgumentException("unknown attribute of a key: " + name);
            }
            if (given.put(name, decoded(attribute.substring(equals + 1))) != null) {
                throw new IllegalArgumentException("twice: " + name);
            }
        }
        if (given.containsKey("type") && !text(given, "type").orElse("").equals("private")) {
            throw new IllegalArgumentException("the type must be private");
        }
        return new Pkcs11Uri(
                text(given, "token"),
                text(given, "object"),
                Optional.ofNullable(given.get("id")).map(HexFormat.of()::formatHex));
    }

    private static Optional<String> text(Map<String, byte[]> given, String name) {
        return Optional.ofNullable(given.get(name)).map(Pkcs11Uri::utf8);
    }

    private static String utf8(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("not UTF-8", e);
        }
    }

    /** Decodes percent-encoding (RFC 3986 section 2.1). Other characters stand for themselves. */
    private static byte[] decoded(String value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] raw = value.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < raw.length; i++) {
            if (raw[i] == '?' || Character.isISOControl(raw[i])) {
                throw new IllegalArgumentException("a query, such as ?pin-value=, isn't accepted");
            }
            if (raw[i] != '%') {
                bytes.write(raw[i]);
                continue;
            }
            String digits =
                    new String(Arrays.copyOfRange(raw, i + 1, i + 3), StandardCharsets.US_ASCII);
            if (!digits.chars().allMatch(each -> Character.digit(each, HEX) >= 0)) {
                throw new IllegalArgumentException("% without two hexadecimal digits");
            }
            bytes.write(Integer.parseInt(digits, HEX));
            i += 2;
        }
        if (bytes.size() == 0) {
            throw new IllegalArgumentException("an attribute without a value");
        }
        return bytes.toByteArray();
    }

    /** The URI as messages show it. */
    @Override
    public String toString() {
        return SCHEME
                + token.map(it -> "token=" + it + ";").orElse("")
                + object.map(it -> "object=" + it).orElse("")
                + id.map(it -> (object.isPresent() ? ";" : "") + "id=" + it).orElse("");
    }
}
