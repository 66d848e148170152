package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The access rules, keys and access providers of one tenant at a place of its history: what each
 * allows, and the revision of its last change. Requests and decisions rest on these rows.
 */
final class RecordedTerms {
    private static final CanonicalForm ALLOWED = new CanonicalForm("allowed");

    /** The columns that name the rows, by table. */
    private static final Map<String, String> NAMES =
            Map.of("access_rule", "id", "key", "name", "access_provider", "name");

    private final Map<String, Row> rows = new HashMap<>();

    /**
     * A row.
     *
     * @param allows a digest of what it allows
     * @param provider the access provider of a key
     */
    private record Row(long revision, String allows, String provider) {}

    /** Follows a change. */
    void add(RecordedChange change) {
        String column = NAMES.get(change.table());
        if (column == null) {
            return;
        }
        JsonNode after = change.after();
        rows.remove(place(change.table(), change.before().path(column).asText()));
        if (after.isObject()) {
            rows.put(
                    place(change.table(), after.path(column).asText()),
                    new Row(
                            change.revision(),
                            ALLOWED.hash(List.of(RecordedApprovals.allows(after).toString())),
                            after.path("provider").asText()));
        }
    }

    private static String place(String table, String name) {
        return table + " " + name;
    }

    private @Nullable Row rule(JsonNode request) {
        return rows.get(place("access_rule", request.path("rule").asText()));
    }

    private @Nullable Row key(JsonNode request) {
        return rows.get(place("key", request.path("key").asText()));
    }

    private @Nullable Row provider(JsonNode request) {
        Row key = key(request);
        return key == null ? null : rows.get(place("access_provider", key.provider()));
    }

    private static String allowedBy(@Nullable Row row) {
        return row == null ? "" : row.allows();
    }

    /** Digests of what the rule, key and access provider of a request allow. */
    List<String> of(JsonNode request) {
        List<String> terms = new ArrayList<>();
        terms.add(allowedBy(rule(request)));
        terms.add(allowedBy(key(request)));
        terms.add(allowedBy(provider(request)));
        return terms;
    }

    /** The words for those that allow something else than they did; empty if none does. */
    Optional<String> changedSince(List<String> terms, JsonNode request) {
        List<String> now = of(request);
        List<String> changed = new ArrayList<>();
        List<String> words = List.of("rule", "key", "access provider");
        for (int i = 0; i < words.size(); i++) {
            if (!now.get(i).equals(terms.get(i))) {
                changed.add(words.get(i));
            }
        }
        return changed.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", changed));
    }

    /**
     * The reason why a decision names other revisions than those of its request's rule, key and
     * access provider; empty if it names these, or none as older ones.
     */
    Optional<String> wrongRevisions(JsonNode decision, JsonNode request) {
        JsonNode named = decision.path("revisions");
        return !named.isObject()
                ? Optional.empty()
                : wrongRevision(named.path("rule"), "rule", rule(request))
                        .or(() -> wrongRevision(named.path("key"), "key", key(request)))
                        .or(() ->
                                wrongRevision(
                                        named.path("accessProvider"),
                                        "access provider",
                                        provider(request)));
    }

    private static Optional<String> wrongRevision(JsonNode named, String words, @Nullable Row row) {
        return row == null || named.asLong() == row.revision()
                ? Optional.empty()
                : Optional.of(
                        "it names revision %d of the %s, which had revision %d"
                                .formatted(named.asLong(), words, row.revision()));
    }
}
