package io.mintmark.auditor.verify;

import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.math.BigInteger;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;

/** Follows chains row by row, in the order of {@link LogReader}. Remembers one row. */
final class ChainWalk {
    private static final Pattern MICROS = Pattern.compile("-?[0-9]{1,30}");

    private final CanonicalForm form;
    private final String what;
    private final SealedHeads sealed;
    private final Findings findings;
    private final Optional<Instant> lastSealed;

    private boolean begun;
    private @Nullable String chain;
    private long at;
    private String stored = CanonicalForm.ORIGIN;
    private String computed = CanonicalForm.ORIGIN;
    private long rows;
    private long unsealed;
    private long early;

    /**
     * @param what the kind of chain, as it stands within a sentence
     * @param lastSealed a while before the last checkpoint
     */
    ChainWalk(
            CanonicalForm form,
            String what,
            SealedHeads sealed,
            Findings findings,
            Optional<Instant> lastSealed) {
        this.form = form;
        this.what = what;
        this.sealed = sealed;
        this.findings = findings;
        this.lastSealed = lastSealed;
    }

    void row(LogReader.Row row) {
        rows++;
        if (row.at() == null || (row.chain() == null && form == CanonicalForm.EVENT)) {
            findings.wrong("%s was inserted: it belongs to no chain".formatted(row.name()));
            return;
        }
        if (!begun || !Objects.equals(chain, row.chain())) {
            finish();
            begin(row.chain());
        }
        if (place(row.at(), row)) {
            link(row);
            countUnsealed(row);
        }
    }

    private void begin(@Nullable String next) {
        begun = true;
        chain = next;
        at = sealed.start(next).at();
        stored = sealed.start(next).hash();
        computed = stored;
    }

    /** Whether the row is at the expected position, after missing rows were reported. */
    private boolean place(long place, LogReader.Row row) {
        if (place <= at) {
            findings.wrong(
                    "%s was inserted: %s has row %d already"
                            .formatted(row.name(), name(chain), place));
            return false;
        }
        if (place > at + 1) {
            skip(place - 1, row);
        }
        at = place;
        return true;
    }

    private void skip(long last, LogReader.Row next) {
        Optional<String> hash = sealed.retired(chain, at + 1, last, this::missing);
        stored = hash.orElse(String.valueOf(next.previous()));
        computed = stored;
    }

    private void missing(long first, long last) {
        findings.wrong(
                first == last
                        ? "%s lacks row %d".formatted(capitalized(chain), first)
                        : "%s lacks rows %d to %d".formatted(capitalized(chain), first, last));
    }

    private void link(LogReader.Row row) {
        boolean follows = stored.equals(row.previous()) || computed.equals(row.previous());
        computed = row.computed();
        boolean unchanged = computed.equals(row.hash());
        if (!unchanged) {
            findings.wrong(
                    "%s (row %d of %s) was changed: its hash doesn't match"
                            .formatted(row.name(), at, name(chain)));
        } else if (!follows) {
            findings.wrong(
                    "%s (row %d of %s) doesn't follow the row before it"
                            .formatted(row.name(), at, name(chain)));
        }
        stored = String.valueOf(row.hash());
    }

    /**
     * A row beyond the last sealed place may still come under a checkpoint. What time it names
     * proves nothing: it may have waited for its commit, and clocks may be wrong.
     */
    private void countUnsealed(LogReader.Row row) {
        if (at > sealed.last(chain)) {
            unsealed++;
            if (lastSealed.filter(time -> isBefore(row, time)).isPresent()) {
                early++;
            }
        }
    }

    /**
     * Whether the row is older. A value that is not a time, which the broker never writes, is not.
     */
    private static boolean isBefore(LogReader.Row row, Instant time) {
        if (!MICROS.matcher(row.micros()).matches()) {
            return false;
        }
        long micros = ChronoUnit.MICROS.between(Instant.EPOCH, time);
        return new BigInteger(row.micros()).compareTo(BigInteger.valueOf(micros)) < 0;
    }

    /**
     * Finishes the last chain and reports sealed rows that are missing. Call this after the last
     * row.
     */
    void end() {
        finish();
        sealed.unseen((lost, last) ->
                findings.wrong(
                        "%s is missing: checkpoints sealed %d rows of this chain"
                                .formatted(capitalized(lost), last)));
    }

    private void finish() {
        if (!begun) {
            return;
        }
        long last = sealed.last(chain);
        if (at < last) {
            sealed.retired(chain, at + 1, last, this::cut);
        }
        sealed.see(chain);
        begun = false;
    }

    private void cut(long first, long last) {
        findings.wrong(
                "%s was truncated after row %d: rows up to %d were sealed"
                        .formatted(capitalized(chain), first - 1, last));
    }

    private String name(@Nullable String of) {
        return form == CanonicalForm.EVENT
                ? what + " " + of
                : what + (of == null ? " of the tables without tenant" : " of tenant " + of);
    }

    /** The name of a row's chain with a capital first letter, for the start of a sentence. */
    private String capitalized(@Nullable String of) {
        String name = name(of);
        return Character.toUpperCase(name.charAt(0)) + name.substring(1);
    }

    long rows() {
        return rows;
    }

    /**
     * The number of rows that no checkpoint seals, because they follow their chain's last sealed
     * position.
     */
    long unsealed() {
        return unsealed;
    }

    /** The number of unsealed rows whose time is long before the last checkpoint. */
    long early() {
        return early;
    }
}
