package io.mintmark.audit.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.audit.checkpoint.Checkpoint.Declaration;
import io.mintmark.audit.checkpoint.Checkpoint.LostEnd;
import io.mintmark.audit.checkpoint.Checkpoint.Named;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.Checkpoint.RetiredMonth;
import io.mintmark.audit.checkpoint.Checkpoint.RetiredRows;
import io.mintmark.base.json.JacksonFactories;

import java.time.Instant;
import java.time.YearMonth;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The payload of a checkpoint's signature. */
final class CheckpointJson {
    /** Without a tree over the rows. Logs have such checkpoints, so they stay readable. */
    private static final long WITHOUT_TREE = 1;

    private static final long FORM = 2;
    private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");
    private static final ObjectMapper JSON = JacksonFactories.mapper().build();

    private CheckpointJson() {}

    static String write(Checkpoint checkpoint) {
        ObjectNode json = JSON.createObjectNode();
        json.put("format", checkpoint.root().isPresent() ? FORM : WITHOUT_TREE);
        json.put("number", checkpoint.number());
        json.put("previous", checkpoint.previous().orElse(null));
        json.put("sealed_at", checkpoint.sealedAt().toString());
        json.put("broker", checkpoint.broker());
        json.put("key", checkpoint.key());
        positions(json.putArray("events"), "chain", "seq", checkpoint.events());
        positions(json.putArray("changes"), "tenant", "revision", checkpoint.changes());
        checkpoint.root().ifPresent(root -> json.put("root", root));
        checkpoint.noteKey().ifPresent(key -> json.put("note_key", key));
        if (!checkpoint.retired().isEmpty()) {
            ArrayNode retired = json.putArray("retired");
            checkpoint.retired().forEach(month -> add(retired.addObject(), month));
        }
        checkpoint.declared().ifPresent(declared -> add(json.putObject("declared"), declared));
        return json.toString();
    }

    private static void add(ObjectNode json, Declaration declared) {
        json.put("reason", declared.reason());
        ArrayNode checkpoints = json.putArray("checkpoints");
        declared.checkpoints()
                .forEach(named ->
                        checkpoints
                                .addObject()
                                .put("number", named.number())
                                .put("hash", named.hash()));
        ends(json.putArray("events"), "chain", declared.events());
        ends(json.putArray("changes"), "tenant", declared.changes());
    }

    private static void ends(ArrayNode array, String chain, List<LostEnd> ends) {
        for (LostEnd end : ends) {
            array.addObject()
                    .put(chain, end.chain().orElse(null))
                    .put("first", end.first())
                    .put("last", end.last());
        }
    }

    private static void positions(
            ArrayNode array, String chain, String at, List<Position> positions) {
        for (Position position : positions) {
            ObjectNode head = array.addObject().put(chain, position.chain().orElse(null));
            if (position.first() > 0) {
                head.put("first", position.first());
            }
            head.put(at, position.at()).put("hash", position.hash());
        }
    }

    private static void add(ObjectNode json, RetiredMonth month) {
        json.put("month", month.month().toString()).put("rows", month.rows());
        ArrayNode parts = json.putArray("parts");
        for (RetiredRows rows : month.parts()) {
            parts.addObject()
                    .put("chain", rows.chain())
                    .put("first", rows.first())
                    .put("last", rows.last())
                    .put("hash", rows.hash());
        }
    }

    /** Parses a payload. Throws {@link IllegalArgumentException} if it isn't a checkpoint's. */
    static Checkpoint read(String text) {
        try {
            JsonNode json = JSON.readTree(text);
            Optional<String> root = root(json);
            Checkpoint read =
                    new Checkpoint(
                            json.path("number").asLong(),
                            Optional.ofNullable(json.path("previous").textValue()),
                            Instant.parse(json.path("sealed_at").asText()),
                            json.path("broker").asText(),
                            json.path("key").asText(),
                            list(json.path("events"), row -> position(row, "chain", "seq")),
                            list(json.path("changes"), row -> position(row, "tenant", "revision")),
                            root,
                            noteKey(json),
                            list(json.path("retired"), CheckpointJson::month),
                            json.has("declared")
                                    ? Optional.of(declared(json.path("declared")))
                                    : Optional.empty());
            requireTree(read);
            return read;
        } catch (JsonProcessingException | DateTimeParseException e) {
            throw new IllegalArgumentException("can't be read", e);
        }
    }

    private static Optional<String> root(JsonNode json) {
        long form = json.path("format").asLong();
        String root = json.path("root").textValue();
        if (form == WITHOUT_TREE) {
            return Optional.empty();
        }
        if (form != FORM) {
            throw new IllegalArgumentException("has an unknown format");
        }
        if (root == null || !HASH.matcher(root).matches()) {
            throw new IllegalArgumentException("has no tree root");
        }
        return Optional.of(root);
    }

    private static Optional<String> noteKey(JsonNode json) {
        Optional<String> key = Optional.ofNullable(json.path("note_key").textValue());
        if (json.has("note_key") && key.filter(it -> HASH.matcher(it).matches()).isEmpty()) {
            throw new IllegalArgumentException("has a note_key that is not an Ed25519 key");
        }
        return key;
    }

    /** Requires that each head of a checkpoint with a tree names the rows of the tree. */
    private static void requireTree(Checkpoint read) {
        boolean fits =
                Stream.concat(read.events().stream(), read.changes().stream())
                        .allMatch(head -> 1 <= head.first() && head.first() <= head.at());
        if (read.root().isPresent() && !fits) {
            throw new IllegalArgumentException(
                    "has a tree over rows that the checkpoint does not list");
        }
    }

    private static Position position(JsonNode row, String chain, String at) {
        return new Position(
                Optional.ofNullable(row.path(chain).textValue()),
                row.path("first").asLong(),
                row.path(at).asLong(),
                row.path("hash").asText());
    }

    private static Declaration declared(JsonNode json) {
        return new Declaration(
                json.path("reason").asText(),
                list(
                        json.path("checkpoints"),
                        named ->
                                new Named(
                                        named.path("number").asLong(),
                                        named.path("hash").asText())),
                list(json.path("events"), end -> end(end, "chain")),
                list(json.path("changes"), end -> end(end, "tenant")));
    }

    private static LostEnd end(JsonNode json, String chain) {
        return new LostEnd(
                Optional.ofNullable(json.path(chain).textValue()),
                json.path("first").asLong(),
                json.path("last").asLong());
    }

    private static RetiredMonth month(JsonNode json) {
        return new RetiredMonth(
                YearMonth.parse(json.path("month").asText()),
                json.path("rows").asLong(),
                list(
                        json.path("parts"),
                        part ->
                                new RetiredRows(
                                        part.path("chain").asText(),
                                        part.path("first").asLong(),
                                        part.path("last").asLong(),
                                        part.path("hash").asText())));
    }

    private static <T> List<T> list(JsonNode array, Function<JsonNode, T> each) {
        List<T> list = new ArrayList<>();
        array.forEach(element -> list.add(each.apply(element)));
        return list;
    }
}
