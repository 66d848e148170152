package io.mintmark.audit.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.json.JacksonFactories;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Checkpoints as lines of the broker's output. A checkpoint of many chains has a long line, and
 * agents that ship logs cut lines, often at 64 KiB. So it is printed in pieces, each a line of
 * JSON: the texts of the pieces, joined, are the line of the checkpoint. The pieces may be among
 * other lines, and in any order.
 */
public final class CheckpointLines {
    /** The length up to which a line isn't split, in characters. Lines are ASCII. */
    static final int LONGEST = 60_000;

    /**
     * The maximum length of a piece, in characters. A quote in a piece takes two characters in
     * JSON.
     */
    private static final int PIECE = 50_000;

    /** Checkpoints whose pieces are awaited at once, and the pieces of one. */
    private static final int MOST_OPEN = 8;

    private static final int MOST_PIECES = 1_000;

    private static final ObjectMapper JSON = JacksonFactories.mapper().build();

    private final Map<String, Pieces> open = new LinkedHashMap<>();

    /** The pieces of a checkpoint so far, by their numbers. */
    private record Pieces(int count, SortedMap<Integer, String> texts) {}

    /** The lines to print for a checkpoint: one, or several pieces. */
    public static List<String> of(SignedCheckpoint checkpoint) {
        String line = checkpoint.line();
        if (line.length() <= LONGEST) {
            return List.of(line);
        }
        int pieces = (line.length() + PIECE - 1) / PIECE;
        List<String> lines = new ArrayList<>();
        for (int piece = 0; piece < pieces; piece++) {
            String text =
                    line.substring(piece * PIECE, Math.min(line.length(), (piece + 1) * PIECE));
            lines.add(
                    JSON.createObjectNode()
                            .put("checkpoint", checkpoint.number())
                            .put("hash", checkpoint.hash())
                            .put("piece", piece + 1)
                            .put("pieces", pieces)
                            .put("text", text)
                            .toString());
        }
        return lines;
    }

    /**
     * Takes the next line of an output; returns the checkpoint that the line is, or whose last
     * missing piece it is.
     */
    public Optional<SignedCheckpoint> next(String line) {
        return line.contains("\"piece\"") && line.length() <= LONGEST * 2
                ? piece(line)
                : SignedCheckpoint.in(line);
    }

    private Optional<SignedCheckpoint> piece(String line) {
        JsonNode piece;
        try {
            piece = JSON.readTree(line);
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
        int number = piece.path("piece").asInt();
        int count = piece.path("pieces").asInt();
        String hash = piece.path("hash").asText();
        String text = piece.path("text").textValue();
        if (number < 1 || number > count || count > MOST_PIECES || text == null) {
            return Optional.empty();
        }
        Pieces pieces = open.computeIfAbsent(hash, _ -> new Pieces(count, new TreeMap<>()));
        if (pieces.count() == count) {
            pieces.texts().put(number, text);
        }
        return pieces.texts().size() == pieces.count() ? joined(hash, pieces) : waiting();
    }

    private Optional<SignedCheckpoint> joined(String hash, Pieces pieces) {
        open.remove(hash);
        return SignedCheckpoint.in(String.join("", pieces.texts().values()))
                .filter(checkpoint -> checkpoint.hash().equals(hash));
    }

    private Optional<SignedCheckpoint> waiting() {
        if (open.size() > MOST_OPEN) {
            open.remove(open.keySet().iterator().next());
        }
        return Optional.empty();
    }
}
