package io.mintmark.audit.chain;

import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * The hash chain of one writer. Rows are linked in a draft; the chain only grows by drafts that are
 * known to be committed. After a commit whose outcome is not known the chain is left where it is,
 * whether it ends before or after those rows, and a new one begins: asking the database would not
 * help, since a frozen server may still finish the commit later.
 *
 * <p>For one thread at a time.
 */
public final class Chain {
    /** The number of the canonical form, with which every chain's name begins. */
    private static final String FORM = "2.";

    private final Supplier<String> names;
    private Head head;

    /**
     * @param names gives a name that no chain ever had
     */
    public Chain(Supplier<String> names) {
        this.names = names;
        this.head = beginning(names.get());
    }

    /** A chain with a random name. */
    public static Chain ofThisRun() {
        return new Chain(() -> FORM + UUID.randomUUID());
    }

    private static Head beginning(String name) {
        return new Head(name, 0, CanonicalForm.ORIGIN);
    }

    /** The chain's last row that is known to be on disk. */
    public Head head() {
        return head;
    }

    /** Rows to be written next. */
    public Draft draft() {
        return new Draft(head);
    }

    /** Moves the head to the end of the draft, whose rows are on disk. */
    public void committed(Draft draft) {
        head = draft.last;
    }

    /** Begins a new chain, because it is unknown whether the rows of the last draft are on disk. */
    public void unsure() {
        head = beginning(names.get());
    }

    /**
     * The end of a chain.
     *
     * @param seq of its last row, 0 if it has none
     * @param hash of its last row, in hexadecimal digits
     */
    public record Head(String chain, long seq, String hash) {}

    /**
     * The place of a row in its chain; hashes are in hexadecimal digits.
     *
     * @param previous the hash of the row before
     */
    public record Link(String chain, long seq, String previous, String hash) {}

    /** Rows that follow the end of the chain but are not part of it yet. */
    public static final class Draft {
        private Head last;

        private Draft(Head head) {
            this.last = head;
        }

        /**
         * Links a row.
         *
         * @param fields its canonical fields, but for the last two, which are {@code chain} and
         *     {@code seq}
         */
        public Link add(List<@Nullable String> fields) {
            long seq = last.seq() + 1;
            List<@Nullable String> all = new ArrayList<>(fields);
            all.add(last.chain());
            all.add(Long.toString(seq));
            String hash = CanonicalForm.EVENT.hash(last.hash(), all);
            Link link = new Link(last.chain(), seq, last.hash(), hash);
            last = new Head(last.chain(), seq, hash);
            return link;
        }
    }
}
