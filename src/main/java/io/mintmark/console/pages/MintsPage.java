package io.mintmark.console.pages;

import io.mintmark.console.pages.MintSearch.Found;
import io.mintmark.console.pages.MintSearch.Wanted;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Mints and refusals that were looked for. */
record MintsPage(Wanted wanted, Found found) {
    static final List<String> OUTCOMES =
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

    /** An outcome, or several under one word, as people read it. */
    static String label(String outcome) {
        return switch (outcome) {
            case "live" -> "live: still to end";
            case "minted" -> "minted: all but refusals";
            case "refused" -> "refused: denied or rejected";
            default -> outcome;
        };
    }

    /** Whether nothing can be found, since no outcome is called so. */
    boolean isOfNoOutcome() {
        return wanted.outcome().filter(word -> !OUTCOMES.contains(word)).isPresent();
    }

    /** The one that an id alone was looked for by, if there is just one; a subject has a list. */
    Optional<MintLine> onlyMint() {
        boolean one =
                wanted.isAnyAlone()
                        && found.lines().size() == 1
                        && found.next().isEmpty()
                        && found.stoppedAt().isEmpty();
        return one
                ? Optional.of(found.lines().getFirst())
                        .filter(line -> !wanted.any().equals(line.subject()))
                        .filter(line -> !wanted.any().equals(line.key()))
                : Optional.empty();
    }

    /** Where the older ones are. */
    Optional<String> next() {
        return found.next().map(id -> address("/mints", Optional.of(id)));
    }

    /** All that is looked for, as a file. */
    String download() {
        return address("/mints/download", Optional.empty());
    }

    /** The first page of the same search. */
    String newest() {
        return address("/mints", Optional.empty());
    }

    private String address(String path, Optional<String> before) {
        List<String> parts = new ArrayList<>();
        add(parts, "q", wanted.any());
        add(parts, "tenant", wanted.tenant());
        add(parts, "subject", wanted.subject());
        add(parts, "key", wanted.key());
        add(parts, "outcome", wanted.outcome());
        add(parts, "from", wanted.from().map(Object::toString));
        add(parts, "to", wanted.to().map(Object::toString));
        add(parts, "before", before);
        return parts.isEmpty() ? path : path + "?" + String.join("&", parts);
    }

    private static void add(List<String> parts, String name, Optional<String> value) {
        value.ifPresent(text -> parts.add(name + "=" + Links.encoded(text)));
    }

    /** A time as the form's field has it: a day, or to the second. */
    static String field(Optional<Instant> at) {
        return at.map(time -> time.toString().replaceFirst("\\.[0-9]+Z$", "Z")).orElse("");
    }
}
