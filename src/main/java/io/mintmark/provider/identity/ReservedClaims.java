package io.mintmark.provider.identity;

import java.text.Normalizer;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Claims that no configuration may put into a token, because others act on them. */
public final class ReservedClaims {
    private static final String AWS = "https://aws.amazon.com";
    private static final Pattern OVERLOOKED = Pattern.compile("[\\p{Z}\\p{C}]");

    /** RFC 7519 section 4.1. */
    private static final Set<String> BY_STANDARD =
            Set.of("iss", "sub", "aud", "exp", "nbf", "iat", "jti");

    /**
     * Claims of the IANA registry that name the holder of a token or the party for whom it acts.
     * AWS takes {@code azp} as the audience if it is present.
     */
    private static final Set<String> BY_MEANING =
            Set.of("azp", "client_id", "act", "may_act", "cnf", "nonce", "auth_time", "acr", "amr");

    /**
     * Names by which services look up identity and permissions. A key may set them, but only in
     * this spelling: {@code "Groups"} could be mistaken for one of them.
     */
    private static final Set<String> WELL_KNOWN =
            Set.of(
                    "scope",
                    "scp",
                    "groups",
                    "roles",
                    "entitlements",
                    "name",
                    "email",
                    "email_verified",
                    "preferred_username",
                    "upn",
                    "oid",
                    "tid",
                    "sid");

    private ReservedClaims() {}

    /** Whether the broker alone sets this claim, in every token. */
    public static boolean ownsByStandard(String name) {
        return BY_STANDARD.contains(name);
    }

    /**
     * Whether settings must not name this claim: it is reserved, or a careless reader could take it
     * for a reserved or a well-known claim.
     */
    public static boolean includes(String name) {
        String plain = plain(name);
        return BY_STANDARD.contains(plain)
                || BY_MEANING.contains(plain)
                || plain.startsWith(AWS)
                || (WELL_KNOWN.contains(plain) && !plain.equals(name));
    }

    /** Without what readers overlook: capitals, blanks, invisible letters and other widths. */
    private static String plain(String name) {
        return OVERLOOKED
                .matcher(Normalizer.normalize(name, Normalizer.Form.NFKC))
                .replaceAll("")
                .toLowerCase(Locale.ROOT);
    }
}
