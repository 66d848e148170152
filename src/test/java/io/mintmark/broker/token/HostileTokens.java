package io.mintmark.broker.token;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * Tokens that a stranger could make up: some known members of header and claims, each good, or
 * anything that JSON has or nearly has, signed by nobody. The same seed gives the same tokens.
 */
public final class HostileTokens {
    /**
     * What is to be read as text, as a number, as time or not at all; each as it stands in JSON.
     */
    private static final List<String> VALUES =
            List.of(
                    "1e-2147483648",
                    "1e2147483647",
                    "1e-2147483647",
                    "-1e2147483648",
                    "1e400",
                    "1e-400",
                    "0e-2147483648",
                    "0.1e-2147483648",
                    "1E+99999999999",
                    "-0",
                    "-0.0e-0",
                    "99999999999999999999999999",
                    "253402300800",
                    "-62135596801",
                    "1.5",
                    "0",
                    "1",
                    "\"\\u0000\"",
                    "\"a\\u0000b\"",
                    "\"\\ud800\"",
                    "\"\\udc00\\ud800\"",
                    "\"\"",
                    "\" \"",
                    "\"\\u001b[31m\"",
                    "\"\\u2028\"",
                    "\"\\uffff\"",
                    "\"\\ud83d\\ude00\"",
                    "\"'; --\"",
                    "\"%s%n\"",
                    "\"${jndi:ldap://x}\"",
                    "\"\\\\\\\"\"",
                    "null",
                    "true",
                    "[]",
                    "{}",
                    "[[]]",
                    "[{}]",
                    "[null]",
                    "[1]",
                    "[\"\\u0000\"]",
                    "[\"a\",\"a\\u0000\"]",
                    "[\"a\",1e-2147483648]",
                    "{\"a\":1e-2147483648}",
                    "{\"\\u0000\":1}",
                    "{\"a\":{\"b\":[\"\\u0000\"]}}",
                    "NaN",
                    "Infinity",
                    "01",
                    "+1",
                    ".5",
                    "1.",
                    "0x1",
                    "'a'",
                    "1_0",
                    "\"a",
                    "[",
                    "{",
                    "",
                    "\"\u0000\"",
                    "\"\n\"",
                    "\"\\x\"",
                    "/**/1",
                    "1 1");

    private static final List<String> ALGORITHMS =
            List.of(
                    "\"ES256\"",
                    "\"RS256\"",
                    "\"PS512\"",
                    "\"EdDSA\"",
                    "\"none\"",
                    "\"HS256\"",
                    "\"es256\"");

    private static final List<String> SIGNATURES =
            List.of(
                    "",
                    "AA",
                    "AAAA",
                    "A".repeat(86),
                    "A".repeat(342),
                    "_".repeat(86),
                    "A".repeat(9_000),
                    "=",
                    "\u0000");

    private static final int LONG_NUMBER = 2_000;
    private static final int LONG_TEXT = 9_000;
    private static final int DEEP = 2_000;
    private static final int ONE_IN = 3;

    private final String issuer;
    private final String audience;
    private final String keyId;
    private final Random random;

    /** The names are those of a provider that there is, so that tokens get as far as they can. */
    public HostileTokens(String issuer, String audience, String keyId, long seed) {
        this.issuer = issuer;
        this.audience = audience;
        this.keyId = keyId;
        this.random = new Random(seed);
    }

    /** The next one. */
    public String next() {
        return part(header()) + "." + part(claims()) + "." + oneOf(SIGNATURES);
    }

    /** The next one's header, as text. */
    String header() {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("alg", damaged(oneOf(ALGORITHMS)));
        members.put("kid", damaged("\"" + keyId + "\""));
        maybe(members, "typ");
        maybe(members, "crit");
        maybe(members, "b64");
        return json(members);
    }

    /** The next one's claims, as text. */
    String claims() {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("iss", damaged("\"" + issuer + "\""));
        members.put("aud", damaged("\"" + audience + "\""));
        members.put("sub", damaged("\"ci:main\""));
        members.put("iat", damaged("1700000000"));
        members.put("exp", damaged("4000000000"));
        maybe(members, "nbf");
        maybe(members, "jti");
        maybe(members, "team");
        maybe(members, "a\\u0000b");
        return json(members);
    }

    private String damaged(String good) {
        return random.nextInt(ONE_IN) > 0 ? good : any();
    }

    private void maybe(Map<String, String> members, String name) {
        if (random.nextInt(ONE_IN) == 0) {
            members.put(name, any());
        }
    }

    private String any() {
        return switch (random.nextInt(12)) {
            case 0 -> "9".repeat(1 + random.nextInt(LONG_NUMBER));
            case 1 -> "1e-" + random.nextLong(Long.MAX_VALUE);
            case 2 -> "\"" + "\u4e2d".repeat(random.nextInt(LONG_TEXT / ONE_IN)) + "\"";
            case 3 -> "[".repeat(random.nextInt(DEEP)) + "]".repeat(random.nextInt(DEEP));
            case 4 -> "\"" + audience + "\\u0000\"";
            case 5 -> "[" + oneOf(VALUES) + "," + oneOf(VALUES) + "]";
            default -> oneOf(VALUES);
        };
    }

    private String json(Map<String, String> members) {
        String all =
                members.entrySet().stream()
                        .map(member -> "\"" + member.getKey() + "\":" + member.getValue())
                        .collect(Collectors.joining(","));
        return switch (random.nextInt(40)) {
            case 0 -> "{" + all + "," + all + "}";
            case 1 -> "[{" + all + "}]";
            case 2 -> "\ufeff{" + all + "}";
            case 3 -> "{" + all + "} {}";
            case 4 -> "{" + all;
            default -> "{" + all + "}";
        };
    }

    private String part(String json) {
        byte[] bytes =
                json.getBytes(
                        random.nextInt(40) == 0 ? StandardCharsets.UTF_16 : StandardCharsets.UTF_8);
        return random.nextInt(40) == 0
                ? Base64.getUrlEncoder().encodeToString(bytes)
                : Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private String oneOf(List<String> values) {
        return values.get(random.nextInt(values.size()));
    }
}
