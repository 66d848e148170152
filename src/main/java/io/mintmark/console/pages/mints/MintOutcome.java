package io.mintmark.console.pages.mints;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The outcome of a mint or of a refused request. */
public enum MintOutcome {
    ISSUED("✓", "a credential was made and returned to the client"),
    FAILED("✕", "the provider gave no credential"),
    WITHHELD("◐", "a credential was made, but not returned to the client"),
    DENIED("⊘", "no grant gave the key, or there was no such key"),
    REJECTED("⊗", "the token was not accepted"),
    UNRESOLVED("?", "no outcome is on record, so a credential may exist"),
    UNDER_WAY("…", "started a moment ago; the outcome is pending");

    /** The words that a search takes: single outcomes, and names of several at once. */
    static final List<String> SEARCHED =
            List.of(
                    "issued",
                    "failed",
                    "withheld",
                    "denied",
                    "rejected",
                    "unresolved",
                    "live",
                    "minted",
                    "refused");

    /** The maximum time of a mint: by then its outcome is written or never will be. */
    private static final Duration LONGEST = Duration.ofMinutes(2);

    private final String sign;
    private final String meaning;

    MintOutcome(String sign, String meaning) {
        this.sign = sign;
        this.meaning = meaning;
    }

    /**
     * The outcome of a mint.
     *
     * @param kind of its second step, if there is one
     */
    static MintOutcome of(Optional<String> kind, Instant begun, Instant now) {
        return kind.map(word -> valueOf(word.toUpperCase(Locale.ROOT)))
                .orElse(begun.plus(LONGEST).isAfter(now) ? UNDER_WAY : UNRESOLVED);
    }

    /** The label of an outcome that a search accepts. */
    static String label(String searched) {
        return switch (searched) {
            case "live" -> "active";
            case "minted" -> "all mints";
            case "refused" -> "all refusals";
            default -> searched;
        };
    }

    /** The outcome in words. */
    String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** A sign, so that outcomes don't differ by colour alone. */
    String sign() {
        return sign;
    }

    String meaning() {
        return meaning;
    }

    /** The CSS class of the outcome. */
    String style() {
        return "outcome " + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
