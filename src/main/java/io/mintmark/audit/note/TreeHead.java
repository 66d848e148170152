package io.mintmark.audit.note;

import io.mintmark.audit.tree.ConsistencyProof;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Size and root of a log's tree, as the text of a note has them (c2sp.org/tlog-checkpoint).
 *
 * @param origin names the log
 * @param base64 the root
 */
public record TreeHead(String origin, long size, String base64) implements ConsistencyProof.Tree {
    private static final Pattern SIZE = Pattern.compile("0|[1-9][0-9]{0,17}");
    private static final int HASH_BYTES = 32;

    public TreeHead {
        if (Base64Text.bytes(base64).length != HASH_BYTES) {
            throw new IllegalArgumentException("the root isn't a SHA-256 hash");
        }
    }

    /**
     * Reads the text of a note.
     *
     * @throws IllegalArgumentException if it isn't a head
     */
    public static TreeHead parse(String text) {
        List<String> lines = List.of(text.split("\n", -1));
        boolean isHead =
                lines.size() > 3
                        && lines.subList(0, lines.size() - 1).stream().noneMatch(String::isEmpty)
                        && lines.getLast().isEmpty();
        if (!isHead) {
            throw new IllegalArgumentException(
                    "the note must begin with a log's origin, its size and its root");
        }
        return new TreeHead(lines.get(0), size(lines.get(1)), lines.get(2));
    }

    /** The number of the tree, with which the origin of a log of ours ends; 0 for another log. */
    public long tree() {
        String number = origin.substring(origin.lastIndexOf('/') + 1);
        return SIZE.matcher(number).matches() ? Long.parseLong(number) : 0;
    }

    /** The text of a note about the head. */
    public String text() {
        return "%s\n%d\n%s\n".formatted(origin, size, base64);
    }

    /**
     * A size in decimal digits.
     *
     * @throws IllegalArgumentException if it is another text
     */
    public static long size(String text) {
        if (!SIZE.matcher(text).matches()) {
            throw new IllegalArgumentException("a tree's size must be a decimal number");
        }
        return Long.parseLong(text);
    }

    @Override
    public byte[] root() {
        return Base64Text.bytes(base64);
    }
}
