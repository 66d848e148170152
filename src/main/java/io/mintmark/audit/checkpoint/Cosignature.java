package io.mintmark.audit.checkpoint;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.audit.canonical.ExportedLine;
import io.mintmark.audit.canonical.ExportedLine.Form;
import io.mintmark.base.json.JacksonFactories;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a witness signed about a note, as it is stored and exported.
 *
 * @param number counts all of them in the order of arrival, from 1
 * @param tree the number of the tree
 * @param size of the tree
 * @param witness the name of its key
 * @param line of the note, without its newline
 * @param receivedAt as the database has it; what counts is inside the line
 */
public record Cosignature(
        long number, long tree, long size, String witness, String line, Instant receivedAt) {
    private static final ObjectMapper JSON = JacksonFactories.mapper().build();
    private static final List<String> NUMBERS = List.of("cosignature", "tree", "size");
    private static final List<String> TEXTS = List.of("witness", "line", "received_at");
    private static final Set<String> MEMBERS =
            Set.of("cosignature", "tree", "size", "witness", "line", "received_at");

    /** The cosignature as one line of an export. */
    public String json() {
        return JSON.createObjectNode()
                .put("cosignature", number)
                .put("tree", tree)
                .put("size", size)
                .put("witness", witness)
                .put("line", line)
                .put("received_at", receivedAt.toString())
                .toString();
    }

    /** Reads a line of an export; empty if no export writes it. */
    public static Optional<Cosignature> in(ExportedLine row) {
        boolean fits =
                row.names().equals(MEMBERS)
                        && NUMBERS.stream().allMatch(name -> isNumber(row.value(name)))
                        && TEXTS.stream().allMatch(name -> row.value(name).form() == Form.TEXT)
                        && SignedCheckpoint.MOMENT
                                .matcher(row.value("received_at").text())
                                .matches();
        try {
            return fits ? Optional.of(of(row)) : Optional.empty();
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    private static boolean isNumber(ExportedLine.Value value) {
        return value.form() == Form.NUMBER
                && SignedCheckpoint.NUMBER.matcher(value.text()).matches();
    }

    private static Cosignature of(ExportedLine row) {
        return new Cosignature(
                Long.parseLong(row.value("cosignature").text()),
                Long.parseLong(row.value("tree").text()),
                Long.parseLong(row.value("size").text()),
                row.value("witness").text(),
                row.value("line").text(),
                Instant.parse(row.value("received_at").text()));
    }
}
