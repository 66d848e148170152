package io.mintmark.console.verification;

import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** A finding of a verification, as a sentence of {@code audit verify}. */
public record Finding(Kind kind, String sentence) {
    /**
     * Matches the names of rows in the sentences of {@code PostgresLog} and {@code MintLedger}. The
     * texts are at most a row long.
     */
    private static final Pattern ROW =
            Pattern.compile(
                    "\\b(?:mint (?<mint>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
                            + "|Change (?<revision>[0-9]{1,18}) of tenant (?<tenant>[a-z][a-z0-9-]{0,39}))\\b");

    /** The severity. */
    public enum Kind {
        WRONG("✕", "wrong"),
        DECLARED("◐", "declared"),
        DOUBT("◐", "doubt"),
        NOTE("ⓘ", "note");

        private final String sign;
        private final String word;

        Kind(String sign, String word) {
            this.sign = sign;
            this.word = word;
        }

        /** A sign, so that kinds don't differ by colour alone. */
        public String sign() {
            return sign;
        }

        /** The kind's name on pages, and in its style class. */
        public String word() {
            return word;
        }
    }

    /** The mint, if the first row that the sentence names belongs to one. */
    Optional<String> mint() {
        return ROW.matcher(sentence).results().findFirst().map(row -> row.group("mint"));
    }

    /**
     * The rows that the sentence names, in its order. Each has the group {@code mint}, or else
     * {@code tenant} and {@code revision}.
     */
    public List<MatchResult> rows() {
        return ROW.matcher(sentence).results().toList();
    }
}
