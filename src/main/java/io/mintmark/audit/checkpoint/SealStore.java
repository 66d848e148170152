package io.mintmark.audit.checkpoint;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.checkpoint.Checkpoint.Position;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The store of checkpoints, and of the rows that they seal. */
public interface SealStore {

    /**
     * Stores a checkpoint, while no other replica can.
     *
     * @param everything whether to look for chains that grew among all chains, and not only among
     *     those of the last weeks
     * @param sign makes the checkpoint; none if it isn't due
     * @return the one that was stored
     * @throws StoreUnreachable if the store can't be asked
     */
    Optional<SignedCheckpoint> seal(
            boolean everything, Function<Unsealed, Optional<SignedCheckpoint>> sign);

    /**
     * The rows that the next checkpoint is to seal.
     *
     * @param last the latest checkpoint
     * @param tree over the checkpoints up to the last
     * @param now by the clock that all replicas share, which is the store's
     */
    record Unsealed(
            Optional<SignedCheckpoint> last,
            Announcements announcements,
            Heads heads,
            LogTree tree,
            Instant now) {}

    /** Asks for checkpoints that announce a new key. */
    interface Announcements {
        /**
         * Returns the checkpoints that announce a key and have a higher number, in order.
         *
         * @param number of a checkpoint
         */
        List<SignedCheckpoint> after(long number);
    }

    /**
     * The heads of chains and the root over them. The heads are computed on demand, the root after
     * them.
     */
    interface Heads {
        List<Position> events();

        List<Position> changes();

        /**
         * The hash of the tree over the rows that these heads seal, in the order of the heads,
         * those of events first; in hexadecimal digits.
         */
        String root();
    }
}
