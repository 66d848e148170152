package io.mintmark.audit.log;

/**
 * A row that this replica has written or read, and that the database no longer has.
 *
 * @param chain of an event; the tenant of a change, empty for the tables without tenant; empty for
 *     a checkpoint
 * @param place {@code seq}, {@code revision} or {@code number}
 * @param hash in hexadecimal digits; of a checkpoint, that of its JWS
 */
public record LostRow(Kind kind, String chain, long place, String hash) {
    /** The table that had it. */
    public enum Kind {
        EVENT,
        CHANGE,
        CHECKPOINT;

        /** As in the database. */
        String word() {
            return switch (this) {
                case EVENT -> "event";
                case CHANGE -> "change";
                case CHECKPOINT -> "checkpoint";
            };
        }

        static Kind of(String word) {
            return switch (word) {
                case "event" -> EVENT;
                case "change" -> CHANGE;
                case "checkpoint" -> CHECKPOINT;
                default -> throw new IllegalArgumentException("no kind of row: " + word);
            };
        }
    }

    /** Names it in a sentence. */
    public String name() {
        String row =
                switch (kind) {
                    case EVENT -> "row %d of chain %s".formatted(place, chain);
                    case CHANGE ->
                            "revision %d of %s"
                                    .formatted(
                                            place,
                                            chain.isEmpty()
                                                    ? "the tables without tenant"
                                                    : "tenant " + chain);
                    case CHECKPOINT -> "checkpoint %d".formatted(place);
                };
        return "%s with hash %s".formatted(row, hash);
    }
}
