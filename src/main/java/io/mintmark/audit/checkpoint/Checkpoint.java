package io.mintmark.audit.checkpoint;

import java.time.Instant;
import java.time.YearMonth;
import java.util.List;
import java.util.Optional;

/**
 * The state of all chains at a moment. It lists the chains that grew since the previous checkpoint
 * and contains that checkpoint's hash, so that the latest checkpoint covers everything that was
 * ever sealed.
 *
 * @param number counts from 1
 * @param previous SHA-256 of the JWS of the previous checkpoint, in hexadecimal digits
 * @param broker the replica that sealed
 * @param key the RFC 7638 thumbprint of the signing key. A checkpoint that the previous key signed
 *     announces a new key here
 * @param events heads of chains of {@code audit.event}
 * @param changes heads of chains of {@code audit.config_change}
 * @param root the hash of the tree over the sealed rows, in hexadecimal digits: for each head of
 *     {@code events}, then of {@code changes}, the rows from its first to its last. Empty in format
 *     1
 * @param noteKey the Ed25519 key that signs the note beside it, 32 bytes in hexadecimal digits
 * @param retired rows that were removed from the log
 * @param declared what the owner of the signing key declares about the log
 */
public record Checkpoint(
        long number,
        Optional<String> previous,
        Instant sealedAt,
        String broker,
        String key,
        List<Position> events,
        List<Position> changes,
        Optional<String> root,
        Optional<String> noteKey,
        List<RetiredMonth> retired,
        Optional<Declaration> declared) {

    public Checkpoint {
        events = List.copyOf(events);
        changes = List.copyOf(changes);
        retired = List.copyOf(retired);
    }

    /**
     * A row and the hash that it has.
     *
     * @param chain the tenant for changes; none for the tables without tenant
     * @param first the first row of the chain that the checkpoint's tree contains; 0 where there is
     *     no tree
     * @param at {@code seq}, or {@code revision}
     * @param hash in hexadecimal digits
     */
    public record Position(Optional<String> chain, long first, long at, String hash) {
        public Position(Optional<String> chain, long at, String hash) {
            this(chain, 0, at, hash);
        }

        /** The head of a chain that has grown since its rows up to {@code sealed} were sealed. */
        public static Position grown(Optional<String> chain, long sealed, long at, String hash) {
            return new Position(chain, Math.min(sealed + 1, at), at, hash);
        }

        /** The number of rows of the chain that the checkpoint's tree contains. */
        public long rows() {
            return first == 0 ? 0 : at - first + 1;
        }
    }

    /**
     * A row as a leaf of a checkpoint's tree.
     *
     * @param hash in hexadecimal digits
     * @param micros when it happened, in microseconds since 1970, or the stored text if that is not
     *     a time
     */
    public record Leaf(String hash, String micros) {}

    /**
     * A month that was retired.
     *
     * @param month in UTC
     * @param rows how many rows it had
     */
    public record RetiredMonth(YearMonth month, long rows, List<RetiredRows> parts) {
        public RetiredMonth {
            if (month.getYear() < 1970 || month.getYear() > 9999) {
                throw new IllegalArgumentException(
                        "retires the month %s, which is not in the years 1970 to 9999"
                                .formatted(month));
            }
            parts = List.copyOf(parts);
        }
    }

    /**
     * Rows of a chain that follow one another.
     *
     * @param hash of the last of them, which the next row hangs on
     */
    public record RetiredRows(String chain, long first, long last, String hash) {
        public RetiredRows {
            if (first < 1 || last < first) {
                throw new IllegalArgumentException(
                        "retires rows %d to %d, which is not a valid range".formatted(first, last));
            }
        }
    }

    /**
     * What the owner of the signing key declares about the log: a restore that lost its end, or
     * checkpoints that no broker made. A reader ignores a declaration unless they accept it by the
     * hash of the checkpoint that contains it.
     *
     * @param checkpoints that are lost, or don't belong to the log
     * @param events ends of chains of {@code audit.event} that are lost
     * @param changes the same of {@code audit.config_change}
     */
    public record Declaration(
            String reason, List<Named> checkpoints, List<LostEnd> events, List<LostEnd> changes) {
        public Declaration {
            checkpoints = List.copyOf(checkpoints);
            events = List.copyOf(events);
            changes = List.copyOf(changes);
        }
    }

    /**
     * A checkpoint.
     *
     * @param hash SHA-256 of its JWS, in hexadecimal digits
     */
    public record Named(long number, String hash) {}

    /** Rows of a chain up to where it was once sealed. */
    public record LostEnd(Optional<String> chain, long first, long last) {
        public boolean has(Position position) {
            return chain.equals(position.chain())
                    && first <= position.at()
                    && position.at() <= last;
        }
    }
}
