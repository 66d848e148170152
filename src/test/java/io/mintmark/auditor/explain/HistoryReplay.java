package io.mintmark.auditor.explain;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.Unchecked;
import io.mintmark.base.tenant.Glob;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The configuration as its history says it was, and who could mint then: the rules once more. */
final class HistoryReplay {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** A change of the history; the tenant is empty for tables without tenant. */
    record Change(
            String tenant,
            long revision,
            String table,
            JsonNode before,
            JsonNode after,
            Instant at,
            long transaction) {

        static Change of(
                @Nullable String tenant,
                long revision,
                String table,
                @Nullable String before,
                @Nullable String after,
                Instant at,
                long transaction) {
            return new Change(
                    tenant == null ? "" : tenant,
                    revision,
                    table,
                    json(before),
                    json(after),
                    at,
                    transaction);
        }

        private static JsonNode json(@Nullable String text) {
            return Unchecked.call(() -> JSON.readTree(text == null ? "null" : text));
        }
    }

    private final Map<String, Map<String, JsonNode>> tables = new HashMap<>();

    /** What these changes, of those in the order of their revisions, leave. */
    HistoryReplay(List<Change> history, Predicate<Change> counts) {
        for (Change change : history) {
            if (counts.test(change)) {
                Map<String, JsonNode> rows =
                        tables.computeIfAbsent(change.table(), _ -> new HashMap<>());
                if (change.before().isObject()) {
                    rows.remove(name(change.before()));
                }
                if (change.after().isObject()) {
                    rows.put(name(change.after()), change.after());
                }
            }
        }
    }

    private static String name(JsonNode row) {
        return row.has("id")
                ? row.path("id").asText()
                : row.path(row.has("name") ? "name" : "type").asText()
                        + (row.has("name") && row.has("tenant")
                                ? "@" + row.path("tenant").asText()
                                : "");
    }

    private JsonNode row(String table, String name) {
        return tables.getOrDefault(table, Map.of()).getOrDefault(name, JSON.nullNode());
    }

    /**
     * The grants of a key in force at a moment, by id, with how long each gives and of what type.
     */
    Map<Long, String> whoCouldMint(String tenant, String key, Instant at) {
        Map<Long, String> found = new TreeMap<>();
        JsonNode keyRow = row("key", key + "@" + tenant);
        JsonNode provider = row("access_provider", keyRow.path("provider").asText() + "@" + tenant);
        if (!enabled(keyRow) || !enabled(provider) || !enabled(row("tenant", tenant))) {
            return found;
        }
        JsonNode type = row("provider_type", provider.path("type").asText());
        List<JsonNode> blocks = blocks(tenant, at);
        for (JsonNode grant : tables.getOrDefault("subject_grant", Map.of()).values()) {
            if (!grant.path("tenant").asText().equals(tenant)
                    || !grant.path("key").asText().equals(key)) {
                continue;
            }
            long seconds = seconds(grant, List.of(keyRow, type, row("tenant", tenant)), at);
            if (enabled(grant)
                    && enabled(row("identity_provider", grant.path("idp").asText() + "@" + tenant))
                    && inForce(grant, at)
                    && seconds >= type.path("min_duration").asLong()
                    && blocks.stream().noneMatch(block -> covers(block, grant))) {
                found.put(grant.path("id").asLong(), seconds + " " + grant);
            }
        }
        return found;
    }

    private static boolean enabled(JsonNode row) {
        return row.path("enabled").asBoolean();
    }

    private static boolean inForce(JsonNode grant, Instant at) {
        return !at.isBefore(time(grant, "valid_from", Instant.MIN))
                && at.isBefore(time(grant, "valid_until", Instant.MAX));
    }

    private static Instant time(JsonNode row, String column, Instant otherwise) {
        JsonNode value = row.path(column);
        return value.isTextual() ? OffsetDateTime.parse(value.asText()).toInstant() : otherwise;
    }

    private static long seconds(JsonNode grant, List<JsonNode> limiting, Instant at) {
        long seconds =
                Stream.concat(Stream.of(grant), limiting.stream())
                        .map(row -> row.path("max_duration"))
                        .filter(JsonNode::isNumber)
                        .mapToLong(JsonNode::asLong)
                        .min()
                        .orElseThrow();
        if (grant.path("valid_until").isTextual()) {
            Instant end = time(grant, "valid_until", Instant.MAX);
            seconds = Math.min(seconds, Math.floorDiv(Duration.between(at, end).toMillis(), 1000));
        }
        return seconds;
    }

    private List<JsonNode> blocks(String tenant, Instant at) {
        List<JsonNode> blocks = new ArrayList<>();
        for (JsonNode block : tables.getOrDefault("blocked_subject", Map.of()).values()) {
            if (enabled(block)
                    && at.isBefore(time(block, "until", Instant.MAX))
                    && (block.path("tenant").isNull()
                            || block.path("tenant").asText().equals(tenant))) {
                blocks.add(block);
            }
        }
        return blocks;
    }

    private static boolean covers(JsonNode block, JsonNode grant) {
        String blocked = block.path("subject").asText();
        String granted = grant.path("subject").asText();
        boolean oneSubject =
                grant.path("match").asText().equals("exact") || granted.indexOf('*') < 0;
        boolean glob = block.path("match").asText().equals("glob");
        return (block.path("idp").isNull() || block.path("idp").equals(grant.path("idp")))
                && (oneSubject
                        ? glob ? new Glob(blocked).matches(granted) : blocked.equals(granted)
                        : glob && coversGlob(blocked, granted));
    }

    /** The same glob, or a text and {@code **} with which the other begins. */
    private static boolean coversGlob(String blocked, String granted) {
        String text = new Glob(blocked).literalPrefix();
        return blocked.equals(granted)
                || (blocked.matches("[^*]+[*][*]+")
                        && new Glob(granted).literalPrefix().startsWith(text));
    }
}
