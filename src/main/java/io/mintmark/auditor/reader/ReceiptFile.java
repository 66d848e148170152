package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.json.JacksonFactories;

/** A receipt as a file: one line of JSON in ASCII. */
public final class ReceiptFile {
    private static final ObjectMapper JSON = JacksonFactories.mapper().build();

    private ReceiptFile() {}

    /** The content of the file. */
    public static String text(MintReceipt receipt) {
        return ascii(json(receipt).toString()) + "\n";
    }

    /** Only the note has another character: the dash before a signature. */
    private static String ascii(String json) {
        return json.replace("\u2014", "\\u2014");
    }

    private static ObjectNode json(MintReceipt receipt) {
        ObjectNode json = JSON.createObjectNode().put("receipt", 1);
        ArrayNode rows = json.putArray("rows");
        for (MintReceipt.ProvenRow row : receipt.rows()) {
            ArrayNode path =
                    rows.addObject()
                            .put("row", row.content())
                            .put("checkpoint", row.checkpoint())
                            .putArray("path");
            row.path().forEach(path::add);
        }
        ArrayNode checkpoints = json.putArray("checkpoints");
        receipt.checkpoints().forEach(checkpoints::add);
        receipt.note().ifPresent(note -> add(json, note));
        return json;
    }

    private static void add(ObjectNode json, ReceiptNote note) {
        ArrayNode leaves = json.put("note", note.note()).putArray("leaves");
        for (ReceiptNote.Leaf leaf : note.leaves()) {
            ArrayNode path =
                    leaves.addObject()
                            .put("checkpoint", leaf.checkpoint())
                            .put("index", leaf.index())
                            .putArray("path");
            leaf.path().forEach(path::add);
        }
    }
}
