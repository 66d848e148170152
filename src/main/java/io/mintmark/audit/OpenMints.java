package io.mintmark.audit;

import org.jspecify.annotations.Nullable;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Compares the mints without outcome, computed from the rows, with the log's own list of them. The
 * rows of a mint are mostly close to each other in one chain; the first half is remembered until
 * the other half comes.
 */
final class OpenMints {
    /** Halves that are remembered; a log with more can't be compared in bounded memory. */
    private static final int MOST = 100_000;

    private static final Set<String> OUTCOMES =
            Set.of(Kind.ISSUED.word(), Kind.FAILED.word(), Kind.WITHHELD.word());

    /** Places in {@link LogReader.Row#fields}, which are in the order of the columns. */
    private static final int MINT = 0;

    private static final int KIND = 2;

    private final Findings findings;
    private final boolean isPart;
    private final Set<UUID> begun = new HashSet<>();
    private final Set<UUID> ended = new HashSet<>();
    private boolean tooMany;

    /**
     * @param isPart whether other rows of these mints may be outside of the part that is read
     */
    OpenMints(Findings findings, boolean isPart) {
        this.findings = findings;
        this.isPart = isPart;
    }

    /**
     * The next row.
     *
     * @return whether it may be the outcome of a mint whose request comes later
     */
    boolean row(LogReader.Row row) {
        String kind = row.fields().get(KIND);
        Optional<UUID> mint = id(row.fields().get(MINT));
        if (tooMany || kind == null || mint.isEmpty()) {
            return true;
        }
        if (kind.equals(Kind.REQUESTED.word())) {
            join(mint.get(), ended, begun);
        } else if (OUTCOMES.contains(kind)) {
            join(mint.get(), begun, ended);
        }
        tooMany = begun.size() + ended.size() > MOST;
        return ended.contains(mint.get());
    }

    /** Empty for a value that is not a mint id, which the broker never writes. */
    private static Optional<UUID> id(@Nullable String mint) {
        try {
            return Optional.ofNullable(mint)
                    .map(UUID::fromString)
                    .filter(id -> id.toString().equals(mint));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Whether a mint is known to have no outcome among the rows so far. */
    boolean isOpen(String mint) {
        return !tooMany && id(mint).filter(begun::contains).isPresent();
    }

    private static void join(UUID mint, Set<UUID> others, Set<UUID> own) {
        if (!others.remove(mint)) {
            own.add(mint);
        }
    }

    /** To be called after the last row. Without tables there is no list to compare with. */
    void compare(Optional<LogReader.LogTables> tables) {
        if (tooMany) {
            findings.told("audit.unresolved was not compared: too many mints are incomplete");
            return;
        }
        if (!begun.isEmpty()) {
            findings.told("%d mints have no outcome".formatted(begun.size()));
        }
        if (!ended.isEmpty() && !isPart) {
            findings.told(
                    "%d mints have an outcome but were never requested, one of them %s"
                            .formatted(ended.size(), ended.iterator().next()));
        }
        tables.ifPresent(this::compare);
    }

    private void compare(LogReader.LogTables tables) {
        tables.unresolved(mint -> {
            if (!begun.remove(UUID.fromString(mint))) {
                findings.wrong(
                        "audit.unresolved lists mint %s, which isn't unresolved".formatted(mint));
            }
        });
        begun.stream()
                .sorted()
                .forEach(mint ->
                        findings.wrong(
                                "audit.unresolved doesn't list mint %s, which has no outcome"
                                        .formatted(mint)));
    }
}
