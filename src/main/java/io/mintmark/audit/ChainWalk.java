package io.mintmark.audit;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;

/** Follows chains row by row, in the order of {@link LogReader}. Remembers one row. */
final class ChainWalk {
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

    /**
     * @param what the kind of chain, for sentences
     * @param lastSealed until when every row is expected to be sealed
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
            findings.wrong("%s was inserted: it is in no chain".formatted(row.name()));
            return;
        }
        if (!begun || !Objects.equals(chain, row.chain())) {
            finish();
            begin(row.chain());
        }
        if (place(row.at(), row)) {
            link(row);
            judgeSeal(row);
        }
    }

    private void begin(@Nullable String next) {
        begun = true;
        chain = next;
        at = 0;
        stored = CanonicalForm.ORIGIN;
        computed = CanonicalForm.ORIGIN;
    }

    /** Whether the row stands where the next one belongs, after what is missing was told. */
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
                        ? "%s lacks its row %d".formatted(name(chain), first)
                        : "%s lacks its rows %d to %d".formatted(name(chain), first, last));
    }

    private void link(LogReader.Row row) {
        boolean follows = stored.equals(row.previous()) || computed.equals(row.previous());
        computed = row.previous() == null ? "" : form.hash(row.previous(), row.fields());
        boolean unchanged = computed.equals(row.hash());
        if (!unchanged) {
            findings.wrong(
                    "%s (row %d of %s) was changed: its hash doesn't fit"
                            .formatted(row.name(), at, name(chain)));
        } else if (!follows) {
            findings.wrong(
                    "%s (row %d of %s) doesn't follow the row before it"
                            .formatted(row.name(), at, name(chain)));
        }
        stored = String.valueOf(row.hash());
    }

    private void judgeSeal(LogReader.Row row) {
        if (at <= sealed.last(chain)) {
            return;
        }
        unsealed++;
        boolean late =
                lastSealed
                        .map(time -> Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, time)))
                        .filter(micros -> row.micros().length() <= micros.length())
                        .filter(micros -> row.micros().compareTo(micros) < 0)
                        .isPresent();
        if (late) {
            findings.wrong(
                    "%s (row %d of %s) was inserted later: no checkpoint since then has sealed it"
                            .formatted(row.name(), at, name(chain)));
        }
    }

    /** To be called after the last row. */
    void end() {
        finish();
        sealed.unseen((lost, last) ->
                findings.wrong(
                        "%s is missing: %d rows of it were sealed".formatted(name(lost), last)));
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
                "%s was cut off after row %d: rows up to %d were sealed"
                        .formatted(name(chain), first - 1, last));
    }

    private String name(@Nullable String of) {
        return form == CanonicalForm.EVENT
                ? what + " " + of
                : what + (of == null ? " of the tables without tenant" : " of tenant " + of);
    }

    long rows() {
        return rows;
    }

    /** Rows that came after the last checkpoint. */
    long unsealed() {
        return unsealed;
    }
}
