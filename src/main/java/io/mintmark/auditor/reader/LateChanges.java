package io.mintmark.auditor.reader;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.mintmark.auditor.reader.PlacedLine.Chain;
import io.mintmark.auditor.reader.RecordedMint.Objected;
import io.mintmark.auditor.verify.Findings;
import io.mintmark.auditor.verify.LogReader;
import io.mintmark.auditor.verify.MintProof.Objection;
import io.mintmark.auditor.verify.MovedTenants;
import io.mintmark.base.time.Clocks;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;

/**
 * Compares the times of mints with those of changes. It finds changes that became visible long
 * after they were made: either their transaction was open for long, or the owner of the database
 * hid them from brokers, which minted on. And it finds mints that are older than the revision that
 * they name. The changes of a transaction to a tenant follow one another, and it was open at least
 * until the last of them.
 */
final class LateChanges {
    /**
     * A checkpoint comes every minute, and brokers mint with a clock that is at most 30 seconds
     * from the database's.
     */
    private static final Duration LATE = Duration.ofMinutes(2);

    private static final int CHANGED_BY = 6;
    private static final int TRANSACTION = 8;

    private final SortedLines lines;
    private final int group;
    private final int arrivals;
    private final SealedStates states;
    private final Cache<Place, Optional<Transaction>> kept =
            Caffeine.newBuilder().maximumSize(CacheBounds.places()).executor(Runnable::run).build();
    private @Nullable Transaction open;

    private record Place(@Nullable String tenant, long revision) {}

    /**
     * A transaction's changes of a tenant, with the time, the author and the hash of the last one.
     */
    private record Transaction(
            @Nullable String tenant,
            String id,
            long first,
            long last,
            Instant at,
            String by,
            String hash) {

        private static Transaction of(LogReader.Row row, long revision) {
            return new Transaction(
                    row.chain(),
                    String.valueOf(row.fields().get(TRANSACTION)),
                    revision,
                    revision,
                    timeOf(row),
                    String.valueOf(row.fields().get(CHANGED_BY)),
                    String.valueOf(row.hash()));
        }

        private boolean goesOnWith(Transaction next) {
            return Objects.equals(tenant, next.tenant()) && id.equals(next.id());
        }

        private Transaction with(Transaction next) {
            return new Transaction(
                    tenant, id, first, next.last(), next.at(), next.by(), next.hash());
        }

        private PlacedLine line(int group) {
            String text = String.join("\n", id, Long.toString(last), at.toString(), hash, by);
            return new PlacedLine(new Chain(group, Optional.ofNullable(tenant)), first, "", text);
        }

        private static Transaction of(PlacedLine line) {
            String[] parts = line.text().split("\n", 5);
            return new Transaction(
                    line.place().chain().name().orElse(null),
                    parts[0],
                    line.place().at(),
                    Long.parseLong(parts[1]),
                    Instant.parse(parts[2]),
                    parts[4],
                    parts[3]);
        }

        private String what() {
            return "Change %d %s, made at %s by %s".formatted(last, of(tenant), at, by);
        }

        private static String of(@Nullable String tenant) {
            return tenant == null ? "of the tables without tenant" : "of tenant " + tenant;
        }
    }

    /**
     * @param lines where the changes are sorted
     * @param group of lines that is for transactions
     * @param arrivals group of lines that is for the changes by which tenants came from other cells
     */
    LateChanges(SortedLines lines, int group, int arrivals, SealedStates states) {
        this.lines = lines;
        this.group = group;
        this.arrivals = arrivals;
        this.states = states;
    }

    /** When a row was written; 1970 if that can't be read. */
    static Instant timeOf(LogReader.Row row) {
        try {
            return Instant.EPOCH.plus(Long.parseLong(row.micros()), ChronoUnit.MICROS);
        } catch (NumberFormatException e) {
            return Instant.EPOCH;
        }
    }

    /** The next change, by tenant and revision. */
    void add(LogReader.Row row, long revision) throws IOException {
        if (MovedTenants.isArrival(row)) {
            Chain chain = new Chain(arrivals, Optional.ofNullable(row.chain()));
            lines.add(new PlacedLine(chain, revision, "", ""));
        }
        Transaction next = Transaction.of(row, revision);
        if (open != null && open.goesOnWith(next)) {
            open = open.with(next);
        } else {
            end();
            open = next;
        }
    }

    /** Completes the open transaction. Call this after the last change. */
    void end() throws IOException {
        if (open != null) {
            lines.add(open.line(group));
            open = null;
        }
    }

    /** Reports the late changes. Call this when the lines are sorted. */
    void report(Findings findings) throws IOException {
        try {
            lines.each(group, line -> report(Transaction.of(line), findings));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private void report(Transaction change, Findings findings) {
        try {
            SealedStates.Seal seal = states.later(change.tenant(), change.last() - 1);
            if (cameWithTenant(change, seal)) {
                return;
            }
            seal.since()
                    .filter(since -> change.at().plus(LATE).isBefore(since))
                    .ifPresent(since ->
                            findings.doubtful(
                                    "%s, was sealed late: checkpoint %d, sealed at %s, doesn't include it. The transaction of the change was open for a long time, or the change was hidden from brokers. Ask its author when they committed it, and check the mints of that time"
                                            .formatted(change.what(), seal.checkpoint() - 1, since),
                                    change.hash()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Whether the change was made at another cell: it is sealed here with the tenant's arrival, and
     * not before.
     */
    private boolean cameWithTenant(Transaction change, SealedStates.Seal seal) throws IOException {
        Chain chain = new Chain(arrivals, Optional.ofNullable(change.tenant()));
        Optional<PlacedLine> arrival = lines.after(chain, change.last());
        return arrival.isPresent()
                && states.later(change.tenant(), arrival.get().place().at() - 1).checkpoint()
                        == seal.checkpoint();
    }

    /**
     * Requires that a mint isn't older than its revision, apart from the difference of two clocks.
     */
    void requireMade(@Nullable String tenant, long revision, Instant minted)
            throws IOException, Objected {
        Optional<Transaction> making = containing(tenant, revision);
        if (making.isPresent()) {
            Instant made = making.get().at();
            RecordedMint.require(
                    !minted.plus(Clocks.TOLERANCE).isBefore(made),
                    () ->
                            "the mint was decided at %s on revision %d %s, which was made later, at %s"
                                    .formatted(minted, revision, Transaction.of(tenant), made));
        }
    }

    /** The objection to a mint on a revision; empty if no change was made long before the mint. */
    Optional<Objection> objection(@Nullable String tenant, long revision, Instant minted)
            throws IOException {
        return after(tenant, revision)
                .filter(next -> next.at().plus(LATE).isBefore(minted))
                .map(next ->
                        new Objection(
                                "the mint was decided at %s on revision %d %s, although change %d was made earlier, at %s"
                                                .formatted(
                                                        minted,
                                                        revision,
                                                        Transaction.of(tenant),
                                                        next.last(),
                                                        next.at())
                                        + ". The transaction of the change was open for a long time, or the change was hidden from the broker: ask its author, %s, when they committed it"
                                                .formatted(next.by()),
                                false,
                                Optional.of(next.hash())));
    }

    private Optional<Transaction> after(@Nullable String tenant, long revision) throws IOException {
        return containing(tenant, revision + 1);
    }

    /** The transaction that made a revision; empty if none is known. */
    private Optional<Transaction> containing(@Nullable String tenant, long revision)
            throws IOException {
        Place place = new Place(tenant, revision);
        Optional<Transaction> known = kept.getIfPresent(place);
        if (known == null) {
            known =
                    lines.upTo(new Chain(group, Optional.ofNullable(tenant)), revision)
                            .map(Transaction::of)
                            .filter(it -> it.last() >= revision);
            kept.put(place, known);
        }
        return known;
    }
}
