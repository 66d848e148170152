package io.mintmark.console.pages;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/** The outcome of a mint or of a refused request. */
enum MintOutcome {
    ISSUED("✓", "a credential was made and handed to the client"),
    FAILED("✕", "the provider gave no credential"),
    WITHHELD("◐", "a credential was made, but not handed to the client"),
    DENIED("⊘", "no grant gave the key, or there was no such key"),
    REJECTED("⊗", "the token was not accepted"),
    UNRESOLVED("?", "no outcome is on record, so a credential may exist"),
    UNDER_WAY("…", "begun a moment ago, its outcome is still to come");

    /** The maximum time of a mint: by then its outcome is written or never will be. */
    private static final Duration LONGEST = Duration.ofMinutes(2);

    private final String sign;
    private final String meaning;

    MintOutcome(String sign, String meaning) {
        this.sign = sign;
        this.meaning = meaning;
    }

    /**
     * That of a mint.
     *
     * @param kind of its second step, if there is one
     */
    static MintOutcome of(Optional<String> kind, Instant begun, Instant now) {
        return kind.map(word -> valueOf(word.toUpperCase(Locale.ROOT)))
                .orElse(begun.plus(LONGEST).isAfter(now) ? UNDER_WAY : UNRESOLVED);
    }

    /** As the log says it. */
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

    /** The class of its style. */
    String style() {
        return "outcome " + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
