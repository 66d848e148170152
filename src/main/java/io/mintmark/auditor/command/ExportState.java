package io.mintmark.auditor.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.audit.checkpoint.Checkpoint.Named;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.base.json.JacksonFactories;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The position of an export.
 *
 * @param origin the log, see {@link io.mintmark.audit.log.LogFeed#origin}
 * @param format the format of the lines
 * @param all whether with changes and checkpoints
 * @param output the file; none: standard output
 * @param events the last row of each chain
 * @param changes the last change of each tenant
 * @param cosignature the number of the last one; 0 for none
 */
record ExportState(
        String origin,
        String format,
        boolean all,
        Optional<Output> output,
        List<Position> events,
        List<Position> changes,
        Optional<Named> checkpoint,
        long cosignature) {
    private static final int FORM = 1;
    private static final ObjectMapper JSON = JacksonFactories.mapper().build();

    /**
     * A file and up to where its content counts.
     *
     * @param path absolute
     * @param length in bytes
     * @param ending SHA-256 of the last bytes that count, by which the file is known again
     */
    record Output(String path, long length, String ending) {}

    ExportState {
        events = List.copyOf(events);
        changes = List.copyOf(changes);
    }

    static ExportState beginning(String origin, String format, boolean all) {
        return new ExportState(
                origin, format, all, Optional.empty(), List.of(), List.of(), Optional.empty(), 0);
    }

    ExportState withOutput(Optional<Output> to) {
        return new ExportState(origin, format, all, to, events, changes, checkpoint, cosignature);
    }

    String json() {
        ObjectNode json = JSON.createObjectNode().put("form", FORM);
        json.put("origin", origin).put("format", format).put("all", all);
        output.ifPresent(file ->
                json.putObject("output")
                        .put("path", file.path())
                        .put("length", file.length())
                        .put("ending", file.ending()));
        add(json.putArray("events"), "chain", "seq", events);
        add(json.putArray("changes"), "tenant", "revision", changes);
        checkpoint.ifPresent(last ->
                json.putObject("checkpoint").put("number", last.number()).put("hash", last.hash()));
        json.put("cosignature", cosignature);
        return json + "\n";
    }

    private static void add(ArrayNode array, String chain, String at, List<Position> places) {
        for (Position place : places) {
            array.addObject()
                    .put(chain, place.chain().orElse(null))
                    .put(at, place.at())
                    .put("hash", place.hash());
        }
    }

    /** Throws {@link IllegalArgumentException} if it isn't one; the message is a sentence's end. */
    static ExportState read(String text) {
        try {
            JsonNode json = JSON.readTree(text);
            if (!json.path("form").isInt() || !json.path("origin").isTextual()) {
                throw new IllegalArgumentException("is not the state file of an export");
            }
            if (json.path("form").intValue() != FORM) {
                throw new IllegalArgumentException(
                        "has a format that this release doesn't " + "know");
            }
            return new ExportState(
                    json.path("origin").textValue(),
                    json.path("format").asText(),
                    json.path("all").asBoolean(),
                    present(json, "output")
                            .map(file ->
                                    new Output(
                                            file.path("path").asText(),
                                            file.path("length").asLong(),
                                            file.path("ending").asText())),
                    places(json.path("events"), "chain", "seq"),
                    places(json.path("changes"), "tenant", "revision"),
                    present(json, "checkpoint")
                            .map(last ->
                                    new Named(
                                            last.path("number").asLong(),
                                            last.path("hash").asText())),
                    json.path("cosignature").asLong());
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("is not the state file of an export", e);
        }
    }

    private static Optional<JsonNode> present(JsonNode json, String member) {
        return Optional.ofNullable(json.get(member));
    }

    private static List<Position> places(JsonNode array, String chain, String at) {
        List<Position> places = new ArrayList<>();
        array.forEach(place ->
                places.add(
                        new Position(
                                Optional.ofNullable(place.path(chain).textValue()),
                                place.path(at).asLong(),
                                place.path("hash").asText())));
        return places;
    }
}
