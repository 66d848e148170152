package io.mintmark.console.pages;

import io.mintmark.console.pages.MintSearch.Found;
import io.mintmark.console.pages.MintSearch.Wanted;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Mints and refusals that were looked for.
 *
 * @param span from when to when, as it was typed
 * @param found nothing if that can't be meant
 */
record MintsPage(Wanted wanted, TypedTime.Span span, Found found) {
    /** What the others stand for where a page cuts an id. */
    private static final String CUT = "…";

    /**
     * What narrows the search and has no field of the form to see it in.
     *
     * @param without the same search without it
     */
    record Filter(String name, String value, String without) {}

    static MintsPage unanswered(Wanted wanted, TypedTime.Span span) {
        return new MintsPage(
                wanted, span, new Found(List.of(), Optional.empty(), Optional.empty()));
    }

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

    /** Whether it is the short form of an id, as pages show it. */
    boolean isCut() {
        return wanted.any().filter(text -> text.contains(CUT) || text.contains("...")).isPresent();
    }

    /** The filters without a field, each to be taken away. */
    List<Filter> filters() {
        List<Filter> filters = new ArrayList<>();
        wanted.subject().ifPresent(subject -> filters.add(filter("subject", "Subject", subject)));
        if (isOfNoOutcome()) {
            filters.add(filter("outcome", "Outcome", wanted.outcome().orElseThrow()));
        }
        wanted.before()
                .ifPresent(mint -> filters.add(filter("before", "Older than", mint.toString())));
        return filters;
    }

    private Filter filter(String parameter, String name, String value) {
        Map<String, String> others = asked();
        others.remove(parameter);
        return new Filter(name, value, address("/mints", others));
    }

    /** Where the older ones are. */
    Optional<String> next() {
        return found.next()
                .map(id -> {
                    Map<String, String> asked = asked();
                    asked.put("before", id);
                    return address("/mints", asked);
                });
    }

    /** All that is looked for, as a file. */
    String download() {
        return address("/mints/download", fromTheNewest());
    }

    /** The first page of the same search. */
    String newest() {
        return address("/mints", fromTheNewest());
    }

    private Map<String, String> fromTheNewest() {
        Map<String, String> asked = asked();
        asked.remove("before");
        return asked;
    }

    /** What an address says of it, its times as they were typed. */
    private Map<String, String> asked() {
        Map<String, String> asked = new LinkedHashMap<>();
        wanted.any().ifPresent(text -> asked.put("q", text));
        wanted.tenant().ifPresent(text -> asked.put("tenant", text));
        wanted.subject().ifPresent(text -> asked.put("subject", text));
        wanted.key().ifPresent(text -> asked.put("key", text));
        wanted.outcome().ifPresent(text -> asked.put("outcome", text));
        asked.put("from", span.from().text());
        asked.put("to", span.to().text());
        wanted.before().ifPresent(id -> asked.put("before", id.toString()));
        asked.values().removeIf(String::isEmpty);
        return asked;
    }

    private static String address(String path, Map<String, String> asked) {
        return asked.isEmpty()
                ? path
                : asked.entrySet().stream()
                        .map(part -> part.getKey() + "=" + Links.encoded(part.getValue()))
                        .collect(Collectors.joining("&", path + "?", ""));
    }
}
