package io.mintmark.console.pages;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a verification found, in a sentence of {@code audit verify}. */
record Finding(Kind kind, String sentence) {
    /**
     * How {@code PostgresLog} and {@code MintLedger} name rows. The texts are at most a row long.
     */
    private static final Pattern ROW =
            Pattern.compile(
                    "\\b(?:mint (?<mint>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
                            + "|Change (?<revision>[0-9]{1,18}) of tenant (?<tenant>[a-z][a-z0-9-]{0,39}))\\b");

    enum Kind {
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

        String sign() {
            return sign;
        }

        String word() {
            return word;
        }
    }

    /**
     * A part of the sentence.
     *
     * @param address of the page of the row that the part names
     */
    record Part(String text, Optional<String> address) {}

    /** The mint whose row it names. */
    Optional<String> mint() {
        Matcher found = ROW.matcher(sentence);
        return found.find() ? Optional.ofNullable(found.group("mint")) : Optional.empty();
    }

    /** The sentence, each row that it names with the address of its page. */
    List<Part> parts() {
        List<Part> parts = new ArrayList<>();
        int end = 0;
        for (MatchResult row : ROW.matcher(sentence).results().toList()) {
            parts.add(new Part(sentence.substring(end, row.start()), Optional.empty()));
            parts.add(new Part(row.group(), Optional.of(address(row))));
            end = row.end();
        }
        parts.add(new Part(sentence.substring(end), Optional.empty()));
        return parts;
    }

    private static String address(MatchResult row) {
        return row.group("mint") != null
                ? Links.mint(row.group("mint"))
                : Links.change(row.group("tenant"), Long.parseLong(row.group("revision")));
    }
}
