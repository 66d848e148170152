package io.mintmark.auditor.verify;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.checkpoint.Checkpoint.Leaf;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.Cosignature;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The whole log, read as one unchanging state, a row at a time. Every method throws {@link
 * StoreUnreachable} if the store can't be read.
 */
public interface LogReader {

    /** Reads the checkpoints in the order of their numbers. */
    void checkpoints(Consumer<StoredCheckpoint> each);

    /** Reads the cosignatures in the order of the trees and their sizes. */
    void cosignatures(Consumer<Cosignature> each);

    /** The JWS of each of these checkpoints, in the order asked; null: no such checkpoint. */
    List<@Nullable String> checkpointTexts(List<Long> numbers);

    /**
     * The rows of {@code audit.event} by chain and place; those without a chain last.
     *
     * @param judge is asked about each row, on any thread and in any order
     * @param each takes each row with the answer, one after the other
     */
    <T> void events(Function<Row, T> judge, BiConsumer<Row, T> each);

    /**
     * The rows of {@code audit.config_change} by tenant and revision; those without last.
     *
     * @param read is asked about each row, on any thread and in any order
     * @param each takes each row with the answer, one after the other
     */
    <T> void changes(Function<Row, T> read, BiConsumer<Row, T> each);

    /**
     * The tables next to the log in its database; none for an export. Without tables, retired rows
     * may still exist.
     */
    Optional<LogTables> tables();

    /**
     * The part of a log that this is; none for a whole log. A part has no row from before its first
     * checkpoint, and every row of it is sealed.
     */
    Optional<SealedRange> part();

    /** The proof that each mint of this log was allowed by the configuration of its time. */
    MintProof proof(Findings findings);

    /** The last place of a chain of {@code audit.event}; 0 if there is none. */
    long lastEvent(String chain);

    /** The hashes of rows of {@code audit.event}, in the order asked; null for a missing row. */
    List<@Nullable String> eventHashes(List<Position> positions);

    /**
     * The hashes of rows of {@code audit.config_change}, in the order asked; null for a missing
     * row.
     */
    List<@Nullable String> changeHashes(List<Position> positions);

    /**
     * Reads all rows of {@code audit.event} from each position's first row to its last, in order,
     * without missing ones. Returns one list for each position.
     */
    List<List<Leaf>> eventRanges(List<Position> ranges);

    /**
     * Reads all rows of {@code audit.config_change} from each position's first row to its last, in
     * order, without missing ones. Returns one list for each position.
     */
    List<List<Leaf>> changeRanges(List<Position> ranges);

    /** Tables that describe the log. */
    interface LogTables {

        /** Reports differences between the tables of {@code broker} and their history. */
        void configuration(Consumer<Difference> each);

        /**
         * Reports each definition of the schema that differs from this release's, as a sentence.
         */
        void definitions(Consumer<String> each);

        /** The mint ids that {@code audit.unresolved} lists. */
        void unresolved(Consumer<String> each);
    }

    /**
     * A row on which table and history disagree.
     *
     * @param row as JSON
     * @param inTable whether only the table has it; otherwise only the history has it
     */
    record Difference(String table, String row, boolean inTable) {}

    /**
     * A checkpoint as it is stored.
     *
     * @param origin where it comes from, as a sentence, as far as that can be trusted
     */
    record StoredCheckpoint(SignedCheckpoint signed, String origin) {}

    /**
     * A row as it is stored.
     *
     * @param chain the tenant, for changes
     * @param name what messages call the row
     * @param at its position in the chain; null where it has none
     * @param micros when it happened, in microseconds since 1970, or the stored text if that is not
     *     a time
     * @param fields as {@link CanonicalForm} wants them
     * @param previous the hash of the previous row, in hexadecimal digits
     * @param computed the hash that its content has; see {@link CanonicalForm#hashInChain}
     */
    record Row(
            @Nullable String chain,
            String name,
            @Nullable Long at,
            String micros,
            List<@Nullable String> fields,
            @Nullable String previous,
            @Nullable String hash,
            String computed) {}
}
