package io.mintmark.identity;

import java.util.Locale;
import java.util.Set;

/** Claims that no configuration may put into a token, because others act on them. */
public final class ReservedClaims {
    private static final String AWS = "https://aws.amazon.com";

    /** RFC 7519 section 4.1. */
    private static final Set<String> BY_STANDARD =
            Set.of("iss", "sub", "aud", "exp", "nbf", "iat", "jti");

    /**
     * Of the IANA registry those that say who holds a token or acts for whom. AWS takes {@code azp}
     * for the audience where there is one.
     */
    private static final Set<String> BY_MEANING =
            Set.of("azp", "client_id", "act", "may_act", "cnf", "nonce", "auth_time", "acr", "amr");

    private ReservedClaims() {}

    /** Whether the broker alone sets this claim, in every token. */
    public static boolean ownsByStandard(String name) {
        return BY_STANDARD.contains(name);
    }

    /** Whether settings that name this claim are to be refused. */
    public static boolean includes(String name) {
        return ownsByStandard(name)
                || BY_MEANING.contains(name)
                || name.toLowerCase(Locale.ROOT).startsWith(AWS);
    }
}
