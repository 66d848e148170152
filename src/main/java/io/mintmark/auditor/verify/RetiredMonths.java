package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.Checkpoint.RetiredMonth;
import io.mintmark.audit.checkpoint.Checkpoint.RetiredRows;
import io.mintmark.audit.checkpoint.SignedCheckpoint;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The months that checkpoints record as retired. A person who owns the database and has the signing
 * key can sign a retirement of any rows that they deleted. So verification accepts one without a
 * finding only if the rest of the log agrees: the month was over, its rows were sealed during the
 * month, and none is left.
 */
final class RetiredMonths {
    /** The digits of a mint id that encode its time in milliseconds. */
    private static final Pattern TIME = Pattern.compile("([0-9a-f]{8})-([0-9a-f]{4})-.*");

    /** The maximum by which a verifier's clock may be behind the database's. */
    private static final Duration SKEW = Duration.ofHours(1);

    /** The index of the mint id in {@link LogReader.Row#fields}. */
    private static final int MINT = 0;

    private final List<Retired> months = new ArrayList<>();
    private final Map<YearMonth, Retired> byMonth = new HashMap<>();
    private final Map<String, TreeMap<Long, RetiredPart>> parts = new HashMap<>();

    /**
     * The days on which each chain was first sealed up to a row, by the chain and the row's number.
     */
    private final Map<Optional<String>, TreeMap<Long, SealedOn>> sealedOn = new HashMap<>();

    private final Instant now;
    private Instant latest = Instant.MIN;

    /**
     * @param now the current time, by the verifier's clock
     */
    RetiredMonths(Instant now) {
        this.now = now;
    }

    /**
     * Two days that must agree, because the owner of the key can write any: the day in the
     * checkpoint, and the latest day in any checkpoint before it.
     */
    private record SealedOn(LocalDate said, LocalDate latest) {
        @Override
        public String toString() {
            return said.equals(latest)
                    ? "on " + said
                    : "on %s, after checkpoints of %s".formatted(said, latest);
        }
    }

    private static final class Retired {
        private final SignedCheckpoint checkpoint;
        private final RetiredMonth month;
        private final List<String> doubts = new ArrayList<>();
        private long standing;
        private long kept;
        private String firstStanding = "";

        private Retired(SignedCheckpoint checkpoint, RetiredMonth month) {
            this.checkpoint = checkpoint;
            this.month = month;
        }

        private Instant end() {
            return month.month().plusMonths(1).atDay(1).atStartOfDay().toInstant(ZoneOffset.UTC);
        }

        /**
         * Whether these days are in the month. The day before and the day after are accepted too,
         * because rows wait for a commit, and a commit waits for a checkpoint.
         */
        private boolean lasted(SealedOn days) {
            return lasted(days.said()) && lasted(days.latest());
        }

        private boolean lasted(LocalDate day) {
            return !day.isBefore(month.month().atDay(1).minusDays(1))
                    && !day.isAfter(month.month().atEndOfMonth().plusDays(1));
        }
    }

    private record RetiredPart(RetiredRows rows, Retired by) {
        /** The last row of a part is named by its hash. */
        private boolean isWhere(LogReader.Row row) {
            return row.at() == null || row.at() != rows.last() || rows.hash().equals(row.hash());
        }
    }

    /** The next checkpoint that holds. */
    void checkpoint(SignedCheckpoint signed, Checkpoint checkpoint) {
        Instant at = checkpoint.sealedAt();
        for (Retired earlier : months) {
            if (checkpoint.number() > earlier.checkpoint.number()
                    && at.isBefore(earlier.end())
                    && earlier.doubts.isEmpty()) {
                earlier.doubts.add(
                        "the later checkpoint %d was sealed at %s, before the month was over"
                                .formatted(checkpoint.number(), at));
            }
        }
        latest = latest.isAfter(at) ? latest : at;
        SealedOn days = new SealedOn(day(at), day(latest));
        checkpoint.events().forEach(head -> sealed(head, days));
        checkpoint.retired().forEach(month -> retire(new Retired(signed, month), at));
    }

    private static LocalDate day(Instant at) {
        return at.atZone(ZoneOffset.UTC).toLocalDate();
    }

    /** Stores one entry for each day. A later head of the same day replaces the earlier one. */
    private void sealed(Position head, SealedOn day) {
        TreeMap<Long, SealedOn> days = sealedOn.computeIfAbsent(head.chain(), _ -> new TreeMap<>());
        if (days.isEmpty() || days.lastKey() < head.at()) {
            if (!days.isEmpty() && days.lastEntry().getValue().equals(day)) {
                days.pollLastEntry();
            }
            days.put(head.at(), day);
        }
    }

    private void retire(Retired retired, Instant signedAt) {
        months.add(retired);
        RetiredMonth month = retired.month;
        if (signedAt.isBefore(retired.end())) {
            retired.doubts.add(
                    "the checkpoint was signed at %s, before the month was over"
                            .formatted(signedAt));
        }
        if (signedAt.isAfter(now.plus(SKEW))) {
            retired.doubts.add(
                    "the checkpoint was signed at %s, which is in the future".formatted(signedAt));
        }
        Retired before = byMonth.putIfAbsent(month.month(), retired);
        if (before != null) {
            retired.doubts.add(
                    "checkpoint %d already retired the month"
                            .formatted(before.checkpoint.number()));
        }
        long rows = month.parts().stream().mapToLong(part -> part.last() - part.first() + 1).sum();
        if (rows != month.rows()) {
            retired.doubts.add(
                    "the checkpoint lists %d rows, but says that it retired %d"
                            .formatted(rows, month.rows()));
        }
        month.parts().forEach(part -> add(new RetiredPart(part, retired)));
    }

    private void add(RetiredPart part) {
        RetiredRows rows = part.rows();
        TreeMap<Long, RetiredPart> others =
                parts.computeIfAbsent(rows.chain(), _ -> new TreeMap<>());
        var other = others.floorEntry(rows.last());
        if (other != null && other.getValue().rows().last() >= rows.first()) {
            part.by()
                    .doubts
                    .add("the checkpoint lists rows of chain %s twice".formatted(rows.chain()));
        }
        others.put(rows.first(), part);
    }

    /**
     * Reports each retired month and what is doubtful about it. Call it after the last checkpoint.
     */
    void judge(Findings findings) {
        parts.forEach((chain, all) -> all.values().forEach(part -> judgeSealing(chain, part)));
        for (Retired retired : months) {
            String sentence =
                    "%s was retired by checkpoint %d: %d rows are no longer in the log"
                            .formatted(
                                    retired.month.month(),
                                    retired.checkpoint.number(),
                                    retired.month.rows());
            if (retired.doubts.isEmpty()) {
                findings.told(sentence);
            } else {
                findings.declared(
                        sentence + "; but " + retired.doubts.getFirst(), retired.checkpoint.hash());
            }
        }
    }

    private void judgeSealing(String chain, RetiredPart part) {
        TreeMap<Long, SealedOn> days = sealedOn.getOrDefault(Optional.of(chain), new TreeMap<>());
        long next = part.rows().first();
        while (next <= part.rows().last()) {
            var day = days.ceilingEntry(next);
            if (day == null || !part.by().lasted(day.getValue())) {
                part.by()
                        .doubts
                        .add(
                                day == null
                                        ? "row %d of chain %s was never sealed"
                                                .formatted(next, chain)
                                        : "row %d of chain %s was first sealed %s, outside the month"
                                                .formatted(next, chain, day.getValue()));
                return;
            }
            next = day.getKey() + 1;
        }
    }

    /**
     * The next row of {@code audit.event} that is still there.
     *
     * @param kept whether rows may be there that were retired, as in an export of before
     */
    void row(LogReader.Row row, boolean kept) {
        String mint = row.fields().get(MINT);
        if (months.isEmpty() || mint == null) {
            return;
        }
        Optional<YearMonth> month = month(mint);
        RetiredPart part = part(row);
        Retired retired = part == null ? month.map(byMonth::get).orElse(null) : part.by();
        if (retired == null) {
            return;
        }
        if (kept && part != null && part.isWhere(row) && isOf(retired, month)) {
            retired.kept++;
        } else {
            retired.standing++;
            if (retired.standing == 1) {
                retired.firstStanding = row.name();
            }
        }
    }

    private static boolean isOf(Retired retired, Optional<YearMonth> month) {
        return month.filter(retired.month.month()::equals).isPresent();
    }

    private @Nullable RetiredPart part(LogReader.Row row) {
        if (row.chain() == null || row.at() == null) {
            return null;
        }
        var part = parts.getOrDefault(row.chain(), new TreeMap<>()).floorEntry(row.at());
        return part == null || part.getValue().rows().last() < row.at() ? null : part.getValue();
    }

    /**
     * The month of a mint id; empty for a value that is not a mint id, which the broker never
     * writes.
     */
    private static Optional<YearMonth> month(String mint) {
        return TIME.matcher(mint)
                .results()
                .findFirst()
                .map(digits -> HexFormat.fromHexDigitsToLong(digits.group(1) + digits.group(2)))
                .map(Instant::ofEpochMilli)
                .map(at -> YearMonth.from(at.atZone(ZoneOffset.UTC)));
    }

    /** Reports the rows of retired months that are still present. Call this after the last row. */
    void end(Findings findings, boolean kept) {
        for (Retired retired : months) {
            if (retired.kept > 0) {
                findings.told(
                        "%d of the %d rows that were retired with %s are present and verified"
                                .formatted(
                                        retired.kept, retired.month.rows(), retired.month.month()));
            }
            if (retired.standing > 0) {
                findings.wrong(
                        "Checkpoint %d retired %s, but the log %s: %d in all, for example %s"
                                .formatted(
                                        retired.checkpoint.number(),
                                        retired.month.month(),
                                        kept
                                                ? "has rows of that month that were not retired with it, or rows of another month that were"
                                                : "still has rows of that month or of this"
                                                        + " retirement",
                                        retired.standing,
                                        retired.firstStanding));
            }
        }
    }
}
