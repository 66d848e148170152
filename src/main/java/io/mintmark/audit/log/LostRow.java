package io.mintmark.audit.log;

import io.mintmark.audit.chain.Chain;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A row that this replica has written or read, or leaves that a witness has cosigned, and that the
 * database doesn't have.
 *
 * @param chain of an event; the tenant of a change, empty for the tables without tenant; empty for
 *     a checkpoint; of a tree, its origin
 * @param place {@code seq}, {@code revision}, {@code number}, or the size of a tree
 * @param hash in hexadecimal digits; of a checkpoint, that of its JWS; empty of a tree
 */
public record LostRow(Kind kind, String chain, long place, String hash) {
    private static final int MOST_NAMED = 100;

    /** The table that had it. */
    public enum Kind {
        EVENT,
        CHANGE,
        CHECKPOINT,
        TREE;

        /** The kind's name in the database. */
        String word() {
            return switch (this) {
                case EVENT -> "event";
                case CHANGE -> "change";
                case CHECKPOINT -> "checkpoint";
                case TREE -> "tree";
            };
        }

        static Kind of(String word) {
            return switch (word) {
                case "event" -> EVENT;
                case "change" -> CHANGE;
                case "checkpoint" -> CHECKPOINT;
                case "tree" -> TREE;
                default -> throw new IllegalArgumentException("unknown kind of row: " + word);
            };
        }
    }

    /** A row of the log. */
    static LostRow of(Chain.Head event) {
        return new LostRow(Kind.EVENT, event.chain(), event.seq(), event.hash());
    }

    /** The columns of rows, as arrays, which are parameters of a statement. */
    static List<Object[]> columns(List<LostRow> rows) {
        return List.of(
                rows.stream().map(row -> row.kind().word()).toArray(String[]::new),
                rows.stream().map(LostRow::chain).toArray(String[]::new),
                rows.stream().map(LostRow::place).toArray(Long[]::new),
                rows.stream().map(LostRow::hash).toArray(String[]::new));
    }

    /** Names rows in a sentence: the first ones, and the number of the others. */
    public static String names(List<LostRow> rows) {
        String first =
                rows.stream()
                        .limit(MOST_NAMED)
                        .map(LostRow::name)
                        .collect(Collectors.joining(", "));
        return rows.size() <= MOST_NAMED
                ? first
                : "%s and %d more rows of runtime.lost_row"
                        .formatted(first, rows.size() - MOST_NAMED);
    }

    /** Names the row in a sentence. */
    public String name() {
        String hashed = " with hash " + hash;
        return switch (kind) {
            case EVENT -> "row %d of chain %s".formatted(place, chain) + hashed;
            case CHANGE ->
                    "revision %d of %s"
                                    .formatted(
                                            place,
                                            chain.isEmpty()
                                                    ? "the tables without tenant"
                                                    : "tenant " + chain)
                            + hashed;
            case CHECKPOINT -> "checkpoint %d".formatted(place) + hashed;
            case TREE ->
                    "the %d checkpoints of %s that a witness has cosigned".formatted(place, chain);
        };
    }
}
